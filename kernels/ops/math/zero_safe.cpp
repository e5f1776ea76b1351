// Products and quotients in which a zero decides, element by element; shapes broadcast as in NumPy. T is floating or complex.
//   MulNoNan(x, y)   x y, but 0 where y is 0, also if x is infinite or not a number
//   Xdivy(x, y)      x / y, but 0 where x is 0
//   Xlogy(x, y)      x log(y), but 0 where x is 0
//   Xlog1py(x, y)    x log(1 + y), but 0 where x is 0
// Entropies and likelihoods need them: the limit of x log(x) at 0 is 0.
#include <cmath>
#include <complex>

#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/loops/elementwise.h"
#include "kernels/ops/broadcast_gradients.h"

namespace troupe {
namespace {

struct MulNoNan {
  template <class T>
  static T apply(const T& x, const T& y) {
    return y == T(0) ? T(0) : x * y;
  }
};
struct Xdivy {
  template <class T>
  static T apply(const T& x, const T& y) {
    return x == T(0) ? T(0) : x / y;
  }
};
struct Xlogy {
  template <class T>
  static T apply(const T& x, const T& y) {
    return x == T(0) ? T(0) : x * std::log(y);
  }
};
struct Xlog1py {
  template <class T>
  static T apply(const T& x, const T& y) {
    if (x == T(0)) return T(0);
    if constexpr (std::is_floating_point_v<T>)
      return x * std::log1p(y);
    else
      return x * std::log(T(1) + y);
  }
};

// ---- Gradients. Where x is 0 they are those of the constant 0, as in TensorFlow.

/// Returns 1 where x is not 0, and 0 elsewhere.
Output indicator(const Scope& scope, Output x) {
  return cast(scope, not_equal(scope, x, zeros_like(scope, x)), scope.dtype(x));
}

/// Sets the gradients to dy times the conjugates of the derivatives.
void set_from_derivatives(GradientContext& context, Output by_x, Output by_y) {
  const Scope& scope = context.scope();
  const Output gradient = context.gradient();
  set_broadcast_gradients(context, mul(scope, gradient, conjugate(scope, by_x)),
                          mul(scope, gradient, conjugate(scope, by_y)));
}

void mul_no_nan_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output gradient = context.gradient(), x = context.input(0), y = context.input(1);
  set_broadcast_gradients(context, mul_no_nan(scope, gradient, conjugate(scope, y)),
                          mul_no_nan(scope, conjugate(scope, x), gradient));
}

void xdivy_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output x = context.input(0), y = context.input(1);
  set_from_derivatives(context, xdivy(scope, indicator(scope, x), y),
                       xdivy(scope, neg(scope, x), square(scope, y)));
}

void xlogy_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output x = context.input(0), y = context.input(1);
  set_from_derivatives(context, xlogy(scope, indicator(scope, x), y), xdivy(scope, x, y));
}

void xlog1py_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output x = context.input(0), y = context.input(1);
  set_from_derivatives(context, xlog1py(scope, indicator(scope, x), y), xdivy(scope, x, add(scope, y, 1)));
}

template <class Function>
void add_function(OpLibrary& library, const char* name, const char* constructor, GradientFunction gradient) {
  library.op(OpDefBuilder(name)
                 .input("x: T")
                 .input("y: T")
                 .output("z: T")
                 .attr("T: {half, bfloat16, float, double, complex64, complex128}")
                 .constructor(std::string(constructor) + "(x, y)")
                 .shape(broadcast_shape)
                 .gradient(gradient));
  library.kernel(binary_kernel(name, scalar_binary_loop_of<Function, Joined<FloatTypes, ComplexTypes>>,
                               Cost::Transcendental));
}

}  // namespace

void add_zero_safe_ops(OpLibrary& library) {
  add_function<MulNoNan>(library, "MulNoNan", "mul_no_nan", mul_no_nan_gradient);
  add_function<Xdivy>(library, "Xdivy", "xdivy", xdivy_gradient);
  add_function<Xlogy>(library, "Xlogy", "xlogy", xlogy_gradient);
  add_function<Xlog1py>(library, "Xlog1py", "xlog1py", xlog1py_gradient);
}

}  // namespace troupe
