// The [model] of a run file put into a graph: layers spelled out, definitions evaluated, loss and metrics
// found. The same code builds the graph that is trained and the scratch graph against which a run file is
// checked. One thread per graph.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "apps/config/run_config.h"

namespace troupe::config {

/// Makes a variable of the model; the edge, a value or a reference, is what its name stands for. May throw
/// Error. A dimension is -1 in the scratch graph only.
using MakeVariable = std::function<Output(const Scope&, const Variable&)>;

struct BuiltModel {
  Symbols symbols;                                      ///< every name of the model
  std::optional<Output> loss;                           ///< a floating scalar
  std::vector<std::pair<std::string, Output>> metrics;  ///< scalars, in the order of the file
};

/// Builds the model over `inputs`: the names of the data's columns and the placeholders that carry them,
/// [batch, ...]. It is complete when `diagnostics` has no new mistakes.
BuiltModel build_model(const RunConfig& config, const Scope& scope, Symbols inputs,
                       const MakeVariable& make_variable, Diagnostics& diagnostics);

/// Builds the model in a graph of its own, before any data is read: of the inputs, names, ranks and types are
/// known. `refused` is what was wrong before this: names that must not be called unknown.
void check_model(const RunConfig& config, Symbols refused, std::shared_ptr<const OpTable> ops,
                 Diagnostics& diagnostics);

/// The variables and definitions that the layers stand for, appended to those of the model; nothing more for
/// a model without layers. `features`: the width of what the first layer takes, -1 when not known.
Model expand_layers(Model model, int64_t features);

}  // namespace troupe::config
