// The graph for the training of a run file: one tower per logical shard, one update with the mean of their gradients, weighted by
// samples and summed in shard order, and a tower for evaluation. In local SGD (local_copies.h) each tower has copies of the
// variables, and an update of its own. In mode "hogwild" there is one tower, with the update for its gradients; each step names the
// logical shard that it computes. The results depend on the number of shards, but not on the devices that compute them.
// Plain values; the trainer owns the graph. One thread.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/config/run_config.h"
#include "apps/data/dataset.h"
#include "apps/train/graphs/score_means.h"
#include "graph/build/row_slice.h"
#include "graph/build/scope.h"
#include "graph/passes/subgraph.h"

namespace troupe::train {

/// The placeholders of one tower.
struct TowerInputs {
  std::vector<std::pair<std::string, Output>> columns;  ///< names of the data's columns, and placeholders
  Output samples;  ///< for training only: a scalar, the number of samples of the shard
};

/// A weight that begins with the value that is fed for it, one of model.init_from.
struct FedWeight {
  std::string name;
  std::optional<RowSlice> slice;  ///< what it is a part of; nothing if it is whole
  Output value;                   ///< the placeholder
};

struct TrainingGraph {
  std::vector<TowerInputs> shards;  ///< of each shard in turn, for each of its micro-batches
  int64_t micro_batches = 1;        ///< the number of micro-batches of a shard
  Output update;                    ///< the target of a training step
  Output loss;                      ///< the loss of the whole batch, which a training step fetches
  std::optional<Output> begin;      ///< a target to run before the first training step
  std::optional<Output> average;    ///< in local SGD: the target of an averaging (local_copies.h)
  TowerInputs evaluation;
  Output evaluation_loss;
  std::vector<std::pair<std::string, Output>> metrics;  ///< the metrics of the evaluation tower
  std::vector<Output> images;                           ///< summaries of the evaluation tower
  SetMetrics set_metrics;                               ///< those of `metrics` that are vectors of means
  std::optional<Output> lower_rate;   ///< for train.plateau: the target that lowers the learning rate
  std::optional<Output> rate_factor;  ///< for train.plateau: by what the (first) worker multiplies the rate
  /// With train.schedule or train.plateau, in modes whose rounds are the updates: the learning rate of the update that comes after
  /// `updates` others, a placeholder.
  std::optional<Output> rate;
  Output updates;
  Output initializer;
  std::vector<FedWeight> fed_weights;  ///< whose values the initializer is fed
  std::vector<Output> variables;       ///< all variables, which checkpoints contain
  int64_t parameters = 0;              ///< the number of elements of the trainable variables
};

/// Returns the signature of a training step. Its feeds are the columns and the number of samples of each micro-batch in turn, its
/// fetch is the loss, and its target the update.
RunSignature training_step(const TrainingGraph& graph);

/// Builds the graph. `data` determines the types and shapes of the columns. The evaluation runs on `evaluation_device`; empty: on
/// the device of the first worker. Fails with InvalidArgument and a location in the run file if the model is wrong.
Result<TrainingGraph> build_training_graph(const config::RunConfig& config, const data::Dataset& data,
                                           Graph& graph, const std::string& evaluation_device = {});

}  // namespace troupe::train
