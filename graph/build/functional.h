// Functions of higher order for the builder (features.md F14): branches by cases, and loops over the slices of tensors along their
// first axis. All are made of cond() and while_loop(), and have gradients of any order. Failures throw Error, as in the graph
// builder. One thread at a time per graph.
//
//   auto sums = scan(g, {x}, {zero}, [](const Scope& s, auto total, auto row) { return std::vector{add(s, total[0], row[0])}; });
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/build/control_flow.h"

#pragma GCC visibility push(default)
namespace troupe {

/// Returns the results of the first branch whose predicate is true, or else of `otherwise`. Later predicates are not needed then.
/// Throws InvalidArgument if the branches differ in the number or dtypes of their results.
std::vector<Output> case_of(const Scope& scope, const std::vector<std::pair<Output, Branch>>& branches,
                            const Branch& otherwise);

/// Returns the results of branch `index`, an integer scalar; of the last branch if the index is out of range. Throws
/// InvalidArgument if there are no branches, or as case_of().
std::vector<Output> switch_case(const Scope& scope, Output index, const std::vector<Branch>& branches);

struct LoopOverSlices {
  bool reverse = false;  ///< from the last slice to the first
  int64_t parallel_iterations = 10;
  std::string name = "loop";
};

using Outputs = std::span<const Output>;
/// What an iteration makes: the next state, and values of this iteration.
struct Recurrence {
  std::vector<Output> state;
  std::vector<Output> values;
};

/// Runs `body` for each slice of the tensors `elements` along their first axis, which must have one size in all of them; the state
/// begins with `state`. Returns the last state, and the values of all iterations, stacked along a new first axis in the order of
/// the slices. Steps fail with InvalidArgument if the sizes differ, or if there are no slices and the shape of the values is not
/// known. Throws InvalidArgument if there are no elements, one is a scalar, or sizes are known to differ, and as while_loop().
Recurrence recur(const Scope& scope, const std::vector<Output>& elements, const std::vector<Output>& state,
                 const std::function<Recurrence(const Scope&, Outputs state, Outputs slices)>& body,
                 const LoopOverSlices& options = {});

/// Returns the results of `function` for each slice, stacked along a new first axis. Throws as recur().
std::vector<Output> map_fn(const Scope& scope, const std::vector<Output>& elements,
                           const std::function<std::vector<Output>(const Scope&, Outputs slices)>& function,
                           const LoopOverSlices& options = {.name = "map"});

/// Returns the next value of an accumulator, for the next slice.
using Accumulate = std::function<std::vector<Output>(const Scope&, Outputs accumulated, Outputs slices)>;
/// Return the last value of the accumulator, which begins with `initial`; foldr() begins with the last slice. Throw as recur().
std::vector<Output> foldl(const Scope& scope, const std::vector<Output>& elements,
                          const std::vector<Output>& initial, const Accumulate& function);
std::vector<Output> foldr(const Scope& scope, const std::vector<Output>& elements,
                          const std::vector<Output>& initial, const Accumulate& function);
/// Returns the values of the accumulator after each slice, stacked along a new first axis. Throws as recur().
std::vector<Output> scan(const Scope& scope, const std::vector<Output>& elements,
                         const std::vector<Output>& initial, const Accumulate& function,
                         const LoopOverSlices& options = {.name = "scan"});

}  // namespace troupe
#pragma GCC visibility pop
