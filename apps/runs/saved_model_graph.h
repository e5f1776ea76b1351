// The graph of a saved model, made of a graph that may hold more. Functions without state; any thread.
#pragma once

#include <vector>

#include "apps/interop/meta_graph.h"

namespace troupe::runs {

/// Returns what the signatures, init_op and assets of a model need of its graph as a graph of its own, without requests for
/// devices, and with nodes that save and restore `variables` in TensorFlow's checkpoint format V2. `kept` are nodes that it keeps
/// as well. Throws Error as nn::save_variables() does.
interop::MetaGraph saved_model_graph(interop::MetaGraph model, const std::vector<Output>& variables,
                                     const std::vector<Output>& kept = {});

/// Returns the variables that the signatures of a model need. Throws InvalidArgument if an output needs a placeholder that is no
/// input of its signature, and Unimplemented, naming node and op, if it needs a function of this process, or state that is neither
/// a variable nor a table that init_op fills.
std::vector<Output> variables_to_export(const interop::MetaGraph& model);
/// Returns a copy of a graph in which no variable is a part of another one. A saved model that is made of it has each part under
/// its own name.
Graph without_parts(const Graph& graph);

}  // namespace troupe::runs
