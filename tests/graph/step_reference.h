// The meaning of a graph with control flow, written down as directly as features.md F1-F11 states it: what
// each node does in each iteration of each frame, by recursion over its inputs. Slow, and takes no account of
// order or of parallel_iterations, since results do not depend on them. What StepState does is compared with
// it.
#pragma once

#include <map>
#include <tuple>

#include "graph/build/frames.h"
#include "graph/build/graph.h"

namespace troupe::testing {

/// What a node did somewhere: nothing, because some input never came; died; or ran, with this value. `which`
/// is the output of a Switch that is alive, or the input that a Merge took.
struct Ran {
  enum Kind { Never, Dead, Live } kind = Never;
  int64_t value = 0;
  uint32_t which = 0;
  friend auto operator<=>(const Ran&, const Ran&) = default;
};

/// Node, key of the frame's instance, iteration.
using RunPlace = std::tuple<NodeId, uint64_t, uint64_t>;

struct Meaning {
  std::map<RunPlace, Ran> ran;  ///< everything that runs or dies in a step
  /// Every loop that is entered ends. One that never gets all its inputs holds up the iteration it is in;
  /// whether later ones begin then hangs on parallel_iterations, and `ran` is what happens when that is
  /// large.
  bool ends = true;
};

Meaning meaning_of(const Graph& graph);

}  // namespace troupe::testing
