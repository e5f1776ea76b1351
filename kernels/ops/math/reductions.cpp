// Reductions over the axes in `reduction_indices` (int32 or int64; a negative axis counts from the end; without axes nothing is
// reduced). The output does not have these axes, or has them with size 1 if keep_dims is set. The constructors reduce over all
// axes unless axes are given.
//   Sum, Prod, Mean    any number; integers wrap around; half and bfloat16 are summed in float; a mean of integers is summed in
//                      int64 and truncated
//   Max, Min           real; NaN if any element is NaN
//   All, Any           bool
// For no elements the result is 0, 1, NaN (for an integer mean: InvalidArgument), the least value, the greatest value, true,
// false. The bits are the same for any number of threads; sums are added pairwise or in short chains
// (kernels/loops/axis_reduction.h).
#include "kernels/ops/math/reductions.h"

#include <algorithm>
#include <cmath>

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/arithmetic.h"
#include "kernels/loops/cast.h"
#include "kernels/loops/elementwise.h"
#include "kernels/ops/broadcast_gradients.h"

namespace troupe {
namespace {

// ---- Scalar code: integers, complex numbers, bool

struct Sum : Add {
  template <class T>
  static constexpr T neutral() {
    return T{};
  }
};
struct Prod : Mul {
  template <class T>
  static constexpr T neutral() {
    return T{1};
  }
};
struct Max {
  template <class T>
  static constexpr T neutral() {
    return std::numeric_limits<T>::lowest();
  }
  template <class T>
  static T apply(T a, T b) {
    return std::max(a, b);
  }
};
struct Min {
  template <class T>
  static constexpr T neutral() {
    return std::numeric_limits<T>::max();
  }
  template <class T>
  static T apply(T a, T b) {
    return std::min(a, b);
  }
};
struct All {
  template <class T>
  static constexpr T neutral() {
    return true;
  }
  template <class T>
  static T apply(T a, T b) {
    return a & b;
  }
};
struct Any {
  template <class T>
  static constexpr T neutral() {
    return false;
  }
  template <class T>
  static T apply(T a, T b) {
    return a | b;
  }
};

template <class Function, class Element>
void scalar_reduce_loop(const void* input, size_t n, size_t rows, void* results) {
  // Bytes, which the compiler handles better than bool.
  using T = std::conditional_t<std::is_same_v<Element, bool>, uint8_t, Element>;
  const T* x = static_cast<const T*>(input);
  for (size_t row = 0; row < rows; ++row, x += n) {
    T total = Function::template neutral<T>();
    for (size_t i = 0; i < n; ++i) total = static_cast<T>(Function::apply(total, x[i]));
    static_cast<T*>(results)[row] = total;
  }
}

// ---- Kernels

using ReducerOf = Reducer (*)(DType);

template <class Function, class List>
Reducer scalar_reducer(DType dtype) {
  Reducer reducer{nullptr, nullptr, dtype};
  with_type(List{}, dtype, [&]<class T>(std::type_identity<T>) {
    reducer.run = scalar_reduce_loop<Function, T>;
    reducer.combine = scalar_binary_loop<Function, T>;
  });
  return reducer;
}

template <VectorReduction Run, VectorBinary Combine, class Scalar, class List>
Reducer mixed_reducer(DType dtype) {
  if (const ReduceLoop run = vector_loop(Run, dtype)) return {run, vector_loop(Combine, dtype), dtype};
  return scalar_reducer<Scalar, List>(dtype);
}

/// Divides each element of `sums` by `count`.
template <class T>
void divide(Tensor& sums, int64_t count) {
  const auto divisor = static_cast<decltype(std::abs(T{}))>(count);
  for (T& value : sums.write<T>()) value /= divisor;
}

void to_mean(Tensor& sums, int64_t count) {
  with_type(Joined<FloatTypes, ComplexTypes>{}, sums.dtype(),
            [&]<class T>(std::type_identity<T>) { divide<T>(sums, count); });
  with_type(IntegerTypes{}, sums.dtype(), [&]<class T>(std::type_identity<T>) {
    using Wide = std::conditional_t<std::is_unsigned_v<T>, uint64_t, int64_t>;
    for (T& value : sums.write<T>())
      value = static_cast<T>(static_cast<Wide>(value) / static_cast<Wide>(count));
  });
}

struct ReductionCompute {
  Reducer reducer;
  bool mean;

  Status operator()(const ReductionArguments& arguments, DeviceContext& device) const {
    const auto& [input, output, reduced, count] = arguments;
    if (!output) return {};
    if (input.dtype() == reducer.dtype) return reduce_into(device, input, arguments, *output);
    // Converts through a wider type.
    TROUPE_ASSIGN(const Tensor wide, converted(device, input, reducer.dtype));
    TROUPE_ASSIGN(Tensor result, Tensor::allocate(reducer.dtype, output->shape(), device.memory()));
    TROUPE_RETURN_IF_FAILED(reduce_into(device, wide, arguments, result));
    convert(device.pool(), result, *output);
    return {};
  }

  Status reduce_into(DeviceContext& device, const Tensor& input, const ReductionArguments& arguments,
                     Tensor& output) const {
    TROUPE_RETURN_IF_FAILED(reduce(device, reducer, input, arguments.reduced, output));
    if (mean) to_mean(output, arguments.count);
    return {};
  }
};

// ---- Shapes

Status reduction_shape(ShapeContext& context) {
  const PartialShape& input = context.input(0);
  const bool keep_dims = context.attr<bool>("keep_dims");
  if (context.input(1).known_rank() && context.input(1).rank() > 1)
    return invalid_argument("the axes have shape " + context.input(1).text() +
                            "; they must be a scalar or a vector");
  if (!input.known_rank()) return {};
  const auto axes = context.constant_integers(1);
  if (!axes) {
    if (keep_dims) context.set_output(0, PartialShape::of_rank(input.rank()));
    return {};
  }
  std::vector<bool> reduced(input.rank(), false);
  for (const int64_t axis : *axes) {
    TROUPE_ASSIGN(const size_t resolved, resolve_axis(axis, input.rank()));
    if (reduced[resolved]) return invalid_argument(repeated_axis(axis));
    reduced[resolved] = true;
  }
  std::vector<int64_t> dims;
  for (size_t i = 0; i < input.rank(); ++i) {
    if (!reduced[i]) dims.push_back(input[i]);
    if (reduced[i] && keep_dims) dims.push_back(1);
  }
  context.set_output(0, PartialShape(std::move(dims)));
  return {};
}

// ---- Gradients

/// Returns `x`, which has the shape of the output, repeated to the shape of the input.
Output spread(const GradientContext& context, Output x) {
  const Scope& scope = context.scope();
  return scope.add_one("BroadcastTo", {with_kept_axes(context, x), shape_of(scope, context.input(0))});
}

void sum_gradient(GradientContext& context) { context.set(0, spread(context, context.gradient())); }

/// Returns the number of elements that each output combines, as a scalar of the type of the output.
Output reduced_count(const GradientContext& context) {
  const Scope& scope = context.scope();
  const DType dtype = scope.dtype(context.output(0));
  const Output size = scope.add_one("Size", {context.input(0)});
  if (scope.shape(context.output(0)).has_rank(0)) return cast(scope, size, dtype);
  return cast(scope, div(scope, size, maximum(scope, scope.add_one("Size", {context.output(0)}), 1)), dtype);
}

void mean_gradient(GradientContext& context) {
  context.set(0, spread(context, div(context.scope(), context.gradient(), reduced_count(context))));
}

/// All elements that equal the extreme value share its gradient equally.
void extreme_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output extreme = with_kept_axes(context, context.output(0));
  const Output chosen = cast(scope, equal(scope, context.input(0), extreme), scope.dtype(context.input(0)));
  const Output ties = scope.add_one("Sum", {chosen, context.input(1)}, {{"keep_dims", true}});
  context.set(0, mul(scope, chosen, div(scope, with_kept_axes(context, context.gradient()), ties)));
}

/// The gradient is out / x. Where x is 0, it is the product of the other elements, computed with ones in place of x.
void prod_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output x = context.input(0), axes = context.input(1);
  const Output zero = equal(scope, x, zeros_like(scope, x)), ones = ones_like(scope, x),
               zeros = zeros_like(scope, x);
  const Output nonzero = where(scope, zero, ones, x);
  const Output product = scope.add_one("Prod", {nonzero, axes}, {{"keep_dims", true}});
  const Output zero_count =
      scope.add_one("Sum", {cast(scope, zero, scope.dtype(x)), axes}, {{"keep_dims", true}});
  // The product of the other elements has no zero factor if the group has no zero but, at most, the element itself.
  const Output others_free = equal(scope, sub(scope, zero_count, cast(scope, zero, scope.dtype(x))), zeros);
  const Output others = where(scope, others_free, div(scope, product, nonzero), zeros);
  context.set(0, mul(scope, with_kept_axes(context, context.gradient()), conjugate(scope, others)));
}

// ---- Definitions

OpDefBuilder constructed_op(const char* name, const char* type, const char* constructor) {
  return reduction_op(name, type)
      .constructor(std::string(constructor) + "(input, axis: reduction_indices = all, keep_dims)");
}

template <class Check = ReductionCheck>
KernelDef reduction_kernel(const char* name, ReducerOf reducer_of) {
  return kernel_on("CPU", name,
                   [=](const PrepareContext& context) -> Result<std::unique_ptr<Kernel>> {
                     constexpr bool mean = std::is_same_v<Check, MeanCheck>;
                     const DType dtype = compute_dtype(context.input_dtype(0));
                     const Reducer reducer = reducer_of(mean && is_integer(dtype) ? DType::Int64 : dtype);
                     return make_kernel(Check(context), ReductionCompute{reducer, mean});
                   })
      .inexpensive();
}

}  // namespace

Reducer sum_reducer(DType dtype) {
  return mixed_reducer<VectorReduction::Sum, VectorBinary::Add, Sum, Joined<IntegerTypes, ComplexTypes>>(
      dtype);
}

OpDefBuilder reduction_op(const char* name, const char* type) {
  return OpDefBuilder(name)
      .input(std::string("input: ") + type)
      .host_input("reduction_indices: Tidx")
      .output(std::string("output: ") + type)
      .attr("keep_dims: bool = false")
      .attr("Tidx: {int32, int64} = int32")
      .shape(reduction_shape);
}

Output with_kept_axes(const GradientContext& context, Output x) {
  const Scope& scope = context.scope();
  if (context.attr<bool>("keep_dims") || scope.shape(x).has_rank(0)) return x;
  const PartialShape& input = scope.shape(context.input(0));
  ShapeContext shapes(scope.graph(), context.node());
  if (const auto axes = shapes.constant_integers(1); axes && input.known_rank()) {
    std::vector<bool> reduced(input.rank(), false);
    for (const int64_t axis : *axes) reduced[value_or_throw(resolve_axis(axis, input.rank()))] = true;
    for (size_t i = 0; i < reduced.size(); ++i)
      if (reduced[i]) x = scope.add_one("ExpandDims", {x, integer_constant(scope, static_cast<int64_t>(i))});
    return x;
  }
  // The axes are known only during the step: the shape is that of the same reduction with keep_dims.
  const Output kept =
      scope.add_one(context.node().type(), {context.input(0), context.input(1)}, {{"keep_dims", true}});
  return scope.add_one("Reshape", {x, scope.add_one("Shape", {kept})});
}

Result<Dims> listed_axes(const Tensor& axes) {
  if (axes.shape().rank() <= 1) return integers(axes);
  return invalid_argument("the axes have shape " + axes.shape().text() +
                          "; they must be a scalar or a vector");
}

Result<ReductionArguments> reduction_arguments(KernelContext& context, std::span<const int64_t> axes,
                                               bool keep_dims) {
  const Tensor& input = context.input(0);
  const auto resolved = reduction_axes(input, axes, keep_dims);
  if (!resolved) return resolved.status();
  const auto& [reduced, shape, count] = *resolved;
  if (count == 1) {
    context.set_output(0, input.reshaped(shape));
    return ReductionArguments{input, nullptr, reduced, count};
  }
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return ReductionArguments{input, output, reduced, count};
}

Result<ReductionArguments> ReductionCheck::operator()(KernelContext& context) const {
  TROUPE_ASSIGN(const Dims axes, listed_axes(context.input(1)));
  return reduction_arguments(context, axes, keep_dims_);
}

Result<ReductionArguments> MeanCheck::operator()(KernelContext& context) const {
  auto arguments = ReductionCheck::operator()(context);
  if (arguments && arguments->count == 0 && arguments->output->elements() != 0 &&
      is_integer(arguments->input.dtype()))
    return invalid_argument("the mean of zero integers is undefined; the input is " +
                            arguments->input.signature());
  return arguments;
}

KernelDef sum_kernel(const char* op, Result<ReductionArguments> (*check)(KernelContext&)) {
  return kernel_on("CPU", op,
                   [=](const PrepareContext& context) -> Result<std::unique_ptr<Kernel>> {
                     const Reducer reducer = sum_reducer(compute_dtype(context.input_dtype(0)));
                     return make_kernel(check, ReductionCompute{reducer, false});
                   })
      .inexpensive();
}

void add_reduction_ops(OpLibrary& library) {
  const auto prod =
      mixed_reducer<VectorReduction::Prod, VectorBinary::Mul, Prod, Joined<IntegerTypes, ComplexTypes>>;
  library.op(constructed_op("Sum", "T", "sum").attr("T: numbertype").gradient(sum_gradient));
  library.kernel(reduction_kernel("Sum", sum_reducer));
  library.op(constructed_op("Mean", "T", "mean").attr("T: numbertype").gradient(mean_gradient));
  library.kernel(reduction_kernel<MeanCheck>("Mean", sum_reducer));
  library.op(constructed_op("Prod", "T", "prod").attr("T: numbertype").gradient(prod_gradient));
  library.kernel(reduction_kernel("Prod", prod));
  library.op(constructed_op("Max", "T", "max").attr("T: realnumbertype").gradient(extreme_gradient));
  library.kernel(
      reduction_kernel("Max", mixed_reducer<VectorReduction::Max, VectorBinary::Maximum, Max, IntegerTypes>));
  library.op(constructed_op("Min", "T", "min").attr("T: realnumbertype").gradient(extreme_gradient));
  library.kernel(
      reduction_kernel("Min", mixed_reducer<VectorReduction::Min, VectorBinary::Minimum, Min, IntegerTypes>));
  library.op(constructed_op("All", "bool", "all").not_differentiable());
  library.kernel(reduction_kernel("All", scalar_reducer<All, TypeList<bool>>));
  library.op(constructed_op("Any", "bool", "any").not_differentiable());
  library.kernel(reduction_kernel("Any", scalar_reducer<Any, TypeList<bool>>));
}

}  // namespace troupe
