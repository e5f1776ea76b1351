// What TensorFlow's sessions do before the first step of a graph: its collections name the initialisers, and the queue runners that
// fill its queues. Functions without state; any thread.
#pragma once

#include <vector>

#include "apps/interop/meta_graph.h"
#include "graph/build/queue_runner.h"

namespace troupe::interop {

/// Returns the targets that the collection `name` ("init_op", "local_init_op", "table_initializer") names. Fails with DataLoss
/// if the collection does not consist of names, or with NotFound if the graph has no such node.
Result<std::vector<Output>> targets_of(const MetaGraph& meta, const std::string& name);

/// Returns the initialisers of the variables that the collection `name` ("variables", "local_variables") holds, as messages
/// VariableDef of TensorFlow. Fails with DataLoss if the collection is damaged, or with NotFound if the graph has no such node.
Result<std::vector<Output>> initializers_of(const MetaGraph& meta, const std::string& name);

/// Returns the queue runners of the collection "queue_runners". Fails with DataLoss if one of them is damaged, or with NotFound if
/// the graph has no node of that name.
Result<std::vector<QueueRunner>> queue_runners_of(const MetaGraph& meta);

}  // namespace troupe::interop
