// Arithmetic on two tensors, element by element; shapes broadcast as in NumPy. T is the type of both inputs and of the output.
//   Add, AddV2, Sub, Mul      any number (integers wrap around); Add also concatenates strings
//   Div                       any number; integers truncate towards zero
//   RealDiv                   floating and complex
//   DivNoNan                  floating and complex: x / y, but 0 where y is 0
//   TruncateDiv               real: the quotient without its fraction
//   FloorDiv, FloorMod        real; FloorMod has the sign of the divisor
//   Mod, TruncateMod          real; the result has the sign of the dividend, like % and fmod in C
//   Atan2                     floating: the angle of the point (y, x)
//   Maximum, Minimum          real; NaN if either is NaN
//   Pow                       any number; integers wrap around
//   SquaredDifference         (x - y)^2, any number; for complex numbers the square of the absolute value
// Fail with InvalidArgument for an integer divisor of zero and for a negative integer exponent. The least integer divided by -1
// wraps to itself.
#include <cmath>

#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/core/check_integers.h"
#include "kernels/loops/arithmetic.h"
#include "kernels/loops/elementwise.h"
#include "kernels/ops/broadcast_gradients.h"

namespace troupe {
namespace {

// ---- Functions of two elements

struct DivNoNan {
  template <class T>
  static T apply(const T& a, const T& b) {
    return b == T(0) ? T(0) : a / b;
  }
};
struct TruncateDiv {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return std::trunc(a / b);
    else
      return Div::apply(a, b);
  }
};
struct Atan2 {
  template <class T>
  static T apply(T y, T x) {
    return std::atan2(y, x);
  }
};
struct FloorDiv {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::floor(a / b);
    } else {
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return Sub::apply(T{0}, a);
        if ((a < 0) != (b < 0) && a % b != 0) return static_cast<T>(a / b - 1);
      }
      return static_cast<T>(a / b);
    }
  }
};
struct Mod {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return std::fmod(a, b);
    else
      return std::is_signed_v<T> && b == static_cast<T>(-1) ? T{0} : static_cast<T>(a % b);
  }
};
struct FloorMod {
  template <class T>
  static T apply(T a, T b) {
    const T rest = Mod::apply(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
  }
};
struct Pow {
  template <class T>
  static T apply(const T& a, const T& b) {
    if constexpr (std::is_integral_v<T>) {
      T result = 1, square = a;
      for (auto exponent = static_cast<std::make_unsigned_t<T>>(b); exponent != 0; exponent = exponent / 2) {
        if (exponent % 2 != 0) result = Mul::apply(result, square);
        square = Mul::apply(square, square);
      }
      return result;
    } else {
      return std::pow(a, b);
    }
  }
};
struct SquaredDifference {
  template <class T>
  static T apply(const T& a, const T& b) {
    const T difference = Sub::apply(a, b);
    if constexpr (is_complex_type<T>)
      return std::norm(difference);
    else
      return Mul::apply(difference, difference);
  }
};

Status check_divisor(const Tensor& b) { return check_divisors(b, "y"); }
Status check_exponent(const Tensor& b) {
  return check_integers(b, "y", "negative integer exponent", [](auto value) { return value < 0; });
}

using IntegerAndComplexTypes = Joined<IntegerTypes, ComplexTypes>;
using AddTypes = Joined<IntegerAndComplexTypes, TypeList<std::string>>;

// ---- Gradients

void add_gradient(GradientContext& context) {
  const Output gradient = context.gradient();
  set_broadcast_gradients(context, gradient, gradient);
}

void sub_gradient(GradientContext& context) {
  const Output gradient = context.gradient();
  set_broadcast_gradients(context, gradient, neg(context.scope(), gradient));
}

void mul_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output gradient = context.gradient();
  set_broadcast_gradients(context, mul(scope, gradient, conjugate(scope, context.input(1))),
                          mul(scope, gradient, conjugate(scope, context.input(0))));
}

void div_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output gradient = context.gradient(), y = conjugate(scope, context.input(1));
  const Output quotient = div(scope, gradient, y);
  set_broadcast_gradients(context, quotient,
                          neg(scope, mul(scope, quotient, conjugate(scope, context.output(0)))));
}

void div_no_nan_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output y = conjugate(scope, context.input(1));
  const Output quotient = div_no_nan(scope, context.gradient(), y);
  set_broadcast_gradients(context, quotient,
                          neg(scope, mul(scope, quotient, conjugate(scope, context.output(0)))));
}

/// The gradient of the angle of (y, x): (x, -y) / (x^2 + y^2).
void atan2_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output y = context.input(0), x = context.input(1);
  const Output per_square = div(scope, context.gradient(), add(scope, square(scope, x), square(scope, y)));
  set_broadcast_gradients(context, mul(scope, x, per_square), neg(scope, mul(scope, y, per_square)));
}

/// out = x - y q, where the integer q = (x - out) / y is constant in a neighbourhood.
void mod_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output gradient = context.gradient();
  const Output integral = div(scope, sub(scope, context.input(0), context.output(0)), context.input(1));
  set_broadcast_gradients(context, gradient, neg(scope, mul(scope, gradient, integral)));
}

/// The whole gradient goes to x where `to_x` is true, and to y elsewhere.
void choose_gradient(GradientContext& context, const char* comparison) {
  const Scope& scope = context.scope();
  const Output gradient = context.gradient(), zeros = zeros_like(scope, gradient);
  const Output to_x = scope.add_one(comparison, {context.input(0), context.input(1)});
  set_broadcast_gradients(context, where(scope, to_x, gradient, zeros), where(scope, to_x, zeros, gradient));
}
void maximum_gradient(GradientContext& context) { choose_gradient(context, "GreaterEqual"); }
void minimum_gradient(GradientContext& context) { choose_gradient(context, "LessEqual"); }

void pow_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output gradient = context.gradient();
  const Output x = conjugate(scope, context.input(0)), y = conjugate(scope, context.input(1));
  const Output to_x = mul(scope, gradient, mul(scope, y, pow(scope, x, sub(scope, y, 1))));
  // Where x <= 0, the power has no derivative with respect to y; the gradient is zero there, as in TensorFlow.
  const Output zeros = zeros_like(scope, x);
  const bool complex = is_complex(scope.dtype(x));
  const Output positive = complex ? not_equal(scope, x, zeros) : greater(scope, x, zeros);
  const Output log_x =
      where(scope, positive, log(scope, where(scope, positive, x, ones_like(scope, x))), zeros);
  set_broadcast_gradients(context, to_x,
                          mul(scope, gradient, mul(scope, conjugate(scope, context.output(0)), log_x)));
}

void squared_difference_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output difference = sub(scope, context.input(0), context.input(1));
  const Output to_x = mul(scope, context.gradient(), mul(scope, difference, 2));
  set_broadcast_gradients(context, to_x, neg(scope, to_x));
}

OpDefBuilder binary_op(const char* name, const char* types, const char* constructor) {
  return OpDefBuilder(name)
      .input("x: T")
      .input("y: T")
      .output("z: T")
      .attr(types)
      .constructor(std::string(constructor) + "(x, y)")
      .shape(broadcast_shape);
}

void add_division(OpLibrary& library) {
  library.op(binary_op("Div", "T: numbertype", "div").gradient(div_gradient));
  library.kernel(binary_kernel("Div", binary_loop<VectorBinary::Div, Div, IntegerAndComplexTypes>,
                               Cost::Arithmetic, check_divisor));
  library.op(binary_op("RealDiv", "T: {half, bfloat16, float, double, complex64, complex128}", "real_div")
                 .gradient(div_gradient));
  library.kernel(binary_kernel("RealDiv", binary_loop<VectorBinary::Div, Div, ComplexTypes>));
  library.op(binary_op("DivNoNan", "T: {half, bfloat16, float, double, complex64, complex128}", "div_no_nan")
                 .gradient(div_no_nan_gradient));
  library.kernel(
      binary_kernel("DivNoNan", scalar_binary_loop_of<DivNoNan, Joined<FloatTypes, ComplexTypes>>));
  library.op(binary_op("TruncateDiv", "T: realnumbertype", "truncate_div").not_differentiable());
  library.kernel(binary_kernel("TruncateDiv", scalar_binary_loop_of<TruncateDiv, WideRealTypes>,
                               Cost::Arithmetic, check_divisor));
  library.op(binary_op("FloorDiv", "T: realnumbertype", "floor_div").not_differentiable());
  library.kernel(binary_kernel("FloorDiv", binary_loop<VectorBinary::FloorDiv, FloorDiv, IntegerTypes>,
                               Cost::Arithmetic, check_divisor));
  library.op(binary_op("FloorMod", "T: realnumbertype", "floor_mod").gradient(mod_gradient));
  library.kernel(binary_kernel("FloorMod", binary_loop<VectorBinary::FloorMod, FloorMod, IntegerTypes>,
                               Cost::Transcendental, check_divisor));
  for (const char* name : {"Mod", "TruncateMod"}) {
    library.op(binary_op(name, "T: realnumbertype", name == std::string_view("Mod") ? "mod" : "truncate_mod")
                   .gradient(mod_gradient));
    library.kernel(binary_kernel(name, binary_loop<VectorBinary::Mod, Mod, IntegerTypes>,
                                 Cost::Transcendental, check_divisor));
  }
}

}  // namespace

void add_elementwise_binary_ops(OpLibrary& library) {
  library.op(
      binary_op(
          "Add",
          "T: {half, bfloat16, float, double, uint8, int8, uint16, int16, uint32, int32, uint64, int64, "
          "complex64, complex128, string}",
          "add")
          .gradient(add_gradient));
  library.op(binary_op("AddV2", "T: numbertype", "add_v2").commutative().gradient(add_gradient));
  for (const char* name : {"Add", "AddV2"})
    library.kernel(binary_kernel(name, binary_loop<VectorBinary::Add, Add, AddTypes>));
  library.op(binary_op("Sub", "T: numbertype", "sub").gradient(sub_gradient));
  library.kernel(binary_kernel("Sub", binary_loop<VectorBinary::Sub, Sub, IntegerAndComplexTypes>));
  library.op(binary_op("Mul", "T: numbertype", "mul").commutative().gradient(mul_gradient));
  library.kernel(binary_kernel("Mul", binary_loop<VectorBinary::Mul, Mul, IntegerAndComplexTypes>));
  add_division(library);
  library.op(binary_op("Maximum", "T: realnumbertype", "maximum").commutative().gradient(maximum_gradient));
  library.kernel(binary_kernel("Maximum", binary_loop<VectorBinary::Maximum, Maximum, IntegerTypes>));
  library.op(binary_op("Minimum", "T: realnumbertype", "minimum").commutative().gradient(minimum_gradient));
  library.kernel(binary_kernel("Minimum", binary_loop<VectorBinary::Minimum, Minimum, IntegerTypes>));
  library.op(OpDefBuilder("Atan2")
                 .input("y: T")
                 .input("x: T")
                 .output("z: T")
                 .attr("T: floattype")
                 .constructor("atan2(y, x)")
                 .shape(broadcast_shape)
                 .gradient(atan2_gradient));
  library.kernel(binary_kernel("Atan2", scalar_binary_loop_of<Atan2, FloatTypes>, Cost::Transcendental));
  library.op(binary_op("Pow", "T: numbertype", "pow").gradient(pow_gradient));
  library.kernel(binary_kernel(
      "Pow", binary_loop<VectorBinary::Pow, Pow, Joined<TypeList<double>, IntegerAndComplexTypes>>,
      Cost::Transcendental, check_exponent));
  library.op(binary_op("SquaredDifference", "T: numbertype", "squared_difference")
                 .commutative()
                 .gradient(squared_difference_gradient));
  library.kernel(
      binary_kernel("SquaredDifference",
                    binary_loop<VectorBinary::SquaredDifference, SquaredDifference, IntegerAndComplexTypes>));
}

}  // namespace troupe
