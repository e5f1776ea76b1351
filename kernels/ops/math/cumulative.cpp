// Cumulative sums and products along one axis.
//   Cumsum(x, axis), Cumprod(x, axis)   element i of the result combines elements 0 .. i of x. `exclusive`: without element i,
//                                       so that the first result is 0 or 1; `reverse`: from the end
//   CumulativeLogsumexp(x, axis)        the same for the logarithms of sums of exponentials, of floats; the first result of an
//                                       exclusive one is minus infinity
// Any number type; integers wrap around; half and bfloat16 are rounded after each step. Elements are combined in their order.
#include "kernels/ops/math/cumulative.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/arithmetic.h"
#include "kernels/loops/rows.h"
#include "kernels/ops/broadcast_gradients.h"

namespace troupe {
namespace {

Status cumulative_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 0).status());
  const auto axis = constant_integer(context, 1);
  if (axis && context.input(0).known_rank())
    TROUPE_RETURN_IF_FAILED(resolve_axis(*axis, context.input(0).rank()).status());
  return unchanged_shape(context);
}

template <class Function, class T>
T combined(const T& a, const T& b) {
  return T(Function::apply(static_cast<ComputeType<T>>(a), static_cast<ComputeType<T>>(b)));
}

/// Combines neighbouring lines [begin, end) of one run of `step`: element by element of all of these lines.
template <class Function, class T>
void combine_lines(const T* x, T* y, const CumulativeArguments& lines, size_t begin, size_t end, T neutral) {
  const auto row = [&](size_t i) { return (lines.reverse ? lines.length - 1 - i : i) * lines.step; };
  for (size_t i = 0; i < lines.length; ++i) {
    const T* const from = x + row(lines.exclusive && i > 0 ? i - 1 : i);
    T* const to = y + row(i);
    if (i == 0) {
      for (size_t l = begin; l < end; ++l) to[l] = lines.exclusive ? neutral : from[l];
      continue;
    }
    const T* const before = y + row(i - 1);
    for (size_t l = begin; l < end; ++l) to[l] = combined<Function>(before[l], from[l]);
  }
}

template <class Function, class T>
void combine(Pool& pool, const CumulativeArguments& lines, T neutral) {
  const size_t cost = 2 * sizeof(T) * lines.length;
  const T* const from = lines.x.as<T>().data();
  T* const to = lines.y.write<T>().data();
  parallel_rows(pool, lines.count, cost, [&](size_t begin, size_t end) {
    while (begin < end) {
      const size_t run = begin / lines.step, first = begin % lines.step;
      const size_t last = std::min(lines.step, first + end - begin), offset = run * lines.step * lines.length;
      combine_lines<Function>(from + offset, to + offset, lines, first, last, neutral);
      begin += last - first;
    }
  });
}

template <class Function, int neutral>
void compute_cumulative(const CumulativeArguments& arguments, DeviceContext& device) {
  with_type(NumberTypes{}, arguments.x.dtype(), [&]<class T>(std::type_identity<T>) {
    combine<Function, T>(device.pool(), arguments, T(ComputeType<T>(neutral)));
  });
}

/// log(exp(a) + exp(b)), without overflow.
struct LogSumExp {
  template <class T>
  static T apply(T a, T b) {
    if (a == b) return a + std::numbers::ln2_v<T>;  // of two infinities, too
    const T most = a < b ? b : a, least = a < b ? a : b;
    return most + std::log1p(std::exp(least - most));
  }
};

void compute_logsumexp(const CumulativeArguments& arguments, DeviceContext& device) {
  with_type(AllFloatTypes{}, arguments.x.dtype(), [&]<class T>(std::type_identity<T>) {
    combine<LogSumExp, T>(device.pool(), arguments, T(-std::numeric_limits<ComputeType<T>>::infinity()));
  });
}

// ---- Gradients

Output accumulated(const GradientContext& context, Output x, const char* op, bool reverse) {
  return context.scope().add_one(op, {x, context.input(1)},
                                 {{"exclusive", context.attr<bool>("exclusive")}, {"reverse", reverse}});
}

/// An element of x is a term of all sums that come after it.
void cumsum_gradient(GradientContext& context) {
  context.set(0, accumulated(context, context.gradient(), "Cumsum", !context.attr<bool>("reverse")));
}

/// An element of x is a factor of all products that come after it. Each product without that factor is the product divided by
/// it; if the factor is 0, the gradient is zero, as in TensorFlow.
void cumprod_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output weighted = mul(scope, context.gradient(), conjugate(scope, context.output(0)));
  const Output total = accumulated(context, weighted, "Cumsum", !context.attr<bool>("reverse"));
  context.set(0, div_no_nan(scope, total, conjugate(scope, context.input(0))));
}

/// Returns the lowest finite number of a floating type: what stands for the logarithm of 0 where infinite differences would be NaN.
double lowest(DType dtype) {
  switch (dtype) {
    case DType::Half: return -65504;
    case DType::BFloat16: return -0x1.fep127;
    case DType::Float: return std::numeric_limits<float>::lowest();
    default: return std::numeric_limits<double>::lowest();
  }
}

/// The gradient of x is exp(x) times the sum of g exp(-result) over all results that come after it. Its positive and its negative
/// terms are summed as logarithms, apart from each other, as in TensorFlow.
void logsumexp_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const auto sum_of_positive = [&](Output g) {
    const Output logarithms = where_v2(scope, greater(scope, g, 0), log(scope, g), lowest(scope.dtype(g)));
    const Output total = accumulated(context, sub(scope, logarithms, context.output(0)),
                                     "CumulativeLogsumexp", !context.attr<bool>("reverse"));
    return exp(scope, add(scope, total, context.input(0)));
  };
  const Output g = context.gradient();
  context.set(0, sub(scope, sum_of_positive(g), sum_of_positive(neg(scope, g))));
}

}  // namespace

Result<CumulativeArguments> check_cumulative(KernelContext& context) {
  const Tensor& x = context.input(0);
  TROUPE_ASSIGN(const int64_t wanted, integer_scalar(context.input(1), "axis"));
  TROUPE_ASSIGN(const size_t axis, resolve_axis(wanted, x.shape().rank()));
  TROUPE_ASSIGN(Tensor* const y, context.output(0, x.shape()));
  const auto dims = x.shape().dims();
  const size_t step = count_of(dims.subspan(axis + 1));
  const Attributes& attrs = context.node().attrs;
  return CumulativeArguments{.x = x,
                             .y = *y,
                             .count = count_of(dims.first(axis)) * step,
                             .length = static_cast<size_t>(dims[axis]),
                             .step = step,
                             .exclusive = attrs.get<bool>("exclusive"),
                             .reverse = attrs.get<bool>("reverse")};
}

void add_cumulative_ops(OpLibrary& library) {
  const auto cumulative_op = [](const char* name, const char* types) {
    return OpDefBuilder(name)
        .input("x: T")
        .host_input("axis: Tidx")
        .output("out: T")
        .attr("exclusive: bool = false")
        .attr("reverse: bool = false")
        .attr(types)
        .attr("Tidx: {int32, int64} = int32")
        .shape(cumulative_shape);
  };
  library.op(cumulative_op("Cumsum", "T: numbertype")
                 .constructor("cumsum(x, axis = 0, exclusive, reverse)")
                 .gradient(cumsum_gradient));
  library.kernel(
      cpu_kernel("Cumsum", check_cumulative, compute_cumulative<Add, 0>).on("T", dtypes(NumberTypes{})));
  library.op(cumulative_op("Cumprod", "T: numbertype")
                 .constructor("cumprod(x, axis = 0, exclusive, reverse)")
                 .gradient(cumprod_gradient));
  library.kernel(
      cpu_kernel("Cumprod", check_cumulative, compute_cumulative<Mul, 1>).on("T", dtypes(NumberTypes{})));
  library.op(cumulative_op("CumulativeLogsumexp", "T: floattype")
                 .constructor("cumulative_logsumexp(x, axis = 0, exclusive, reverse)")
                 .gradient(logsumexp_gradient));
  library.kernel(cpu_kernel("CumulativeLogsumexp", check_cumulative, compute_logsumexp));
}

}  // namespace troupe
