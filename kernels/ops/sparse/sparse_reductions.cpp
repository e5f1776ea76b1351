// Reductions of a sparse tensor over the dimensions reduction_axes, a scalar or vector of axes in [-rank, rank); without axes
// nothing is reduced. With keep_dims these dimensions become 1, else they are removed. Only values count, not the elements
// without a value; where no value is reduced, the output is 0, or has no value if it is sparse. Positions may be in any order.
//   SparseReduceSum, SparseReduceSumSparse(input_indices, input_values, input_shape, reduction_axes)   any number; integers wrap
//   SparseReduceMax, SparseReduceMaxSparse(input_indices, input_values, input_shape, reduction_axes)   real; NaN if a value is NaN
// The output is dense, or for ...Sparse a sparse tensor in row-major order. half and bfloat16 are computed in float. Fails with
// InvalidArgument for a position outside input_shape or an axis that does not exist.
#include <optional>
#include <vector>

#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/arithmetic.h"
#include "kernels/loops/cast.h"
#include "kernels/loops/rows.h"
#include "kernels/loops/scratch.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/loops/vector_loops.h"
#include "kernels/ops/math/segments.h"
#include "kernels/ops/sparse/sparse_tensor.h"

namespace troupe {
namespace {

/// The dimensions that stay, and the output.
struct Reduced {
  std::vector<bool> axes;  ///< for each dimension whether it is reduced
  bool keeps_dims;
  Dims dims;  ///< the dense shape of the output
};

struct SparseReduceArguments {
  SparseTensor input;
  Reduced reduced;
  Tensor numbers = {};  ///< int64 [n]: for each value the number of its output element, ascending
  std::optional<Tensor> order = {};  ///< the order of the values in which these numbers ascend
  std::vector<size_t> starts = {0};  ///< where each run of equal numbers begins, and the end of the last
  Tensor *indices = nullptr, *values = nullptr;  ///< of a sparse output
  Tensor* dense = nullptr;

  size_t groups() const { return starts.size() - 1; }
};

Result<Reduced> reduced_dims(std::span<const int64_t> dims, std::span<const int64_t> axes, bool keeps_dims) {
  Reduced reduced{std::vector<bool>(dims.size()), keeps_dims, {}};
  for (const int64_t axis : axes) {
    TROUPE_ASSIGN(const size_t resolved, resolve_axis(axis, dims.size()));
    reduced.axes[resolved] = true;
  }
  for (size_t d = 0; d < dims.size(); ++d) {
    if (!reduced.axes[d]) reduced.dims.push_back(dims[d]);
    if (reduced.axes[d] && keeps_dims) reduced.dims.push_back(1);
  }
  return reduced;
}

Status check_axes_shape(const PartialShape& axes) {
  if (!axes.known_rank() || axes.rank() < 2) return {};
  return invalid_argument("reduction_axes of shape " + axes.text() + " is neither scalar nor vector");
}

/// Returns the shape of a dense output as far as it is known.
Result<PartialShape> dense_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto indices, sparse_shape(context, SparseInputs::from(0)));
  TROUPE_RETURN_IF_FAILED(check_axes_shape(context.input(3)));
  const auto dims = context.constant_integers(2), axes = context.constant_integers(3);
  const bool keeps_dims = context.attr<bool>("keep_dims");
  if (dims) TROUPE_RETURN_IF_FAILED(check_dense_shape(*dims, "input_shape"));
  if (dims && axes) {
    TROUPE_ASSIGN(const Reduced reduced, reduced_dims(*dims, *axes, keeps_dims));
    return PartialShape::make({reduced.dims.begin(), reduced.dims.end()});
  }
  const bool says_rank = indices[1] != unknown_dim && indices[1] <= static_cast<int64_t>(Shape::max_rank);
  if (keeps_dims && says_rank) return PartialShape::of_rank(static_cast<size_t>(indices[1]));
  return PartialShape{};
}

Status sparse_reduce_shape(ShapeContext& context) {
  TROUPE_ASSIGN(auto dense, dense_shape(context));
  context.set_output(0, std::move(dense));
  return {};
}

Status sparse_reduce_sparse_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto dense, dense_shape(context));
  const int64_t rank = dense.known_rank() ? static_cast<int64_t>(dense.rank()) : unknown_dim;
  context.set_output(0, PartialShape{unknown_dim, rank});
  context.set_output(1, PartialShape{unknown_dim});
  context.set_output(2, PartialShape{rank});
  return {};
}

Result<SparseReduceArguments> check_sparse_reduce(KernelContext& context) {
  TROUPE_ASSIGN(SparseTensor input, read_sparse(context, SparseInputs::from(0)));
  TROUPE_RETURN_IF_FAILED(check_axes_shape(context.input(3).shape()));
  TROUPE_ASSIGN(Reduced reduced, reduced_dims(input.dims, integers(context.input(3)),
                                              context.node().attrs.get<bool>("keep_dims")));
  return SparseReduceArguments{std::move(input), std::move(reduced)};
}

/// Finds the runs of values that make one element of the output.
Status measure_groups(SparseReduceArguments& arguments, DeviceContext& device) {
  const std::vector<bool>& axes = arguments.reduced.axes;
  Dims strides(axes.size());
  int64_t stride = 1;
  for (size_t d = axes.size(); d-- > 0;) {
    if (axes[d]) continue;
    strides[d] = stride;
    stride *= arguments.input.dims[d];
  }
  TROUPE_ASSIGN(arguments.numbers, offsets_of(device, arguments.input, strides));
  TROUPE_ASSIGN(arguments.order, ascending_order(device, arguments.numbers.as<int64_t>()));
  if (arguments.order) {
    TROUPE_ASSIGN(Tensor sorted, scratch_vector<int64_t>(device, arguments.numbers.elements()));
    take_rows(device.pool(), arguments.numbers, arguments.order->as<int64_t>(), sorted, 1);
    arguments.numbers = std::move(sorted);
  }
  arguments.starts = starts_of_runs(arguments.numbers.as<int64_t>());
  if (arguments.numbers.elements() == 0) arguments.starts = {0};
  return {};
}

Status allocate_dense(SparseReduceArguments& arguments, KernelContext& context) {
  TROUPE_ASSIGN(const Shape shape, Shape::make(arguments.reduced.dims, arguments.input.values.dtype()));
  TROUPE_ASSIGN(arguments.dense, context.output(0, shape));
  return {};
}

Status allocate_sparse(SparseReduceArguments& arguments, KernelContext& context) {
  const auto count = static_cast<int64_t>(arguments.groups());
  TROUPE_ASSIGN(arguments.indices, indices_output(context, 0, count, arguments.reduced.dims.size()));
  TROUPE_ASSIGN(arguments.values, vector_output(context, 1, count));
  return set_shape_output(context, 2, arguments.reduced.dims);
}

/// Reduces one run of elements.
template <class Function, class T>
void reduce_run(const void* run, size_t n, size_t, void* result) {
  const T* const x = static_cast<const T*>(run);
  T total = x[0];
  for (size_t i = 1; i < n; ++i) total = Function::apply(total, x[i]);
  *static_cast<T*>(result) = total;
}

template <class Function, class T>
ReduceLoop loop_of() {
  constexpr auto reduction = std::is_same_v<Function, Add> ? VectorReduction::Sum : VectorReduction::Max;
  const ReduceLoop loop = vector_loop(reduction, dtype_of<T>);
  return loop ? loop : reduce_run<Function, T>;
}

/// Returns the values in the order of the runs, in the type in which they are computed.
Result<Tensor> sorted_values(const SparseReduceArguments& arguments, DeviceContext& device) {
  const Tensor& values = arguments.input.values;
  if (!arguments.order) return converted(device, values, compute_dtype(values.dtype()));
  TROUPE_ASSIGN(Tensor sorted, Tensor::allocate(values.dtype(), values.shape(), device.memory()));
  take_rows(device.pool(), values, arguments.order->as<int64_t>(), sorted, 1);
  return converted(device, sorted, compute_dtype(values.dtype()));
}

/// Calls write(group, its value) for every run.
template <class Function, class T, class Write>
void reduce_groups(const SparseReduceArguments& arguments, const Tensor& values, Pool& pool, Write write) {
  using Computed = ComputeType<T>;
  const ReduceLoop loop = loop_of<Function, Computed>();
  const auto x = values.as<Computed>();
  const size_t groups = arguments.groups();
  const size_t cost = values.bytes() / std::max<size_t>(groups, 1) + 32;
  parallel_items(pool, groups, cost, [&](size_t begin, size_t end) {
    for (size_t g = begin; g < end; ++g) {
      Computed value{};
      loop(x.data() + arguments.starts[g], arguments.starts[g + 1] - arguments.starts[g], 1, &value);
      write(g, T(value));
    }
  });
}

template <class Function, class List>
Status compute_dense(const SparseReduceArguments& arguments, DeviceContext& device) {
  TROUPE_ASSIGN(const Tensor values, sorted_values(arguments, device));
  fill(device.pool(), *arguments.dense);
  const auto numbers = arguments.numbers.as<int64_t>();
  with_type(List{}, arguments.dense->dtype(), [&]<class T>(std::type_identity<T>) {
    const auto to = arguments.dense->write<T>();
    reduce_groups<Function, T>(arguments, values, device.pool(), [&](size_t g, T value) {
      to[static_cast<size_t>(numbers[arguments.starts[g]])] = value;
    });
  });
  return {};
}

/// Writes the positions of the groups: that of their first value, with 0 in the dimensions that are reduced.
void write_indices(const SparseReduceArguments& arguments) {
  const auto from = arguments.input.indices.as<int64_t>();
  const Reduced& reduced = arguments.reduced;
  const size_t rank = reduced.axes.size();
  int64_t* to = arguments.indices->write<int64_t>().data();
  for (size_t g = 0; g < arguments.groups(); ++g) {
    const size_t first = arguments.starts[g];
    const auto entry = arguments.order ? static_cast<size_t>(arguments.order->as<int64_t>()[first]) : first;
    for (size_t d = 0; d < rank; ++d) {
      if (!reduced.axes[d]) *to++ = from[entry * rank + d];
      if (reduced.axes[d] && reduced.keeps_dims) *to++ = 0;
    }
  }
}

template <class Function, class List>
Status compute_sparse(const SparseReduceArguments& arguments, DeviceContext& device) {
  TROUPE_ASSIGN(const Tensor values, sorted_values(arguments, device));
  write_indices(arguments);
  with_type(List{}, arguments.values->dtype(), [&]<class T>(std::type_identity<T>) {
    const auto to = arguments.values->write<T>();
    reduce_groups<Function, T>(arguments, values, device.pool(), [&](size_t g, T value) { to[g] = value; });
  });
  return {};
}

/// Each value gets the gradient of the element that it is part of: the indices of the reduced dimensions are multiplied by 0.
void sparse_reduce_sum_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output indices = context.input(0), shape = context.input(2);
  const Output axes = reshape(scope, context.input(3), integer_constants(scope, Dims{-1}));
  const Output rank = scope.add_one("Size", {shape});
  const Output zero = integer_constant(scope, 0), one = integer_constant(scope, 1);
  const Output chosen = scope.add_one("OneHot", {scope.add_one("FloorMod", {axes, rank}), rank, one, zero});
  const Output is_kept = equal(scope, scope.add_one("Sum", {chosen, zero}), zero);
  const Output kept = cast(scope, is_kept, DType::Int64);
  const Output kept_shape = add(scope, mul(scope, shape, kept), sub(scope, ones_like(scope, kept), kept));
  context.set(1, scope.add_one("GatherNd",
                               {reshape(scope, context.gradient(), kept_shape), mul(scope, indices, kept)}));
}

OpDefBuilder reduce_op(const char* name, const char* types) {
  return OpDefBuilder(name)
      .input("input_indices: int64")
      .input("input_values: T")
      .host_input("input_shape: int64")
      .host_input("reduction_axes: int32")
      .attr("keep_dims: bool = false")
      .attr(types);
}

template <class Function, class List>
void add_dense(OpLibrary& library, const char* name, const char* constructor, const char* types,
               GradientFunction gradient) {
  library.op(
      reduce_op(name, types)
          .output("output: T")
          .constructor(
              constructor +
              std::string("(input_indices, input_values, input_shape, axis: reduction_axes, keep_dims)"))
          .shape(sparse_reduce_shape)
          .gradient(gradient));
  library.kernel(measured_cpu_kernel(name, check_sparse_reduce, measure_groups, allocate_dense,
                                     compute_dense<Function, List>)
                     .on("T", dtypes(List{})));
}

template <class Function, class List>
void add_sparse(OpLibrary& library, const char* name, const char* types) {
  library.op(reduce_op(name, types)
                 .output("output_indices: int64")
                 .output("output_values: T")
                 .host_output("output_shape: int64")
                 .shape(sparse_reduce_sparse_shape));
  library.kernel(measured_cpu_kernel(name, check_sparse_reduce, measure_groups, allocate_sparse,
                                     compute_sparse<Function, List>)
                     .on("T", dtypes(List{})));
}

}  // namespace

void add_sparse_reduction_ops(OpLibrary& library) {
  add_dense<Add, NumberTypes>(library, "SparseReduceSum", "sparse_reduce_sum", "T: numbertype",
                              sparse_reduce_sum_gradient);
  add_sparse<Add, NumberTypes>(library, "SparseReduceSumSparse", "T: numbertype");
  add_dense<Maximum, RealTypes>(library, "SparseReduceMax", "sparse_reduce_max", "T: realnumbertype",
                                nullptr);
  add_sparse<Maximum, RealTypes>(library, "SparseReduceMaxSparse", "T: realnumbertype");
}

}  // namespace troupe
