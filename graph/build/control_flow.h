// Conditionals and loops for the builder (features.md F12, F13), out of Switch, Merge, Enter, Exit and NextIteration.
//
//   auto y = cond(g, less(g, x, 0), [&](const Scope& s) { return std::vector{neg(s, x)}; },
//                                   [&](const Scope&)   { return std::vector{x}; })[0];
//   auto r = while_loop(g, {zero, x},
//                       [&](const Scope& s, auto v) { return less(s, v[0], n); },
//                       [&](const Scope& s, auto v) { return std::vector{add(s, v[0], 1), mul(s, v[1], x)}; });
//
// Nodes that a function builds through the scope it is given run only if its branch is taken, or once per iteration.
// They may use anything built outside, also in branches and loops around this one. Nodes built through another scope
// always run. Functions may be nested. Failures throw Error, as in the graph builder. One thread at a time per graph.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graph/build/scope.h"

#pragma GCC visibility push(default)
namespace troupe {

using Branch = std::function<std::vector<Output>(const Scope&)>;

/// Returns the results of `then` if the predicate, a scalar of dtype bool, is true, and else those of
/// `otherwise`. Both must return the same number of results, at least one, with equal dtypes. A result
/// may be a node (Output::control), which is run for its effect; then the result is a bool that is
/// available after the effect. Throws InvalidArgument if the branches differ in number or dtypes.
std::vector<Output> cond(const Scope& scope, Output predicate, const Branch& then, const Branch& otherwise);

struct WhileOptions {
  int64_t parallel_iterations = 10;
  std::string name = "while";
  /// For each variable, a shape that it has in every iteration. If empty, each variable keeps the shape it has at first.
  std::vector<PartialShape> shape_invariants;
};

using LoopCondition = std::function<Output(const Scope&, std::span<const Output> variables)>;
using LoopBody = std::function<std::vector<Output>(const Scope&, std::span<const Output> variables)>;

/// Replaces the variables by the results of `body` as long as `condition` is true, and returns their last values. If one
/// of them is a variable of the graph, its value is used. Throws InvalidArgument if there are no variables, if the body
/// returns another number of values or other dtypes, or if a shape changes in a way that shape_invariants does not allow.
std::vector<Output> while_loop(const Scope& scope, std::vector<Output> variables,
                               const LoopCondition& condition, const LoopBody& body,
                               const WhileOptions& options = {});

}  // namespace troupe
#pragma GCC visibility pop
