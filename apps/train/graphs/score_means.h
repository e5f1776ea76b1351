// ScoreMeans: the scores of a model for many samples, as means over their batches, weighted by the samples. One thread.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/config/run_config.h"
#include "apps/nn/losses.h"
#include "messages/values/tensor.h"

namespace troupe::train {

/// "loss", followed by the metrics in the order of the run file, with their values.
using Scores = std::vector<std::pair<std::string, double>>;

/// The metrics of a run file that follow from means over all samples, by their names in the file.
using SetMetrics = std::map<std::string, const nn::SetMetric*, std::less<>>;
SetMetrics set_metrics_of(const config::RunConfig& config);

class ScoreMeans {
 public:
  /// `names` are those of the values of each batch.
  ScoreMeans(std::vector<std::string> names, SetMetrics metrics);

  /// Adds the values of a batch: a number each, or a vector of means for a metric of all samples. `weight` is the share of the
  /// batch in all samples.
  void add(std::span<const Tensor> values, double weight);
  /// Returns the scores in the order of the names.
  Scores result() const;

 private:
  std::vector<std::string> names_;
  SetMetrics metrics_;
  std::vector<std::vector<double>> means_;
};

}  // namespace troupe::train
