// QueueRunner: steps that fill a queue beside the steps of a session's caller, as those of TensorFlow's QueueRunner do. A plain
// value. Public header: it uses only std and Troupe's own types.
#pragma once

#include <optional>
#include <vector>

#include "graph/build/graph.h"

namespace troupe {

/// Each target in `enqueue` is run again and again, all of them at the same time, until a step ends with a code in `ends`, because
/// there is nothing more to enqueue or the queue is closed. Any other failure stops all queue runners of the session.
struct QueueRunner {
  std::vector<Output> enqueue;
  /// The target that is run once, when all of `enqueue` have ended: it closes the queue.
  std::optional<Output> close;
  /// The target that is run when the runners are stopped before: it closes the queue.
  std::optional<Output> cancel;
  std::vector<Code> ends = {Code::OutOfRange};
};

}  // namespace troupe
