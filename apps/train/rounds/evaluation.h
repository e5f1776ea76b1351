// Evaluation: computes the loss and the metrics of the model on a data set, in batches. The result is the mean over the batches,
// weighted by their samples. One thread, that of the trainer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "actors/step/session.h"
#include "apps/data/sample_set.h"
#include "apps/train/graphs/score_means.h"
#include "apps/train/graphs/training_graph.h"

namespace troupe::train {

class Evaluation {
 public:
  Evaluation(Session& session, const TrainingGraph& graph);
  /// Throws Error.
  Scores run(const data::SampleSet& data) const;

 private:
  static constexpr int64_t batch = 1024;
  const TrainingGraph& graph_;
  PreparedStep step_;
};

/// Returns the tensors of the columns that the inputs of a tower name, in order.
std::vector<Tensor> feeds_of(const TowerInputs& inputs, const data::Dataset& data);
/// Returns a float or double scalar as a double.
double number(const Tensor& scalar);

}  // namespace troupe::train
