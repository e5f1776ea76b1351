// Conditionals and loops for the builder (features.md F12, F13), out of Switch, Merge, Enter, Exit and NextIteration.
//
//   auto y = cond(g, less(g, x, 0), [&](const Scope& s) { return std::vector{neg(s, x)}; },
//                                   [&](const Scope&)   { return std::vector{x}; })[0];
//   auto r = while_loop(g, {zero, x},
//                       [&](const Scope& s, auto v) { return less(s, v[0], n); },
//                       [&](const Scope& s, auto v) { return std::vector{add(s, v[0], 1), mul(s, v[1], x)}; });
//
// What is built through the scope handed to a function runs only when its branch is taken, or once per iteration; it may use
// anything built outside, also of branches and loops around it. What is built through another scope runs always. Functions may
// nest. Throws Error, like the builder. One thread at a time per graph.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graph/build/scope.h"

#pragma GCC visibility push(default)
namespace troupe {

using Branch = std::function<std::vector<Output>(const Scope&)>;

/// What `then` yields if the predicate (a bool scalar) holds, else what `otherwise` yields: as many results of equal dtypes, one at
/// least. A result may be a node run for its effect (Output::control); its place is then taken by a bool that is there when the
/// effect is. InvalidArgument when the branches differ in number or dtypes.
std::vector<Output> cond(const Scope& scope, Output predicate, const Branch& then, const Branch& otherwise);

struct WhileOptions {
  int64_t parallel_iterations = 10;
  std::string name = "while";
  /// Per variable, what stays true of its shape in every iteration; empty: the shapes it begins with.
  std::vector<PartialShape> shape_invariants;
};

using LoopCondition = std::function<Output(const Scope&, std::span<const Output> variables)>;
using LoopBody = std::function<std::vector<Output>(const Scope&, std::span<const Output> variables)>;

/// While `condition` of the variables holds, they become what `body` makes of them; yields their last values. A variable of the
/// graph among them counts by its value. InvalidArgument when there are none, when the body yields another number of values or
/// other dtypes, or when a shape is no longer what it was (say what stays true of it in shape_invariants).
std::vector<Output> while_loop(const Scope& scope, std::vector<Output> variables,
                               const LoopCondition& condition, const LoopBody& body,
                               const WhileOptions& options = {});

}  // namespace troupe
#pragma GCC visibility pop
