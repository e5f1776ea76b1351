// Evaluation of the model over a data set, in batches: every metric is the mean over batches weighted by their samples. One
// thread, that of the trainer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "actors/step/session.h"
#include "apps/data/dataset.h"
#include "apps/train/training_graph.h"

namespace troupe::train {

using Scores =
    std::vector<std::pair<std::string, double>>;  ///< "loss", then the metrics in the order of the run file

class Evaluation {
 public:
  Evaluation(Session& session, const TrainingGraph& graph);
  /// Throws Error.
  Scores run(const data::Dataset& data) const;

 private:
  static constexpr int64_t batch = 1024;
  const TrainingGraph& graph_;
  PreparedStep step_;
};

/// The tensors of a tower's columns, in order.
std::vector<Tensor> feeds_of(const TowerInputs& inputs, const data::Dataset& data);
/// A float or double scalar as a double.
double number(const Tensor& scalar);

}  // namespace troupe::train
