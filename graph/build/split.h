// Tensors that are split over devices. A declaration says how a tensor is distributed over a list of devices: cut along a
// dimension, present as a whole, or as terms of a sum (S, B and P in OneFlow's terms, Yuan et al. 2021; GSPMD, Xu et al. 2021).
// The master then computes the nodes that use it, and their gradients, in one part per device wherever a rule of their op
// allows it, and exchanges what the parts need of each other (graph/passes/split/split_ops.h). A graph with declarations computes
// what it would without them, apart from the order of sums. The functions add nodes and throw Error as the graph builder does.
// Public header; one thread at a time per graph.
//
//   const auto weights = split_parts(g, {left, right}, {"/job:worker/task:0", "/job:worker/task:1"}, 1);   // two variables
//   const auto y = relu(g, matmul(g, x, weights));      // each worker computes some columns of y, from all of x
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/build/scope.h"

#pragma GCC visibility push(default)
namespace troupe {

/// The attributes of a declaring node: how its output is distributed, "S(1)", "B" or "P", and over which devices.
inline constexpr std::string_view split_attr = "_split", split_devices_attr = "_split_devices";

/// The most devices of a declaration.
inline constexpr size_t max_split_devices = 64;

/// Declares that a tensor is cut along a dimension into one part for each device. If it cannot be cut evenly, each of the first
/// parts is longer by one. Returns the tensor. Throws InvalidArgument if there are fewer than two devices, the tensor has no
/// such dimension, or the dimension is known to be shorter than the list of devices.
Output split_over(const Scope& scope, Output x, const std::vector<std::string>& devices, int64_t dimension);
/// Declares that a tensor is not cut: its parts, if it has any, are joined or summed.
Output broadcast_over(const Scope& scope, Output x, const std::vector<std::string>& devices);
/// Declares that these tensors, one for each device, are the parts of a tensor, in the order of the devices. They are usually
/// variables on these devices, of which part i has as many elements of the dimension as split_over() would give it. Returns the
/// whole tensor, which no device needs to have.
Output split_parts(const Scope& scope, const std::vector<Output>& parts,
                   const std::vector<std::string>& devices, int64_t dimension);
/// Declares that these tensors, one for each device, are terms of a sum, and returns it.
Output partial_sums(const Scope& scope, const std::vector<Output>& terms,
                    const std::vector<std::string>& devices);

/// Which elements of a dimension a part has.
struct PartRange {
  int64_t begin = 0, size = 0;
  friend bool operator==(const PartRange&, const PartRange&) = default;
};
/// Returns the range of part `part` of `parts` of a dimension of this size.
PartRange part_range(int64_t size, int64_t part, int64_t parts);

}  // namespace troupe
#pragma GCC visibility pop
