// RaggedTensorToSparse(rt_nested_splits, rt_dense_values): a ragged tensor as a sparse one, in row-major order. A dimension
// that has splits is as large as its longest row. Fails with InvalidArgument unless the splits ascend from 0 to the number of
// what they split.
#include "graph/build/gradients.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/ops/ragged/splits.h"
#include "kernels/ops/sparse/sparse_tensor.h"

namespace troupe {
namespace {

/// Measuring reads the splits.
struct ToSparseArguments {
  std::span<const Slot> splits_inputs;
  const Tensor& values;
  NestedSplits splits = {};
  Tensor* indices = nullptr;
};

size_t ragged_rank(const Node& node) { return static_cast<size_t>(node.attrs.get<int64_t>("RAGGED_RANK")); }

Status to_sparse_shape(ShapeContext& context) {
  const size_t rank = ragged_rank(context.node());
  TROUPE_RETURN_IF_FAILED(check_ragged_shapes(context, rank));
  const PartialShape& values = context.input(rank);
  int64_t count = unknown_dim, dims = unknown_dim;
  if (values.known_rank()) dims = static_cast<int64_t>(rank + values.rank());
  if (values.fully_known()) {
    TROUPE_ASSIGN(const Shape shape, values.to_shape(context.input_dtype(rank)));
    count = shape.elements();
  }
  context.set_output(0, PartialShape{count, dims});
  context.set_output(1, PartialShape{count});
  context.set_output(2, PartialShape{dims});
  return {};
}

Result<ToSparseArguments> check_to_sparse(KernelContext& context) {
  const size_t rank = ragged_rank(context.node());
  TROUPE_RETURN_IF_FAILED(check_ragged(context, rank));
  return ToSparseArguments{context.input_slots(0, rank), context.input(rank)};
}

Status measure_to_sparse(ToSparseArguments& arguments, DeviceContext& /*device*/) {
  arguments.splits = nested_splits(arguments.splits_inputs);
  const NestedSplits& splits = arguments.splits;
  for (size_t i = 0; i < splits.size(); ++i) {
    const int64_t count = i + 1 < splits.size()
                              ? std::max<int64_t>(static_cast<int64_t>(splits[i + 1].size()) - 1, 0)
                              : arguments.values.shape()[0];
    TROUPE_RETURN_IF_FAILED(check_splits(splits[i], count, "rt_nested_splits[" + std::to_string(i) + "]"));
  }
  return {};
}

Status allocate_to_sparse(ToSparseArguments& arguments, KernelContext& context) {
  const Tensor& values = arguments.values;
  Dims dims{static_cast<int64_t>(arguments.splits[0].size()) - 1};
  for (const auto& splits : arguments.splits) {
    int64_t longest = 0;
    for (size_t i = 1; i < splits.size(); ++i) longest = std::max(longest, splits[i] - splits[i - 1]);
    dims.push_back(longest);
  }
  dims.append(values.shape().dims().subspan(1));
  TROUPE_ASSIGN(arguments.indices, indices_output(context, 0, values.elements(), dims.size()));
  context.set_output(1, values.reshaped(Shape::vector(values.elements())));
  return set_shape_output(context, 2, dims);
}

/// Writes the columns of the dimensions that have splits, innermost first, for the first of each row of values.
void write_ragged_columns(const ToSparseArguments& arguments, std::span<int64_t> indices, size_t columns,
                          size_t row) {
  std::vector<size_t> at(static_cast<size_t>(arguments.values.shape()[0]));
  for (size_t i = 0; i < at.size(); ++i) at[i] = i;
  for (size_t level = arguments.splits.size(); level-- > 0;) {
    const auto& splits = arguments.splits[level];
    for (size_t i = 0, parent = 0; i < at.size(); ++i) {
      while (splits[parent + 1] <= static_cast<int64_t>(at[i])) ++parent;
      indices[i * row * columns + level + 1] = static_cast<int64_t>(at[i]) - splits[parent];
      at[i] = parent;
    }
  }
  for (size_t i = 0; i < at.size(); ++i) indices[i * row * columns] = static_cast<int64_t>(at[i]);
}

Status compute_to_sparse(const ToSparseArguments& arguments, DeviceContext& /*device*/) {
  const Shape& shape = arguments.values.shape();
  if (arguments.values.elements() == 0) return {};
  const size_t ragged = arguments.splits.size() + 1, columns = ragged + shape.rank() - 1;
  const auto row = static_cast<size_t>(arguments.values.elements() / shape[0]);
  const auto indices = arguments.indices->write<int64_t>();
  write_ragged_columns(arguments, indices, columns, row);
  for (size_t i = 0; i < static_cast<size_t>(arguments.values.elements()); ++i) {
    int64_t* const to = indices.data() + i * columns;
    const size_t within = i % row;
    if (within != 0) std::copy_n(to - within * columns, ragged, to);
    auto rest = static_cast<int64_t>(within);
    for (size_t axis = shape.rank() - 1; axis > 0; --axis) {
      to[ragged + axis - 1] = rest % shape[axis];
      rest /= shape[axis];
    }
  }
  return {};
}

void to_sparse_gradient(GradientContext& context) {
  const size_t rank = ragged_rank(context.node());
  const Scope& scope = context.scope();
  context.set(rank, scope.add_one("Reshape", {context.gradient(1), shape_of(scope, context.input(rank))}));
}

}  // namespace

void add_ragged_to_sparse(OpLibrary& library) {
  library.op(OpDefBuilder("RaggedTensorToSparse")
                 .input("rt_nested_splits: RAGGED_RANK * Tsplits")
                 .input("rt_dense_values: T")
                 .output("sparse_indices: int64")
                 .output("sparse_values: T")
                 .host_output("sparse_dense_shape: int64")
                 .attr("RAGGED_RANK: int >= 1")
                 .attr("T: type")
                 .attr("Tsplits: {int32, int64} = int64")
                 .shape(to_sparse_shape)
                 .gradient(to_sparse_gradient));
  library.kernel(measured_cpu_kernel("RaggedTensorToSparse", check_to_sparse, measure_to_sparse,
                                     allocate_to_sparse, compute_to_sparse));
}

}  // namespace troupe
