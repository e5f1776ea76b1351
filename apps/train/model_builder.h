// ModelBuilder: the model of a run file put into graphs, once per tower, over variables that all towers share: where towers and
// variables go, how variables begin, which optimizer changes them. What the graph of a whole run and that of one worker have in
// common. Throws Error; mistakes of the run file gather in diagnostics(). One per graph, one thread.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "apps/config/model.h"
#include "apps/data/dataset.h"
#include "apps/nn/optimizer.h"
#include "apps/train/training_graph.h"

namespace troupe::train {

class ModelBuilder {
 public:
  ModelBuilder(const config::RunConfig& config, const data::Dataset& data, Graph& graph)
      : config_(config), data_(data), root_(graph), diagnostics_(*config.document) {}

  const Scope& root() const { return root_; }
  /// What was wrong with the model so far.
  Status status() const { return diagnostics_.status(); }
  int64_t shards() const { return config_.shards(); }
  int64_t tasks(const std::string& job) const;
  /// The scope of a logical shard: shards go round the workers.
  Scope at_shard(int64_t shard) const;
  Scope on_worker(const Scope& scope, int64_t shard) const;

  /// Placeholders for the data's columns; for a shard, of type `samples`, also for how many samples count.
  TowerInputs inputs(const Scope& scope, std::optional<DType> samples = {}) const;
  /// The model over these inputs. `use`: what stands for a variable in it.
  config::BuiltModel tower(const Scope& scope, const TowerInputs& inputs,
                           const std::function<Output(Output variable)>& use);
  config::BuiltModel tower(const Scope& scope, const TowerInputs& inputs) {
    return tower(scope, inputs, [](Output variable) { return variable; });
  }
  std::unique_ptr<nn::Optimizer> optimizer() const;

 private:
  /// Variables go round the parameter servers; without any they are the first worker's.
  Scope with_variables() const;
  Output variable(const config::Variable& variable);

  const config::RunConfig& config_;
  const data::Dataset& data_;
  Scope root_;
  config::Diagnostics diagnostics_;
  std::map<std::string, Output> variables_;
};

/// sum over shards of value * samples, in shard order, divided by all samples; of one shard, its value.
Output weighted_mean(const Scope& scope, const std::vector<Output>& values,
                     const std::vector<Output>& samples);

}  // namespace troupe::train
