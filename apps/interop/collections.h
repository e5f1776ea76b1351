// The collections of TensorFlow's MetaGraphDef that say which variables and queue runners a graph has, and the notes of Troupe's
// graphs that say so (graph/build/variables.h, queue_runner.h). Functions without state; any thread.
#pragma once

#include <map>
#include <string>

#include "apps/interop/meta_graph.h"

namespace troupe::interop {

class MetaGraphDef;

// Fields of TensorFlow's messages VariableDef and QueueRunnerDef, which the values of collections are, and of SaveSliceInfoDef,
// which says what a variable is a part of.
namespace variable_def {
inline constexpr uint32_t variable = 1, initializer = 2, snapshot = 3, slice = 4, is_resource = 5,
                          initial_value = 6, trainable = 7;
}
namespace slice_def {
inline constexpr uint32_t whole = 1, whole_shape = 2, offset = 3, shape = 4;
}
namespace queue_runner_def {
inline constexpr uint32_t queue = 1, enqueue = 2, close = 3, cancel = 4, ends = 5;
}

/// Adds to nodes of the graph the attributes by which initializer(), variables() and trainable_variables() find what the
/// collections "variables", "trainable_variables" and "local_variables" name, and row_slice_of() what they are parts of. Values
/// that are damaged, or name no node, are passed over, and so are parts that are cut along another dimension than the first.
void note_variables(MetaGraphDef& def);

/// Returns these collections and "queue_runners" for what the graph notes. Throws InvalidArgument if a note is damaged. A
/// variable that is a resource and that nothing reads is left out, because TensorFlow wants to know the node that reads it.
std::map<std::string, MetaGraph::Collection> collections_of(const Graph& graph);

}  // namespace troupe::interop
