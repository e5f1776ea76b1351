// SparseSlice(indices, values, shape, start, size): the entries in the box of `size` elements from `start` on, at their
// positions in the box. What lies outside the tensor is cut off: a box that starts behind it has dimension 0. Positions keep
// their order. Any dtype. Fails with InvalidArgument for a negative element of start or size, or a position outside `shape`.
//   SparseSliceGrad(backprop_val_grad, input_indices, input_start, output_indices)
// The gradient of the values: backprop_val_grad for those that were in the box, 0 for the others. The positions must be those
// that SparseSlice took and returned, in their order; else InvalidArgument.
#include <algorithm>
#include <utility>
#include <vector>

#include "graph/build/gradients.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/rows.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops/sparse/sparse_tensor.h"

namespace troupe {
namespace {

struct SparseSliceArguments {
  SparseTensor input;
  Dims start, size;                   ///< the box, inside the tensor
  std::vector<int64_t> entries = {};  ///< the numbers of the entries in the box
  Tensor *indices = nullptr, *values = nullptr;
};

Status sparse_slice_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto indices, sparse_shape(context, SparseInputs::from(0)));
  TROUPE_ASSIGN(auto vector, merge(PartialShape{indices[1]}, context.input(3)));
  TROUPE_ASSIGN(vector, merge(vector, context.input(4)));
  context.set_output(0, PartialShape{unknown_dim, vector[0]});
  context.set_output(1, PartialShape{unknown_dim});
  context.set_output(2, vector);
  return {};
}

/// Reads start or size.
Result<Dims> box_vector(const KernelContext& context, size_t i, size_t rank, std::string_view name) {
  TROUPE_RETURN_IF_FAILED(merge(context.input(i).shape(), PartialShape{static_cast<int64_t>(rank)}).status());
  Dims values = integers(context.input(i));
  if (std::ranges::any_of(values, [](int64_t value) { return value < 0; }))
    return invalid_argument(std::string(name) + " = " + text_of(values) + " has a negative element");
  return values;
}

Result<SparseSliceArguments> check_sparse_slice(KernelContext& context) {
  TROUPE_ASSIGN(SparseTensor input, read_sparse(context, SparseInputs::from(0)));
  TROUPE_ASSIGN(Dims start, box_vector(context, 3, input.rank(), "start"));
  TROUPE_ASSIGN(Dims size, box_vector(context, 4, input.rank(), "size"));
  for (size_t d = 0; d < input.rank(); ++d)
    size[d] = std::clamp<int64_t>(size[d], 0, std::max<int64_t>(input.dims[d] - start[d], 0));
  TROUPE_RETURN_IF_FAILED(set_shape_output(context, 2, size));
  return SparseSliceArguments{std::move(input), std::move(start), std::move(size)};
}

Status measure_sparse_slice(SparseSliceArguments& arguments, DeviceContext& device) {
  const SparseTensor& input = arguments.input;
  TROUPE_RETURN_IF_FAILED(numbers_of(device, input).status());  // fails for a position outside the shape
  const int64_t* at = input.indices.as<int64_t>().data();
  for (size_t i = 0; i < input.count(); ++i, at += input.rank()) {
    bool inside = true;
    for (size_t d = 0; d < input.rank(); ++d)
      inside &= at[d] >= arguments.start[d] && at[d] - arguments.start[d] < arguments.size[d];
    if (inside) arguments.entries.push_back(static_cast<int64_t>(i));
  }
  return {};
}

Status allocate_sparse_slice(SparseSliceArguments& arguments, KernelContext& context) {
  const auto count = static_cast<int64_t>(arguments.entries.size());
  TROUPE_ASSIGN(arguments.indices, indices_output(context, 0, count, arguments.input.rank()));
  TROUPE_ASSIGN(arguments.values, vector_output(context, 1, count));
  return {};
}

void compute_sparse_slice(const SparseSliceArguments& arguments, DeviceContext& device) {
  take_entries(device.pool(), arguments.input.indices, arguments.input.values, arguments.entries,
               *arguments.indices, *arguments.values, arguments.start);
}

void sparse_slice_gradient(GradientContext& context) {
  context.set(1, context.scope().add_one("SparseSliceGrad", {context.gradient(1), context.input(0),
                                                             context.input(3), context.output(0)}));
}

// ---- SparseSliceGrad

struct SliceGradientArguments {
  const Tensor &gradient, &input_indices, &output_indices;
  Dims start;
  Tensor& output;
};

Status slice_gradient_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto gradient, context.with_rank(0, 1));
  TROUPE_ASSIGN(const auto indices, context.with_rank(1, 2));
  TROUPE_ASSIGN(const auto start, context.with_rank(2, 1));
  TROUPE_ASSIGN(const auto output_indices, context.with_rank(3, 2));
  TROUPE_ASSIGN(const auto merged, merge(output_indices, PartialShape{gradient[0], start[0]}));
  TROUPE_RETURN_IF_FAILED(merge(indices, PartialShape{unknown_dim, merged[1]}).status());
  context.set_output(0, PartialShape{indices[0]});
  return {};
}

Result<SliceGradientArguments> check_slice_gradient(KernelContext& context) {
  const Tensor &gradient = context.input(0), &indices = context.input(1), &start = context.input(2),
               &output_indices = context.input(3);
  for (const auto& [i, rank] : {std::pair<size_t, size_t>{0, 1}, {1, 2}, {2, 1}, {3, 2}})
    TROUPE_RETURN_IF_FAILED(check_rank(context, i, rank));
  const Shape &of_gradient = gradient.shape(), &of_indices = indices.shape(), &of_start = start.shape(),
              &of_output = output_indices.shape();
  TROUPE_RETURN_IF_FAILED(merge(of_output, PartialShape{of_gradient[0], of_start[0]}).status());
  TROUPE_RETURN_IF_FAILED(merge(of_indices, PartialShape{unknown_dim, of_start[0]}).status());
  TROUPE_ASSIGN(Tensor* const output, vector_output(context, 0, of_indices[0]));
  return SliceGradientArguments{gradient, indices, output_indices, integers(start), *output};
}

/// Returns whether position `to` of the box is position `from` of the tensor.
bool is_same(const int64_t* from, const int64_t* to, const Dims& start) {
  for (size_t d = 0; d < start.size(); ++d)
    if (static_cast<uint64_t>(from[d]) - static_cast<uint64_t>(start[d]) != static_cast<uint64_t>(to[d]))
      return false;
  return true;
}

Status compute_slice_gradient(const SliceGradientArguments& arguments, DeviceContext& device) {
  const size_t rank = arguments.start.size(), count = static_cast<size_t>(arguments.output.elements());
  const auto kept = static_cast<size_t>(arguments.gradient.elements());
  fill(device.pool(), arguments.output);
  const int64_t *const from = arguments.input_indices.as<int64_t>().data(),
                       *const to = arguments.output_indices.as<int64_t>().data();
  size_t next = 0;
  for (size_t i = 0; i < count && next < kept; ++i)
    if (is_same(from + i * rank, to + next * rank, arguments.start))
      copy_row(arguments.gradient, next++, arguments.output, i, 1);
  if (next == kept) return {};
  return invalid_argument("output_indices[" + std::to_string(next) +
                          "] = " + text_of({to + next * rank, rank}) +
                          " with input_start = " + text_of(arguments.start) +
                          " is no position of input_indices behind those of the rows before it");
}

}  // namespace

void add_sparse_slice_ops(OpLibrary& library) {
  library.op(OpDefBuilder("SparseSlice")
                 .input("indices: int64")
                 .input("values: T")
                 .host_input("shape: int64")
                 .host_input("start: int64")
                 .host_input("size: int64")
                 .output("output_indices: int64")
                 .output("output_values: T")
                 .host_output("output_shape: int64")
                 .attr("T: type")
                 .shape(sparse_slice_shape)
                 .gradient(sparse_slice_gradient));
  library.kernel(measured_cpu_kernel("SparseSlice", check_sparse_slice, measure_sparse_slice,
                                     allocate_sparse_slice, compute_sparse_slice));
  library.op(OpDefBuilder("SparseSliceGrad")
                 .input("backprop_val_grad: T")
                 .input("input_indices: int64")
                 .host_input("input_start: int64")
                 .input("output_indices: int64")
                 .output("val_grad: T")
                 .attr("T: numbertype")
                 .shape(slice_gradient_shape));
  library.kernel(cpu_kernel("SparseSliceGrad", check_slice_gradient, compute_slice_gradient)
                     .on("T", dtypes(NumberTypes{})));
}

}  // namespace troupe
