// PipelinedShards: adds to a graph what computes the loss and the gradients of logical shards whose model has stages, or whose
// samples are cut into micro-batches (docs/replication.md, "Model parallelism"). Used by the graph of a whole run only; one
// thread.
#pragma once

#include <vector>

#include "apps/train/graphs/model_builder.h"
#include "apps/train/graphs/pipeline.h"

namespace troupe::train {

/// What a logical shard contributes to an update.
struct ShardParts {
  Output loss, samples;
  std::vector<AverageUpdate> averages;
  std::vector<nn::VariableGradient> gradients;  ///< before they are clipped; set if the shard is pipelined
};

class PipelinedShards {
 public:
  /// Throws InvalidArgument if the stages do not fit the cluster. The builder must outlive this object.
  explicit PipelinedShards(const config::RunConfig& config, ModelBuilder& builder);

  /// Adds a shard, whose micro-batches follow those of the earlier shards of its group. Appends their inputs to `inputs`.
  /// Throws Error with the mistakes of the run file, if there are any.
  ShardParts add(int64_t shard, std::vector<TowerInputs>& inputs);
  /// The devices of the evaluation: those of the first group.
  PlacedStages& evaluation() { return evaluation_; }

 private:
  const int64_t micro_batches_;
  ModelBuilder& builder_;
  std::vector<Pipeline> groups_;
  PlacedStages evaluation_;
};

/// Returns the scope on the device that the node of a gradient requests.
Scope beside(const Scope& scope, const nn::VariableGradient& gradient);

}  // namespace troupe::train
