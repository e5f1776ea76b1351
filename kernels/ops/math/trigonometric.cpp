// Trigonometric and hyperbolic functions and their inverses, element by element: y = f(x), for floating and complex x.
//   Tan, Asin, Acos, Atan, Sinh, Cosh, Asinh, Acosh, Atanh
// Sin, Cos and Tanh, which have vector code, are in elementwise_unary.cpp and nn/activations.cpp; Atan2 in elementwise_binary.cpp.
#include <cmath>
#include <complex>

#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/loops/elementwise.h"
#include "kernels/ops/broadcast_gradients.h"

namespace troupe {
namespace {

struct Tan {
  template <class T>
  static T apply(T x) {
    return std::tan(x);
  }
};
struct Asin {
  template <class T>
  static T apply(T x) {
    return std::asin(x);
  }
};
struct Acos {
  template <class T>
  static T apply(T x) {
    return std::acos(x);
  }
};
struct Atan {
  template <class T>
  static T apply(T x) {
    return std::atan(x);
  }
};
struct Sinh {
  template <class T>
  static T apply(T x) {
    return std::sinh(x);
  }
};
struct Cosh {
  template <class T>
  static T apply(T x) {
    return std::cosh(x);
  }
};
struct Asinh {
  template <class T>
  static T apply(T x) {
    return std::asinh(x);
  }
};
struct Acosh {
  template <class T>
  static T apply(T x) {
    return std::acosh(x);
  }
};
struct Atanh {
  template <class T>
  static T apply(T x) {
    return std::atanh(x);
  }
};

// ---- Gradients: dy times the conjugate of the derivative, as a function of conj(x) or conj(y)

/// Returns 1 - x^2.
Output one_minus_square(const Scope& scope, Output x) { return sub(scope, 1, square(scope, x)); }

Output conjugate_input(const GradientContext& context) {
  return conjugate(context.scope(), context.input(0));
}
Output conjugate_output(const GradientContext& context) {
  return conjugate(context.scope(), context.output(0));
}

void tan_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  context.set(0, mul(scope, context.gradient(), add(scope, square(scope, conjugate_output(context)), 1)));
}

void asin_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output root = sqrt(scope, one_minus_square(scope, conjugate_input(context)));
  context.set(0, div(scope, context.gradient(), root));
}

void acos_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output root = sqrt(scope, one_minus_square(scope, conjugate_input(context)));
  context.set(0, neg(scope, div(scope, context.gradient(), root)));
}

void atan_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  context.set(0, div(scope, context.gradient(), add(scope, square(scope, conjugate_input(context)), 1)));
}

void sinh_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  context.set(0, mul(scope, context.gradient(), cosh(scope, conjugate_input(context))));
}

void cosh_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  context.set(0, mul(scope, context.gradient(), sinh(scope, conjugate_input(context))));
}

void asinh_gradient(GradientContext& context) {  // cosh(y) = sqrt(1 + x^2) without overflow
  const Scope& scope = context.scope();
  context.set(0, div(scope, context.gradient(), cosh(scope, conjugate_output(context))));
}

void acosh_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  context.set(0, div(scope, context.gradient(), sinh(scope, conjugate_output(context))));
}

void atanh_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  context.set(0, div(scope, context.gradient(), one_minus_square(scope, conjugate_input(context))));
}

template <class Function>
void add_function(OpLibrary& library, const char* name, const char* constructor, GradientFunction gradient) {
  library.op(OpDefBuilder(name)
                 .input("x: T")
                 .output("y: T")
                 .attr("T: {half, bfloat16, float, double, complex64, complex128}")
                 .constructor(std::string(constructor) + "(x)")
                 .shape(unchanged_shape)
                 .gradient(gradient));
  library.kernel(unary_kernel(name, scalar_unary_loop_of<Function, Joined<FloatTypes, ComplexTypes>>,
                              Cost::Transcendental));
}

}  // namespace

void add_trigonometric_ops(OpLibrary& library) {
  add_function<Tan>(library, "Tan", "tan", tan_gradient);
  add_function<Asin>(library, "Asin", "asin", asin_gradient);
  add_function<Acos>(library, "Acos", "acos", acos_gradient);
  add_function<Atan>(library, "Atan", "atan", atan_gradient);
  add_function<Sinh>(library, "Sinh", "sinh", sinh_gradient);
  add_function<Cosh>(library, "Cosh", "cosh", cosh_gradient);
  add_function<Asinh>(library, "Asinh", "asinh", asinh_gradient);
  add_function<Acosh>(library, "Acosh", "acosh", acosh_gradient);
  add_function<Atanh>(library, "Atanh", "atanh", atanh_gradient);
}

}  // namespace troupe
