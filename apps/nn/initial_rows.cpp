#include "apps/nn/initial_rows.h"

#include <algorithm>
#include <array>

#include "graph/build/recomputation.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

using Names = std::array<std::string_view, 3>;
constexpr Names random_ops = {"RandomUniform", "RandomStandardNormal", "TruncatedNormal"};
constexpr std::array<std::string_view, 8> elementwise_ops = {"Add",     "AddV2", "Sub", "Mul",
                                                             "RealDiv", "Div",   "Neg", "Cast"};

template <class List>
bool is_one_of(const List& names, const Node& node) {
  return std::ranges::count(names, node.type()) > 0;
}

Output dims_constant(const Scope& scope, const PartialShape& whole, const RowSlice& slice) {
  std::vector<int64_t> dims(whole.dims().begin(), whole.dims().end());
  dims[0] = slice.count;
  return scope.constant(Tensor::vector(std::span<const int64_t>(dims)));
}

/// Adds a copy of a node that has other inputs.
Output copy(const Scope& scope, const Node& node, std::vector<Output> inputs, Attributes attrs) {
  return scope.add_one(node.type(), std::move(inputs), std::move(attrs));
}

/// Returns whether every input either has the node's shape or is a scalar.
bool is_elementwise(const Graph& graph, const Node& node) {
  return is_one_of(elementwise_ops, node) && std::ranges::all_of(node.inputs, [&](const Output& input) {
           return graph.shape(input).has_rank(0) || graph.shape(input) == node.output_shapes[0];
         });
}

}  // namespace

Output initial_rows(const Scope& scope, Output whole, const RowSlice& slice) {
  const Graph& graph = scope.graph();
  const Node node = graph.node(scope.checked(whole).node);  // a copy, because the graph grows
  const PartialShape& shape = node.output_shapes[whole.index];
  if (is_one_of(random_ops, node)) {
    Attributes attrs = node.attrs;
    attrs.set("T", DType::Int64);
    attrs.set(original_attr, node.name);
    set_row_slice(attrs, slice);
    return copy(scope, node, {dims_constant(scope, shape, slice)}, std::move(attrs));
  }
  if (node.type() == "Fill") {
    Attributes attrs = node.attrs;
    attrs.set("index_type", DType::Int64);
    return copy(scope, node, {dims_constant(scope, shape, slice), node.inputs[1]}, std::move(attrs));
  }
  if (is_elementwise(graph, node)) {
    std::vector<Output> inputs;
    for (const Output& input : node.inputs)
      inputs.push_back(graph.shape(input).has_rank(0) ? input : initial_rows(scope, input, slice));
    return copy(scope, node, std::move(inputs), node.attrs);
  }
  const int64_t end = slice.count == 0 ? slice.first : slice.row(slice.count - 1) + 1;
  return strided_slice(scope, whole, std::vector<int64_t>{slice.first}, std::vector<int64_t>{end},
                       std::vector<int64_t>{slice.stride});
}

}  // namespace troupe::nn
