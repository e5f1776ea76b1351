// Gradients that a program builds itself, in place of those of the ops (features.md G11). Any thread may call these functions; one
// thread at a time per graph.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "graph/build/gradients.h"

#pragma GCC visibility push(default)
namespace troupe {

/// Adds the nodes that compute the gradients of the xs from those of the ys, and returns one gradient for each x. A y that has no
/// gradient has zeros. The nodes go to `scope`. It may throw Error.
using GradientBuilder =
    std::function<std::vector<Gradient>(const Scope& scope, const std::vector<Output>& gradients_of_ys)>;

struct WithGradient {
  std::vector<Output> outputs;           ///< the ys
  std::shared_ptr<const void> gradient;  ///< gradients() finds the builder while this is held
};

/// Returns the ys, which were computed from the xs, with a gradient that `builder` builds. No gradient goes to what the ys were
/// computed from, apart from the xs. Throws Error(InvalidArgument) if there is no y.
WithGradient with_gradient(const Scope& scope, const std::vector<Output>& ys, const std::vector<Output>& xs,
                           GradientBuilder builder);

}  // namespace troupe
#pragma GCC visibility pop
