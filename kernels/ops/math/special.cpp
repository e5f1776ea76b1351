// Special functions, element by element; T is floating, and the shapes of several inputs broadcast as in NumPy unless stated
// otherwise.
//   Lgamma(x), Digamma(x)         the logarithm of |gamma(x)|, and the derivative of log(gamma(x))
//   Polygamma(a, x), Zeta(x, q)   the derivative number a of Digamma; the zeta function of Hurwitz
//   Igamma(a, x), Igammac(a, x)   the lower and the upper regularised incomplete gamma function
//   IgammaGradA(a, x)             the derivative of Igamma by a
//   RandomGammaGrad(alpha, sample)  the derivative by alpha of a sample of the gamma distribution (Figurnov, Mohamed, Mnih 2018)
//   Betainc(a, b, x)              the regularised incomplete beta function; inputs that are not scalars have the same shape
//   Ndtri(x), Erfinv(x)           the quantile function of the normal distribution; the inverse of Erf
//   BesselJ0, J1, Y0, Y1(x)       the Bessel functions of the first and second kind, of order 0 and 1
//   BesselI0, I1, K0, K1(x)       the modified ones; I0e and I1e are times exp(-|x|), K0e and K1e times exp(x)
//   Rint(x)                       x rounded to an integer; halves are rounded to even
//   NextAfter(x1, x2)             the next float or double after x1 in the direction of x2
// Eigen computes most of them; outside their domains they are NaN.
#include "kernels/ops/math/special-inl.h"

#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/elementwise.h"
#include "kernels/ops/broadcast_gradients.h"

namespace troupe {
namespace {

// ---- Betainc

/// Nothing is known of the output if an input may be a scalar and no input is known not to be one.
Status betainc_shape(ShapeContext& context) {
  PartialShape shape = PartialShape::scalar();
  for (size_t i = 0; i < 3; ++i) {
    const PartialShape& input = context.input(i);
    if (input.known_rank() && input.rank() == 0) continue;
    if (!shape.known_rank() || shape.rank() == 0)
      shape = input;
    else if (input.known_rank()) {
      TROUPE_ASSIGN(shape, merge(shape, input));
    }
  }
  context.set_output(0, std::move(shape));
  return {};
}

void compute_betainc(const BetaincArguments& arguments, DeviceContext& device) {
  with_type(FloatTypes{}, arguments.z.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto a = arguments.a.as<T>(), b = arguments.b.as<T>(), x = arguments.x.as<T>();
    const auto z = arguments.z.write<T>();
    const auto at = [](std::span<const T> values, size_t i) { return values[values.size() == 1 ? 0 : i]; };
    constexpr size_t bytes_of_equal_cost = 64 * sizeof(T);
    parallel_items(device.pool(), z.size(), bytes_of_equal_cost, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) z[i] = Betainc::apply(at(a, i), at(b, i), at(x, i));
    });
  });
}

// ---- Gradients

void lgamma_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  context.set(0, mul(scope, context.gradient(), digamma(scope, context.input(0))));
}

void digamma_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  context.set(0, mul(scope, context.gradient(), polygamma(scope, 1, context.input(0))));
}

/// The derivative of the quantile y is 1 / density(y) = sqrt(2 pi) exp(y^2 / 2).
void ndtri_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output density = exp(scope, mul(scope, square(scope, context.output(0)), 0.5));
  context.set(0, mul(scope, context.gradient(), mul(scope, density, std::sqrt(2 * std::numbers::pi))));
}

void erfinv_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output slope = exp(scope, square(scope, context.output(0)));
  context.set(0, mul(scope, context.gradient(), mul(scope, slope, std::sqrt(std::numbers::pi) / 2)));
}

/// Returns y / x, of which the limit at 0 is 1/2: for J1, I1 and I1e.
Output ratio_at_zero_too(const Scope& scope, Output y, Output x) {
  const Output zero = equal(scope, x, zeros_like(scope, x)), ones = ones_like(scope, x);
  return where(scope, zero, mul(scope, ones, 0.5), div(scope, y, where(scope, zero, ones, x)));
}

/// Of f0 and f1, the functions of order 0 and 1 of a kind, the derivatives are f0' = -f1, of kind I f1, and f1' = f0 - f1 / x, of
/// kind K -f0 - f1 / x. A factor exp(-|x|) or exp(x) adds the function itself, times the derivative of the exponent.
void bessel_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  std::string other_op = context.node().type();  // such as BesselI0e
  const char kind = other_op[6];
  const bool is_first = other_op[7] == '1', is_scaled = other_op.ends_with('e');
  other_op[7] = is_first ? '0' : '1';
  const Output x = context.input(0), y = context.output(0);
  Output slope = scope.add_one(other_op, {x});
  if (is_first ? kind == 'K' : kind != 'I') slope = neg(scope, slope);
  if (is_first && (kind == 'I' || kind == 'J'))
    slope = sub(scope, slope, ratio_at_zero_too(scope, y, x));
  else if (is_first)
    slope = sub(scope, slope, div(scope, y, x));
  if (is_scaled)
    slope = kind == 'K' ? add(scope, slope, y) : sub(scope, slope, mul(scope, sign(scope, x), y));
  context.set(0, mul(scope, context.gradient(), slope));
}

/// Sets the gradient of input 1 alone: the derivative by input 0 has no closed form.
void set_second(GradientContext& context, Output derivative) {
  const Scope& scope = context.scope();
  context.set(1, summed_to_shape_of(scope, mul(scope, context.gradient(), derivative), context.input(1)));
}

void polygamma_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  set_second(context, polygamma(scope, add(scope, context.input(0), 1), context.input(1)));
}

void zeta_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output x = context.input(0);
  set_second(context, neg(scope, mul(scope, x, zeta(scope, add(scope, x, 1), context.input(1)))));
}

/// The derivative of Igamma by x: the density exp(-x) x^(a - 1) / gamma(a).
Output gamma_density(const Scope& scope, Output a, Output x) {
  const Output log_power = mul(scope, sub(scope, a, 1), log(scope, x));
  return exp(scope, sub(scope, sub(scope, log_power, x), lgamma(scope, a)));
}

void igamma_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output gradient = context.gradient(), a = context.input(0), x = context.input(1);
  set_broadcast_gradients(context, mul(scope, gradient, igamma_grad_a(scope, a, x)),
                          mul(scope, gradient, gamma_density(scope, a, x)));
}

void igammac_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output gradient = neg(scope, context.gradient()), a = context.input(0), x = context.input(1);
  set_broadcast_gradients(context, mul(scope, gradient, igamma_grad_a(scope, a, x)),
                          mul(scope, gradient, gamma_density(scope, a, x)));
}

/// The derivative by x is x^(a - 1) (1 - x)^(b - 1) / B(a, b); those by a and b have no closed form.
void betainc_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output a = context.input(0), b = context.input(1), x = context.input(2);
  const Output log_beta =
      sub(scope, add(scope, lgamma(scope, a), lgamma(scope, b)), lgamma(scope, add(scope, a, b)));
  const Output log_powers = add(scope, mul(scope, sub(scope, b, 1), log1p(scope, neg(scope, x))),
                                mul(scope, sub(scope, a, 1), log(scope, x)));
  const Output density = exp(scope, sub(scope, log_powers, log_beta));
  context.set(2, summed_to_shape_of(scope, mul(scope, context.gradient(), density), x));
}

void next_after_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  set_broadcast_gradients(context, context.gradient(), zeros_like(scope, context.gradient()));
}

// ---- Definitions

constexpr const char* floating = "T: floattype";
constexpr const char* wide_floating = "T: {float, double}";

OpDefBuilder unary_op(const char* name, const char* constructor) {
  return OpDefBuilder(name)
      .input("x: T")
      .output("y: T")
      .attr(floating)
      .constructor(std::string(constructor) + "(x)")
      .shape(unchanged_shape);
}

OpDefBuilder binary_op(const char* name, const char* a, const char* b, const char* types,
                       const char* constructor) {
  return OpDefBuilder(name)
      .input(std::string(a) + ": T")
      .input(std::string(b) + ": T")
      .output("z: T")
      .attr(types)
      .constructor(std::string(constructor) + '(' + a + ", " + b + ')')
      .shape(broadcast_shape);
}

template <class Function>
KernelDef unary(const char* name) {
  return unary_kernel(name, scalar_unary_loop_of<Function, FloatTypes>, Cost::Transcendental);
}
template <class Function>
KernelDef binary(const char* name) {
  return binary_kernel(name, scalar_binary_loop_of<Function, FloatTypes>, Cost::Transcendental);
}

void add_unary(OpLibrary& library) {
  library.op(unary_op("Lgamma", "lgamma").gradient(lgamma_gradient));
  library.kernel(unary<Lgamma>("Lgamma"));
  library.op(unary_op("Digamma", "digamma").gradient(digamma_gradient));
  library.kernel(unary<Digamma>("Digamma"));
  library.op(unary_op("Ndtri", "ndtri").gradient(ndtri_gradient));
  library.kernel(unary<Ndtri>("Ndtri"));
  library.op(unary_op("Erfinv", "erfinv").gradient(erfinv_gradient));
  library.kernel(unary<Erfinv>("Erfinv"));
  library.op(unary_op("Rint", "rint").not_differentiable());
  library.kernel(unary<Rint>("Rint"));
}

template <class Function>
void add_bessel(OpLibrary& library, const char* name, const char* constructor) {
  library.op(unary_op(name, constructor).gradient(bessel_gradient));
  library.kernel(unary<Function>(name));
}

void add_bessel_functions(OpLibrary& library) {
  add_bessel<BesselI0>(library, "BesselI0", "bessel_i0");
  add_bessel<BesselI0e>(library, "BesselI0e", "bessel_i0e");
  add_bessel<BesselI1>(library, "BesselI1", "bessel_i1");
  add_bessel<BesselI1e>(library, "BesselI1e", "bessel_i1e");
  add_bessel<BesselJ0>(library, "BesselJ0", "bessel_j0");
  add_bessel<BesselJ1>(library, "BesselJ1", "bessel_j1");
  add_bessel<BesselK0>(library, "BesselK0", "bessel_k0");
  add_bessel<BesselK0e>(library, "BesselK0e", "bessel_k0e");
  add_bessel<BesselK1>(library, "BesselK1", "bessel_k1");
  add_bessel<BesselK1e>(library, "BesselK1e", "bessel_k1e");
  add_bessel<BesselY0>(library, "BesselY0", "bessel_y0");
  add_bessel<BesselY1>(library, "BesselY1", "bessel_y1");
}

void add_binary(OpLibrary& library) {
  library.op(binary_op("Polygamma", "a", "x", floating, "polygamma").gradient(polygamma_gradient));
  library.kernel(binary<Polygamma>("Polygamma"));
  library.op(binary_op("Zeta", "x", "q", floating, "zeta").gradient(zeta_gradient));
  library.kernel(binary<Zeta>("Zeta"));
  library.op(binary_op("Igamma", "a", "x", floating, "igamma").gradient(igamma_gradient));
  library.kernel(binary<Igamma>("Igamma"));
  library.op(binary_op("Igammac", "a", "x", floating, "igammac").gradient(igammac_gradient));
  library.kernel(binary<Igammac>("Igammac"));
  library.op(binary_op("IgammaGradA", "a", "x", floating, "igamma_grad_a"));
  library.kernel(binary<IgammaGradA>("IgammaGradA"));
  library.op(binary_op("RandomGammaGrad", "alpha", "sample", wide_floating, "random_gamma_grad"));
  library.kernel(binary<RandomGammaGrad>("RandomGammaGrad"));
  library.op(binary_op("NextAfter", "x1", "x2", wide_floating, "next_after").gradient(next_after_gradient));
  library.kernel(binary<NextAfter>("NextAfter"));
}

}  // namespace

Result<BetaincArguments> check_betainc(KernelContext& context) {
  const Tensor* shaped = &context.input(0);
  for (size_t i = 1; i < 3; ++i) {
    const Tensor& input = context.input(i);
    if (input.shape().is_scalar() || input.shape() == shaped->shape()) continue;
    if (!shaped->shape().is_scalar())
      return invalid_argument("a, b and x have the shapes " + context.input(0).shape().text() + ", " +
                              context.input(1).shape().text() + " and " + context.input(2).shape().text() +
                              "; those that are not scalars must have the same shape");
    shaped = &input;
  }
  TROUPE_ASSIGN(Tensor* const z, context.output(0, shaped->shape()));
  return BetaincArguments{context.input(0), context.input(1), context.input(2), *z};
}

void add_special_ops(OpLibrary& library) {
  add_unary(library);
  add_bessel_functions(library);
  add_binary(library);
  library.op(OpDefBuilder("Betainc")
                 .input("a: T")
                 .input("b: T")
                 .input("x: T")
                 .output("z: T")
                 .attr(wide_floating)
                 .constructor("betainc(a, b, x)")
                 .shape(betainc_shape)
                 .gradient(betainc_gradient));
  library.kernel(cpu_kernel("Betainc", check_betainc, compute_betainc).on("T", dtypes(FloatTypes{})));
}

}  // namespace troupe
