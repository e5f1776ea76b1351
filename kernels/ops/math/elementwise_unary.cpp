// Functions of one tensor, element by element: y = f(x), of the same type and shape unless stated otherwise.
//   Neg, Square, Conj                                        any number (Conj: complex)
//   Abs, Sign                                                real; integers wrap around; Sign of a complex x is x / |x|
//   Sqrt, Rsqrt, Reciprocal (alias Inv), Exp, Log, Sin, Cos  floating and complex
//   Expm1                                                    floating and complex: exp(x) - 1, accurate near 0, too
//   Log1p                                                    floating and complex: log(1 + x), accurate near 0, too
//   Erf, Erfc                                                floating
//   Floor, Ceil                                              floating
//   Round                                                    floating and signed integers; halves are rounded to even
//   IsNan, IsInf, IsFinite                                   floating; y is bool
// SqrtGrad(y, dy), RsqrtGrad(y, dy), ReciprocalGrad(y, dy) (alias InvGrad) are gradients as functions of the output y.
#include <cmath>
#include <numbers>

#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/loops/arithmetic.h"
#include "kernels/loops/elementwise.h"
#include "kernels/ops/broadcast_gradients.h"

namespace troupe {
namespace {

using IntegerAndComplexTypes = Joined<IntegerTypes, ComplexTypes>;
using SignedTypes = TypeList<int8_t, int16_t, int32_t, int64_t>;

// ---- Functions of an element without vector code

struct Neg {
  template <class T>
  static T apply(T x) {
    return Sub::apply(T{}, x);
  }
};
struct Square {
  template <class T>
  static T apply(T x) {
    return Mul::apply(x, x);
  }
};
struct Conj {
  template <class T>
  static T apply(T x) {
    return std::conj(x);
  }
};
struct Abs {
  template <class T>
  static T apply(T x) {
    return x < 0 ? Neg::apply(x) : x;
  }
};
struct Sign {
  template <class T>
  static T apply(T x) {
    if constexpr (is_complex_type<T>)
      return x == T{} ? T{} : x / std::abs(x);
    else if constexpr (std::is_floating_point_v<T>)
      return std::isnan(x) ? x : static_cast<T>((x > 0) - (x < 0));
    else
      return static_cast<T>((x > 0) - (x < 0));
  }
};
struct Sqrt {
  template <class T>
  static T apply(T x) {
    return std::sqrt(x);
  }
};
struct Reciprocal {
  template <class T>
  static T apply(T x) {
    return T(1) / x;
  }
};
struct Rsqrt {
  template <class T>
  static T apply(T x) {
    return T(1) / std::sqrt(x);
  }
};
struct Exp {
  template <class T>
  static T apply(T x) {
    return std::exp(x);
  }
};
struct Expm1 {
  template <class T>
  static T apply(T x) {
    if constexpr (is_complex_type<T>) {
      const auto half = std::sin(x.imag() / 2), less_one = std::expm1(x.real());
      return {less_one * std::cos(x.imag()) - 2 * half * half, (less_one + 1) * std::sin(x.imag())};
    } else {
      return std::expm1(x);
    }
  }
};
struct Log1p {
  template <class T>
  static T apply(T x) {
    const auto re = x.real(), im = x.imag();
    const auto angle = std::atan2(im, 1 + re);
    constexpr int large =
        1000;  // the squares of such numbers may overflow, and a 1 beside them is no small term
    if (std::abs(re) > large || std::abs(im) > large) return {std::log(std::hypot(1 + re, im)), angle};
    // |1 + x|^2 = 1 + re (2 + re) + im^2; log1p keeps the small terms accurate.
    return {std::log1p(re * (2 + re) + im * im) / 2, angle};
  }
};
struct Round {
  template <class T>
  static T apply(T x) {
    return x;
  }
};
struct Erf {
  template <class T>
  static T apply(T x) {
    return std::erf(x);
  }
};
struct Erfc {
  template <class T>
  static T apply(T x) {
    return std::erfc(x);
  }
};
struct Log {
  template <class T>
  static T apply(T x) {
    return std::log(x);
  }
};
struct Sin {
  template <class T>
  static T apply(T x) {
    return std::sin(x);
  }
};
struct Cos {
  template <class T>
  static T apply(T x) {
    return std::cos(x);
  }
};
struct IsNan {
  template <class T>
  static bool apply(T x) {
    return std::isnan(x);
  }
};
struct IsInf {
  template <class T>
  static bool apply(T x) {
    return std::isinf(x);
  }
};
struct IsFinite {
  template <class T>
  static bool apply(T x) {
    return std::isfinite(x);
  }
};
// Gradients of complex functions; those of real functions have vector code.
struct SqrtGrad {
  template <class T>
  static T apply(T y, T dy) {
    return dy == T(0) ? T(0) : dy * T(0.5) / std::conj(y);
  }
};
struct RsqrtGrad {
  template <class T>
  static T apply(T y, T dy) {
    return dy == T(0) ? T(0) : T(-0.5) * dy * std::conj(y * y * y);
  }
};
struct ReciprocalGrad {
  template <class T>
  static T apply(T y, T dy) {
    return dy == T(0) ? T(0) : -dy * std::conj(y * y);
  }
};

// ---- Gradients: dx from dy, x and y

void neg_gradient(GradientContext& context) { context.set(0, neg(context.scope(), context.gradient())); }

void square_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  context.set(0, mul(scope, context.gradient(), mul(scope, conjugate(scope, context.input(0)), 2)));
}

void conj_gradient(GradientContext& context) {
  context.set(0, conjugate(context.scope(), context.gradient()));
}

void abs_gradient(GradientContext& context) {
  context.set(0, mul(context.scope(), context.gradient(), sign(context.scope(), context.input(0))));
}

void zero_gradient(GradientContext& context) {
  context.set(0, zeros_like(context.scope(), context.input(0)));
}

/// The gradient is computed by the ...Grad op of this name, a function of y.
template <const char* const& Op>
void gradient_by(GradientContext& context) {
  context.set(0, context.scope().add_one(Op, {context.output(0), context.gradient()}));
}
constexpr const char* sqrt_grad = "SqrtGrad";
constexpr const char* rsqrt_grad = "RsqrtGrad";
constexpr const char* reciprocal_grad = "ReciprocalGrad";

void exp_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  context.set(0, mul(scope, context.gradient(), conjugate(scope, context.output(0))));
}

void expm1_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  context.set(0, mul(scope, context.gradient(), conjugate(scope, exp(scope, context.input(0)))));
}

/// dy 2 / sqrt(pi) exp(-x^2)
Output erf_slope(const GradientContext& context) {
  const Scope& scope = context.scope();
  const Output bell = exp(scope, neg(scope, square(scope, context.input(0))));
  return mul(scope, context.gradient(), mul(scope, bell, 2 * std::numbers::inv_sqrtpi));
}
void erf_gradient(GradientContext& context) { context.set(0, erf_slope(context)); }
void erfc_gradient(GradientContext& context) { context.set(0, neg(context.scope(), erf_slope(context))); }

void log_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  context.set(0, div(scope, context.gradient(), conjugate(scope, context.input(0))));
}

void log1p_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  context.set(0, div(scope, context.gradient(), add(scope, conjugate(scope, context.input(0)), 1)));
}

void sin_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  context.set(0, mul(scope, context.gradient(), cos(scope, conjugate(scope, context.input(0)))));
}

void cos_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  context.set(0, neg(scope, mul(scope, context.gradient(), sin(scope, conjugate(scope, context.input(0))))));
}

// Second derivatives. These ops are functions of the conjugate of y, so the conjugate of the gradient flows to y.

void sqrt_grad_gradient(GradientContext& context) {  // out = dy / (2 conj(y))
  const Scope& scope = context.scope();
  const Output gradient = context.gradient(), y = context.input(0);
  const Output per_y = conjugate(scope, div(scope, gradient, y));
  context.set(0, neg(scope, mul(scope, per_y, context.output(0))));
  context.set(1, div(scope, gradient, mul(scope, y, 2)));
}

void rsqrt_grad_gradient(GradientContext& context) {  // out = -dy conj(y)^3 / 2
  const Scope& scope = context.scope();
  const Output gradient = context.gradient(), y = conjugate(scope, context.input(0)), dy = context.input(1);
  context.set(0, mul(scope, mul(scope, conjugate(scope, gradient), dy), mul(scope, square(scope, y), -1.5)));
  context.set(1, scope.add_one("RsqrtGrad", {y, gradient}));
}

void reciprocal_grad_gradient(GradientContext& context) {  // out = -dy conj(y)^2
  const Scope& scope = context.scope();
  const Output gradient = context.gradient(), y = conjugate(scope, context.input(0)), dy = context.input(1);
  context.set(0, mul(scope, mul(scope, conjugate(scope, gradient), dy), mul(scope, y, -2)));
  context.set(1, scope.add_one("ReciprocalGrad", {y, gradient}));
}

// ---- Definitions

constexpr const char* number = "T: numbertype";
constexpr const char* real_types = "T: realnumbertype";
constexpr const char* floating = "T: floattype";
constexpr const char* floating_or_complex = "T: {half, bfloat16, float, double, complex64, complex128}";

OpDefBuilder unary_op(const char* name, const char* types, const char* constructor) {
  OpDefBuilder op(name);
  op.input("x: T").output("y: T").attr(types).shape(unchanged_shape);
  if (*constructor) op.constructor(std::string(constructor) + "(x)");
  return op;
}

/// A gradient as a function of y and dy.
void add_gradient_op(OpLibrary& library, const char* name, BinaryLoopOf loop_of, GradientFunction gradient) {
  library.op(OpDefBuilder(name)
                 .input("y: T")
                 .input("dy: T")
                 .output("z: T")
                 .attr(floating_or_complex)
                 .shape(same_shapes)
                 .gradient(gradient));
  library.kernel(paired_kernel(name, loop_of));
}

void add_arithmetic(OpLibrary& library) {
  library.op(unary_op("Neg", number, "neg").gradient(neg_gradient));
  library.kernel(unary_kernel("Neg", unary_loop<VectorUnary::Neg, Neg, IntegerAndComplexTypes>));
  library.op(unary_op("Square", number, "square").gradient(square_gradient));
  library.kernel(unary_kernel("Square", unary_loop<VectorUnary::Square, Square, IntegerAndComplexTypes>));
  library.op(unary_op("Conj", "T: {complex64, complex128}", "conj").gradient(conj_gradient));
  library.kernel(unary_kernel("Conj", scalar_unary_loop_of<Conj, ComplexTypes>));
  library.op(unary_op("Abs", real_types, "abs").gradient(abs_gradient));
  library.kernel(unary_kernel("Abs", unary_loop<VectorUnary::Abs, Abs, IntegerTypes>));
  library.op(unary_op("Sign", number, "sign").gradient(zero_gradient));
  library.kernel(unary_kernel("Sign", unary_loop<VectorUnary::Sign, Sign, IntegerAndComplexTypes>));
  library.op(unary_op("Floor", floating, "floor").not_differentiable());
  library.op(unary_op("Ceil", floating, "ceil").not_differentiable());
  library.op(unary_op("Round", "T: {half, bfloat16, float, double, int8, int16, int32, int64}", "round")
                 .not_differentiable());
  library.kernel(unary_kernel("Floor", unary_loop<VectorUnary::Floor>));
  library.kernel(unary_kernel("Ceil", unary_loop<VectorUnary::Ceil>));
  library.kernel(unary_kernel("Round", unary_loop<VectorUnary::Round, Round, SignedTypes>));
}

void add_roots(OpLibrary& library) {
  library.op(unary_op("Sqrt", floating_or_complex, "sqrt").gradient(gradient_by<sqrt_grad>));
  library.kernel(unary_kernel("Sqrt", unary_loop<VectorUnary::Sqrt, Sqrt, ComplexTypes>));
  library.op(unary_op("Rsqrt", floating_or_complex, "rsqrt").gradient(gradient_by<rsqrt_grad>));
  library.kernel(unary_kernel("Rsqrt", unary_loop<VectorUnary::Rsqrt, Rsqrt, ComplexTypes>));
  for (const char* name : {"Reciprocal", "Inv"}) {
    library.op(unary_op(name, floating_or_complex, name == std::string_view("Inv") ? "" : "reciprocal")
                   .gradient(gradient_by<reciprocal_grad>));
    library.kernel(unary_kernel(name, unary_loop<VectorUnary::Reciprocal, Reciprocal, ComplexTypes>));
  }
  add_gradient_op(library, "SqrtGrad", binary_loop<VectorBinary::SqrtGrad, SqrtGrad, ComplexTypes>,
                  sqrt_grad_gradient);
  add_gradient_op(library, "RsqrtGrad", binary_loop<VectorBinary::RsqrtGrad, RsqrtGrad, ComplexTypes>,
                  rsqrt_grad_gradient);
  for (const char* name : {"ReciprocalGrad", "InvGrad"})
    add_gradient_op(library, name, binary_loop<VectorBinary::ReciprocalGrad, ReciprocalGrad, ComplexTypes>,
                    reciprocal_grad_gradient);
}

void add_transcendental(OpLibrary& library) {
  library.op(unary_op("Exp", floating_or_complex, "exp").gradient(exp_gradient));
  library.kernel(unary_kernel("Exp", unary_loop<VectorUnary::Exp, Exp, ComplexTypes>, Cost::Transcendental));
  library.op(unary_op("Expm1", floating_or_complex, "expm1").gradient(expm1_gradient));
  library.kernel(
      unary_kernel("Expm1", unary_loop<VectorUnary::Expm1, Expm1, ComplexTypes>, Cost::Transcendental));
  library.op(unary_op("Erf", floating, "erf").gradient(erf_gradient));
  library.kernel(
      unary_kernel("Erf", unary_loop<VectorUnary::Erf, Erf, TypeList<double>>, Cost::Transcendental));
  library.op(unary_op("Erfc", floating, "erfc").gradient(erfc_gradient));
  library.kernel(unary_kernel("Erfc", scalar_unary_loop_of<Erfc, FloatTypes>, Cost::Transcendental));
  library.op(unary_op("Log", floating_or_complex, "log").gradient(log_gradient));
  library.kernel(unary_kernel("Log", unary_loop<VectorUnary::Log, Log, ComplexTypes>, Cost::Transcendental));
  library.op(unary_op("Log1p", floating_or_complex, "log1p").gradient(log1p_gradient));
  library.kernel(
      unary_kernel("Log1p", unary_loop<VectorUnary::Log1p, Log1p, ComplexTypes>, Cost::Transcendental));
  library.op(unary_op("Sin", floating_or_complex, "sin").gradient(sin_gradient));
  library.kernel(unary_kernel("Sin", unary_loop<VectorUnary::Sin, Sin, ComplexTypes>, Cost::Transcendental));
  library.op(unary_op("Cos", floating_or_complex, "cos").gradient(cos_gradient));
  library.kernel(unary_kernel("Cos", unary_loop<VectorUnary::Cos, Cos, ComplexTypes>, Cost::Transcendental));
}

template <class Function>
void add_predicate(OpLibrary& library, const char* name, const char* constructor) {
  library.op(OpDefBuilder(name)
                 .input("x: T")
                 .output("y: bool")
                 .attr(floating)
                 .constructor(constructor)
                 .shape(unchanged_shape)
                 .not_differentiable());
  library.kernel(unary_kernel(name, scalar_unary_loop_of<Function, FloatTypes>));
}

}  // namespace

void add_elementwise_unary_ops(OpLibrary& library) {
  add_arithmetic(library);
  add_roots(library);
  add_transcendental(library);
  add_predicate<IsNan>(library, "IsNan", "is_nan(x)");
  add_predicate<IsInf>(library, "IsInf", "is_inf(x)");
  add_predicate<IsFinite>(library, "IsFinite", "is_finite(x)");
}

}  // namespace troupe
