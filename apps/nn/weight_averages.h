// WeightAverages: exponential moving averages of variables (Polyak and Juditsky 1992; TensorFlow's ExponentialMovingAverage). After
// each update of a variable v its average a becomes a - (1 - decay) (a - v). Models usually do better with the averages than with
// the last weights, so inference reads them. Uses only the public builder and throws Error as it does. Public header; one thread at
// a time per graph.
//
//   const nn::WeightAverages averages(g, 0.999);                       // of all trainable variables
//   const Output update = optimizer.apply_gradients(g, gradients, strategy);
//   const Output step = g.group({update, averages.update(g, strategy)});
#pragma once

#include "apps/nn/replication_strategy.h"
#include "graph/build/variables.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

class WeightAverages {
 public:
  /// Adds an average "averages/NAME" for each variable, on its device and with its initial value. If `variables` is empty, all
  /// trainable variables are used. Throws InvalidArgument unless 0 <= decay < 1.
  WeightAverages(const Scope& scope, double decay, std::vector<Output> variables = {});

  /// Returns the average of a variable, or the variable itself if it has none.
  Output of(Output variable) const;
  /// Returns a target that updates the averages once `strategy` has updated the variables. Must be called after the optimizer's
  /// apply_gradients().
  Output update(const Scope& scope, ReplicationStrategy& strategy) const;

 private:
  double decay_;
  std::vector<std::pair<Output, Output>> averages_;  ///< variables and their averages
};

}  // namespace troupe::nn
#pragma GCC visibility pop
