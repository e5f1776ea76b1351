// ModelBuilder: builds the model of a run file in a graph, once per tower, with variables that all towers share. It determines the
// devices of towers and variables, the initial values, and the optimizer. The graph of a whole run and that of one worker use it.
// Its functions throw Error; mistakes of the run file are collected and returned by status(). One per graph; one thread.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "apps/config/model.h"
#include "apps/data/dataset.h"
#include "apps/nn/optimizer.h"
#include "apps/train/training_graph.h"

namespace troupe::train {

/// A moving average that a training step updates: it subtracts rate * difference from the variable.
struct AverageUpdate {
  Output variable, difference;
  double rate = 0;
};

/// A model as one tower has it.
struct Tower {
  config::BuiltModel model;
  std::vector<AverageUpdate> averages;  ///< in the same order in every tower
};

class ModelBuilder {
 public:
  ModelBuilder(const config::RunConfig& config, const data::Dataset& data, Graph& graph)
      : config_(config), data_(data), root_(graph), diagnostics_(*config.document) {}

  const Scope& root() const { return root_; }
  /// Returns the mistakes found in the model so far.
  Status status() const { return diagnostics_.status(); }
  int64_t shards() const { return config_.shards(); }
  int64_t tasks(const std::string& job) const;
  /// Returns the scope of a logical shard, on the device of its worker.
  Scope at_shard(int64_t shard) const;
  /// Returns the scope on the device of a shard's worker. Shards are assigned to the workers in turn.
  Scope on_worker(const Scope& scope, int64_t shard) const;

  /// Adds placeholders for the columns of the data and, if `samples` is set, one of that dtype for the number of samples.
  TowerInputs inputs(const Scope& scope, std::optional<DType> samples = {}) const;
  /// Builds a tower: the model with these inputs. `use` returns the edge that stands for a variable in it.
  Tower tower(const Scope& scope, const TowerInputs& inputs, nn::Mode mode,
              const std::function<Output(Output variable)>& use);
  Tower tower(const Scope& scope, const TowerInputs& inputs, nn::Mode mode) {
    return tower(scope, inputs, mode, [](Output variable) { return variable; });
  }
  std::unique_ptr<nn::Optimizer> optimizer() const;

 private:
  /// Returns the scope for the next variable. Variables are assigned to the parameter servers in turn, or to the first worker if
  /// there are none.
  Scope with_variables() const;
  Output variable(const nn::Weight& weight);

  const config::RunConfig& config_;
  const data::Dataset& data_;
  Scope root_;
  config::Diagnostics diagnostics_;
  std::map<std::string, Output> variables_;
};

/// Returns the mean of the values of the shards weighted by their samples, summed in shard order. For one shard it returns its
/// value.
Output weighted_mean(const Scope& scope, const std::vector<Output>& values,
                     const std::vector<Output>& samples);
/// Returns a target that updates moving averages.
Output update_averages(const Scope& scope, const std::vector<AverageUpdate>& averages,
                       nn::ReplicationStrategy& strategy);

}  // namespace troupe::train
