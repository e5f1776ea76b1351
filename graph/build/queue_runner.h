// QueueRunner: steps that fill a queue beside the steps of a session's caller, as those of TensorFlow's QueueRunner do. A plain
// value. A graph notes its queue runners in internal attributes of nodes that do nothing, so that only the graph has to be passed
// around. Failures throw Error, as in the graph builder. One thread at a time per graph. Public header: it uses only std and
// Troupe's own types.
//
//   session.start_queue_runners();      // all that the graph notes, after the initialisers have run
#pragma once

#include <optional>
#include <vector>

#include "graph/build/scope.h"

#pragma GCC visibility push(default)
namespace troupe {

/// Each target in `enqueue` is run again and again, all of them at the same time, until a step ends with a code in `ends`,
/// because there is nothing more to enqueue or the queue is closed. Any other failure stops all queue runners that were started
/// together.
struct QueueRunner {
  std::vector<Output> enqueue;
  /// The target that is run once, when all of `enqueue` have ended: it closes the queue.
  std::optional<Output> close = {};
  /// The target that is run when the runners are stopped before: it closes the queue.
  std::optional<Output> cancel = {};
  std::vector<Code> ends = {Code::OutOfRange};
};

/// Notes a queue runner in the graph. Throws InvalidArgument if one of its targets is not in the graph.
void add_queue_runner(const Scope& scope, const QueueRunner& runner);

/// Returns the queue runners that the graph notes, in the order in which they were added.
/// Throws InvalidArgument, naming the node, if a note is damaged, or NotFound if a target is no longer there.
std::vector<QueueRunner> queue_runners(const Graph& graph);

}  // namespace troupe
#pragma GCC visibility pop
