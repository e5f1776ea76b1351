// The graph that a run file describes, ready to train: one tower per logical shard, their gradients summed in shard order and
// weighted by samples, one update; beside them a tower for evaluation. The arithmetic depends on the number of shards alone, not
// on which device computes which. Plain values; the graph is the trainer's.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "apps/config/run_config.h"
#include "apps/data/dataset.h"
#include "graph/build/scope.h"

namespace troupe::train {

/// What a step is fed for one tower.
struct TowerInputs {
  std::vector<std::pair<std::string, Output>> columns;  ///< name of the data's column, and its placeholder
  Output samples;  ///< training only: a float scalar, how many samples count
};

struct TrainingGraph {
  std::vector<TowerInputs> shards;
  Output update;  ///< the target of a training step
  Output loss;    ///< of the whole batch, fetched with it
  TowerInputs evaluation;
  Output evaluation_loss;
  std::vector<std::pair<std::string, Output>> metrics;  ///< of the evaluation tower
  Output initializer;
  std::vector<Output> variables;  ///< all that a checkpoint holds
  int64_t parameters = 0;         ///< elements of the trainable ones
};

/// `columns` are those of the data set. InvalidArgument points into the run file.
Result<TrainingGraph> build_training_graph(const config::RunConfig& config, const data::Dataset& data,
                                           Graph& graph);

}  // namespace troupe::train
