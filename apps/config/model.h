// Builds the [model] of a run file in a graph: expands layers, evaluates definitions, and finds the loss and the metrics. The same
// code builds the graph for training and the temporary graph that is used to check a run file. One thread per graph.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "apps/config/run_config.h"

namespace troupe::config {

struct BuiltModel {
  Symbols symbols;                                      ///< all names of the model
  std::optional<Output> loss;                           ///< a scalar of a floating type
  std::vector<std::pair<std::string, Output>> metrics;  ///< scalars, in the order of the file
  std::vector<Output> images;  ///< of a model that is not trained: summaries of what observe.images says
};

/// Builds the model in a network, which provides its variables. `inputs` holds the names of the data's columns and their
/// placeholders, of shape [batch, ...]. The result is complete if no mistakes were added to `diagnostics`.
BuiltModel build_model(const RunConfig& config, const nn::Network& network, Symbols inputs,
                       Diagnostics& diagnostics);

/// Evaluates model.outputs in the network in which the model was built.
std::vector<std::pair<std::string, Output>> build_outputs(const RunConfig& config, const nn::Network& network,
                                                          const BuiltModel& model, Diagnostics& diagnostics);

/// Checks the model by building it in a temporary graph, before data is read; only names, ranks and types of the inputs are known
/// then. `refused` holds names whose definitions were rejected earlier, which must not be reported as unknown.
void check_model(const RunConfig& config, Symbols refused, std::shared_ptr<const OpTable> ops,
                 Diagnostics& diagnostics);

/// Appends the definitions for which the layers stand to those of the model.
Model expand_layers(Model model);

}  // namespace troupe::config
