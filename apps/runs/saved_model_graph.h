// The graph of a saved model, made of a graph that may hold more. Functions without state; any thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "apps/interop/meta_graph.h"

namespace troupe::runs {

/// Returns what signatures need of a graph as a graph of its own, without requests for devices, and with nodes that save and
/// restore `variables` in TensorFlow's checkpoint format V2. `kept` are nodes that the graph keeps as well. Throws Error as
/// nn::save_variables() does.
interop::MetaGraph saved_model_graph(Graph graph, std::map<std::string, interop::Signature> signatures,
                                     const std::vector<Output>& variables,
                                     const std::vector<Output>& kept = {});

/// Returns the variables that signatures need of a graph. Throws InvalidArgument if an output needs a placeholder that is no input
/// of its signature, and Unimplemented, naming node and op, if it needs other state, or a function of this process.
std::vector<Output> variables_to_export(const Graph& graph,
                                        const std::map<std::string, interop::Signature>& signatures);
/// Returns a copy of a graph in which no variable is a part of another one. A saved model that is made of it has each part under
/// its own name.
Graph without_parts(const Graph& graph);

}  // namespace troupe::runs
