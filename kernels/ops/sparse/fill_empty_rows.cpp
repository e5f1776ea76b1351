// SparseFillEmptyRows(indices, values, dense_shape, default_value): the sparse tensor with an entry default_value, a scalar, at
// [row, 0, ...] in each row that has no entry; rows are counted by the first dimension. The entries of the output are in the
// order of their rows, those of one row in the order of the input. empty_row_indicator says for each row whether it was empty,
// and reverse_index_map for each entry of the input its number in the output. Any dtype. Fails with InvalidArgument if the rank
// is 0, or for a position outside dense_shape.
//   SparseFillEmptyRowsGrad(reverse_index_map, grad_values)
// The gradient of the values, and that of default_value, which is the sum of the gradients of all entries that are not in the
// map. Any number. Fails with InvalidArgument for an element of the map that is not in [0, size of grad_values).
#include <algorithm>
#include <vector>

#include "graph/build/gradients.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/arithmetic.h"
#include "kernels/loops/rows.h"
#include "kernels/loops/scratch.h"
#include "kernels/ops/sparse/sparse_tensor.h"

namespace troupe {
namespace {

struct FillEmptyRowsArguments {
  SparseTensor input;
  const Tensor& default_value;
  Tensor &is_empty, &map;
  Tensor rows = {};    ///< int64 [n]: the row of each entry
  Tensor starts = {};  ///< int64 [rows]: where the entries of each row begin in the output
  int64_t count = 0;   ///< the number of entries of the output
  Tensor *indices = nullptr, *values = nullptr;
};

Status check_has_rows(int64_t rank) {
  if (rank != 0) return {};
  return invalid_argument("the sparse tensor has rank 0; it must have at least one dimension");
}

Status fill_empty_rows_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto indices, sparse_shape(context, SparseInputs::from(0)));
  TROUPE_RETURN_IF_FAILED(context.with_rank(3, 0).status());
  TROUPE_RETURN_IF_FAILED(check_has_rows(indices[1]));
  const auto dims = context.constant_integers(2);
  context.set_output(0, PartialShape{unknown_dim, indices[1]});
  context.set_output(1, PartialShape{unknown_dim});
  context.set_output(2, PartialShape{dims ? std::max<int64_t>(dims->front(), unknown_dim) : unknown_dim});
  context.set_output(3, PartialShape{indices[0]});
  return {};
}

Result<FillEmptyRowsArguments> check_fill_empty_rows(KernelContext& context) {
  TROUPE_ASSIGN(SparseTensor input, read_sparse(context, SparseInputs::from(0)));
  TROUPE_RETURN_IF_FAILED(check_rank(context, 3, 0));
  TROUPE_RETURN_IF_FAILED(check_has_rows(static_cast<int64_t>(input.rank())));
  TROUPE_ASSIGN(Tensor* const is_empty, vector_output(context, 2, input.dims[0]));
  TROUPE_ASSIGN(Tensor* const map, vector_output(context, 3, input.indices.shape()[0]));
  return FillEmptyRowsArguments{std::move(input), context.input(3), *is_empty, *map};
}

/// Finds where the entries of each row begin in the output.
Status measure_rows(FillEmptyRowsArguments& arguments, DeviceContext& device) {
  Dims strides(arguments.input.rank());
  strides[0] = 1;
  TROUPE_ASSIGN(arguments.rows, offsets_of(device, arguments.input, strides));
  TROUPE_ASSIGN(arguments.starts, scratch_vector<int64_t>(device, arguments.is_empty.elements()));
  const auto starts = arguments.starts.write<int64_t>();
  std::ranges::fill(starts, 0);
  for (const int64_t row : arguments.rows.as<int64_t>()) ++starts[static_cast<size_t>(row)];
  const auto is_empty = arguments.is_empty.write<bool>();
  for (size_t row = 0; row < starts.size(); ++row) {
    is_empty[row] = starts[row] == 0;
    arguments.count += std::exchange(starts[row], arguments.count) + (is_empty[row] ? 1 : 0);
  }
  return {};
}

Status allocate_filled(FillEmptyRowsArguments& arguments, KernelContext& context) {
  TROUPE_ASSIGN(arguments.indices, indices_output(context, 0, arguments.count, arguments.input.rank()));
  TROUPE_ASSIGN(arguments.values, vector_output(context, 1, arguments.count));
  return {};
}

/// Writes the map, and returns for each entry of the output that of the input, or -1 for the default value.
std::vector<int64_t> write_map(const FillEmptyRowsArguments& arguments) {
  std::vector<int64_t> sources(static_cast<size_t>(arguments.count), -1);
  const auto first = arguments.starts.as<int64_t>(), rows = arguments.rows.as<int64_t>();
  const auto map = arguments.map.write<int64_t>();
  std::vector<int64_t> next(first.begin(), first.end());
  for (size_t i = 0; i < rows.size(); ++i) {
    map[i] = next[static_cast<size_t>(rows[i])]++;
    sources[static_cast<size_t>(map[i])] = static_cast<int64_t>(i);
  }
  return sources;
}

void compute_filled(const FillEmptyRowsArguments& arguments, DeviceContext&) {
  const size_t rank = arguments.input.rank();
  const std::vector<int64_t> sources = write_map(arguments);
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i] < 0) continue;
    copy_row(arguments.input.indices, static_cast<size_t>(sources[i]), *arguments.indices, i, rank);
    copy_row(arguments.input.values, static_cast<size_t>(sources[i]), *arguments.values, i, 1);
  }
  const auto is_empty = arguments.is_empty.as<bool>();
  const auto starts = arguments.starts.as<int64_t>();
  int64_t* const indices = arguments.indices->write<int64_t>().data();
  for (size_t row = 0; row < is_empty.size(); ++row) {
    if (!is_empty[row]) continue;
    const auto at = static_cast<size_t>(starts[row]);
    std::fill_n(indices + at * rank, rank, 0);
    indices[at * rank] = static_cast<int64_t>(row);
    copy_row(arguments.default_value, 0, *arguments.values, at, 1);
  }
}

void fill_empty_rows_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const NodeId gradient = scope.add("SparseFillEmptyRowsGrad", {context.output(3), context.gradient(1)});
  context.set(1, scope.graph().output(gradient, 0));
  context.set(3, scope.graph().output(gradient, 1));
}

// ---- SparseFillEmptyRowsGrad

struct FillGradientArguments {
  const Tensor &map, &gradient;
  Tensor &values, &default_value;
};

Status fill_gradient_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto map, context.with_rank(0, 1));
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 1).status());
  context.set_output(0, map);
  context.set_output(1, PartialShape::scalar());
  return {};
}

Result<FillGradientArguments> check_fill_gradient(KernelContext& context) {
  TROUPE_RETURN_IF_FAILED(check_rank(context, 0, 1));
  TROUPE_RETURN_IF_FAILED(check_rank(context, 1, 1));
  TROUPE_ASSIGN(Tensor* const values, context.output(0, context.input(0).shape()));
  TROUPE_ASSIGN(Tensor* const default_value, context.output(1, Shape{}));
  return FillGradientArguments{context.input(0), context.input(1), *values, *default_value};
}

/// Returns the sum of the elements that are not in the map.
template <class T>
ComputeType<T> sum_of_others(std::span<const T> gradient, std::span<const int64_t> map) {
  std::vector<bool> is_taken(gradient.size());
  for (const int64_t i : map) is_taken[static_cast<size_t>(i)] = true;
  ComputeType<T> sum{};
  for (size_t i = 0; i < gradient.size(); ++i)
    if (!is_taken[i]) sum = Add::apply(sum, static_cast<ComputeType<T>>(gradient[i]));
  return sum;
}

Status compute_fill_gradient(const FillGradientArguments& arguments, DeviceContext& device) {
  const Tensor& gradient = arguments.gradient;
  TROUPE_RETURN_IF_FAILED(check_indices(arguments.map, gradient.elements(), "reverse_index_map"));
  const auto map = arguments.map.as<int64_t>();
  take_rows(device.pool(), gradient, map, arguments.values, 1);
  with_type(NumberTypes{}, gradient.dtype(), [&]<class T>(std::type_identity<T>) {
    arguments.default_value.write<T>()[0] = T(sum_of_others(gradient.as<T>(), map));
  });
  return {};
}

}  // namespace

void add_fill_empty_rows_ops(OpLibrary& library) {
  library.op(OpDefBuilder("SparseFillEmptyRows")
                 .input("indices: int64")
                 .input("values: T")
                 .host_input("dense_shape: int64")
                 .input("default_value: T")
                 .output("output_indices: int64")
                 .output("output_values: T")
                 .output("empty_row_indicator: bool")
                 .output("reverse_index_map: int64")
                 .attr("T: type")
                 .shape(fill_empty_rows_shape)
                 .gradient(fill_empty_rows_gradient));
  library.kernel(measured_cpu_kernel("SparseFillEmptyRows", check_fill_empty_rows, measure_rows,
                                     allocate_filled, compute_filled));
  library.op(OpDefBuilder("SparseFillEmptyRowsGrad")
                 .input("reverse_index_map: int64")
                 .input("grad_values: T")
                 .output("d_values: T")
                 .output("d_default_value: T")
                 .attr("T: type")
                 .shape(fill_gradient_shape));
  library.kernel(cpu_kernel("SparseFillEmptyRowsGrad", check_fill_gradient, compute_fill_gradient)
                     .on("T", dtypes(NumberTypes{})));
}

}  // namespace troupe
