// The meaning of a graph with control flow, written as directly as features.md F1-F11 states it: what each
// node does in each iteration of each frame, by recursion over its inputs. It is slow, and ignores order
// and parallel_iterations, on which results do not depend. Tests compare StepState with it. Pure functions.
#pragma once

#include <map>
#include <tuple>

#include "graph/build/frames.h"
#include "graph/build/graph.h"

namespace troupe::testing {

/// What a node did in one place: nothing, because some input never arrived; it died; or it ran,
/// with this value. `which` is the live output of a Switch, or the input that a Merge took.
struct Ran {
  enum Kind { Never, Dead, Live } kind = Never;
  int64_t value = 0;
  uint32_t which = 0;
  friend auto operator<=>(const Ran&, const Ran&) = default;
};

/// A node, the key of its frame's instance, and the iteration.
using RunPlace = std::tuple<NodeId, uint64_t, uint64_t>;

struct Meaning {
  std::map<RunPlace, Ran> ran;  ///< everything that runs or dies in a step
  /// True if every loop that is entered ends. A loop that never gets all its inputs holds up the iteration in which it
  /// is. Whether later iterations begin then depends on parallel_iterations; `ran` is what happens if that is large.
  bool ends = true;
};

Meaning meaning_of(const Graph& graph);

}  // namespace troupe::testing
