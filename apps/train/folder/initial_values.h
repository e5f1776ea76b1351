// The values with which the weights of a run begin that continues from another model (model.init_from). Functions without state
// that read files; any thread that may block.
#pragma once

#include <utility>
#include <vector>

#include "apps/config/run_config.h"
#include "apps/train/graphs/training_graph.h"
#include "graph/build/graph.h"
#include "messages/env/disk.h"

namespace troupe::train {

using Feeds = std::vector<std::pair<Output, Tensor>>;

/// Returns the feeds of graph.initializer: for each weight that begins with a stored value, that value. The moving average of a
/// weight, if the model keeps one, goes before the weight. Fails with NotFound if there is no such model, and with InvalidArgument
/// and a location in the run file if the path names something else, or if the model has no value for a weight, or one of another
/// type or shape.
Result<Feeds> stored_values(Disk& disk, const config::RunConfig& config, const Graph& graph,
                            const TrainingGraph& training);

/// Returns feeds of zeros, for variables that are restored from a checkpoint afterwards.
Result<Feeds> zeros(const Graph& graph, const TrainingGraph& training);

}  // namespace troupe::train
