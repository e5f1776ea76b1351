// Complex numbers and their parts, element by element:
//   Complex(real, imag)                        real + i imag; the inputs broadcast
//   Real(input), Imag(input)                   the parts
//   Angle(input)                               the argument, in [-pi, pi]
//   ComplexAbs(x)                              the absolute value, without overflow in between
// Float goes with complex64 and double with complex128; attribute Tout must say so. Gradients are those of TensorFlow: that of a
// real value by z = x + iy is its derivative by x plus i times that by y.
#include <cmath>
#include <complex>

#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/loops/elementwise.h"
#include "kernels/ops/broadcast_gradients.h"

namespace troupe {
namespace {

struct MakeComplex {
  template <class T>
  static std::complex<T> apply(T real, T imag) {
    return {real, imag};
  }
};
struct RealPart {
  template <class T>
  static T apply(std::complex<T> z) {
    return z.real();
  }
};
struct ImaginaryPart {
  template <class T>
  static T apply(std::complex<T> z) {
    return z.imag();
  }
};
struct Angle {
  template <class T>
  static T apply(std::complex<T> z) {
    return std::atan2(z.imag(), z.real());
  }
};
struct AbsoluteValue {
  template <class T>
  static T apply(std::complex<T> z) {
    return std::hypot(z.real(), z.imag());
  }
};

/// Fails with InvalidArgument unless Tout is the complex type of T, or the type of the parts of T.
Status check_types(const ShapeContext& context) {
  const auto type = context.attr<DType>("T"), other = context.attr<DType>("Tout");
  const bool is_single = type == DType::Float || type == DType::Complex64;
  const bool other_is_single = other == DType::Float || other == DType::Complex64;
  if (is_single == other_is_single) return {};
  return invalid_argument("T is " + std::string(name(type)) + " and Tout is " + std::string(name(other)) +
                          ", which differ in precision");
}

Status complex_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(check_types(context));
  return broadcast_shape(context);
}

Status part_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(check_types(context));
  return unchanged_shape(context);
}

// ---- Gradients

Output part(const Scope& scope, const char* op, Output z) {
  const DType dtype = scope.dtype(z) == DType::Complex64 ? f32 : f64;
  return scope.add_one(op, {z}, {{"Tout", dtype}});
}

Output complex_of(const Scope& scope, Output real, Output imaginary) {
  const DType dtype = scope.dtype(real) == DType::Float ? DType::Complex64 : DType::Complex128;
  return scope.add_one("Complex", {real, imaginary}, {{"Tout", dtype}});
}

void complex_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output g = context.gradient();
  set_broadcast_gradients(context, part(scope, "Real", g), part(scope, "Imag", g));
}

void real_gradient(GradientContext& context) {
  const Output g = context.gradient();
  context.set(0, complex_of(context.scope(), g, zeros_like(context.scope(), g)));
}

void imag_gradient(GradientContext& context) {
  const Output g = context.gradient();
  context.set(0, complex_of(context.scope(), zeros_like(context.scope(), g), g));
}

/// The derivative of atan2(y, x) is (-y + ix) / |z|^2, which is -1 / (y + ix).
void angle_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output z = context.input(0), g = context.gradient();
  const Output swapped = complex_of(scope, part(scope, "Imag", z), part(scope, "Real", z));
  context.set(0, neg(scope, div(scope, complex_of(scope, g, zeros_like(scope, g)), swapped)));
}

/// g z / |z|, and 0 where z is 0.
void complex_abs_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output size = context.output(0), g = context.gradient();
  const Output scaled = mul(scope, complex_of(scope, g, zeros_like(scope, g)), context.input(0));
  context.set(0, div_no_nan(scope, scaled, complex_of(scope, size, zeros_like(scope, size))));
}

void add_part(OpLibrary& library, const char* name, const char* input, const char* constructor,
              UnaryLoopOf loop_of, Cost cost, GradientFunction gradient) {
  library.op(OpDefBuilder(name)
                 .input(std::string(input) + ": T")
                 .output(input == std::string_view("x") ? "y: Tout" : "output: Tout")
                 .attr("T: {complex64, complex128} = complex64")
                 .attr("Tout: {float, double} = float")
                 .constructor(constructor)
                 .shape(part_shape)
                 .gradient(gradient));
  library.kernel(unary_kernel(name, loop_of, cost));
}

}  // namespace

void add_complex_ops(OpLibrary& library) {
  library.op(OpDefBuilder("Complex")
                 .input("real: T")
                 .input("imag: T")
                 .output("out: Tout")
                 .attr("T: {float, double} = float")
                 .attr("Tout: {complex64, complex128} = complex64")
                 .constructor("complex(real, imag, dtype: Tout)")
                 .shape(complex_shape)
                 .gradient(complex_gradient));
  library.kernel(binary_kernel("Complex", scalar_binary_loop_of<MakeComplex, FloatTypes>));
  add_part(library, "Real", "input", "real(input, dtype: Tout)", scalar_unary_loop_of<RealPart, ComplexTypes>,
           Cost::Arithmetic, real_gradient);
  add_part(library, "Imag", "input", "imag(input, dtype: Tout)",
           scalar_unary_loop_of<ImaginaryPart, ComplexTypes>, Cost::Arithmetic, imag_gradient);
  add_part(library, "Angle", "input", "angle(input, dtype: Tout)", scalar_unary_loop_of<Angle, ComplexTypes>,
           Cost::Transcendental, angle_gradient);
  add_part(library, "ComplexAbs", "x", "complex_abs(x, dtype: Tout)",
           scalar_unary_loop_of<AbsoluteValue, ComplexTypes>, Cost::Transcendental, complex_abs_gradient);
}

}  // namespace troupe
