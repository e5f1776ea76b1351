// Functions of one, two and three elements, for elementwise kernels of GPUs. T is float or double: narrow types are computed in
// float. They agree with the CPU's (kernels/loops/vector_unary.cpp, vector_binary.cpp), NaN included, but for rounding. The
// gradient functions take the arguments of the op of their name (kernels/ops/nn/activations.cpp). Pure functions. This file becomes
// part of sources that are compiled at run time (kernels/gpu/compiled.h).
#pragma once

#include "kernels/gpu/any.h"
#include "kernels/gpu/math_names.h"
#include "kernels/loops/selu.h"

namespace troupe::gpu {

// ---- Functions of x

struct Neg {
  TROUPE_ANY auto operator()(auto x) const { return -x; }
};
struct Square {
  TROUPE_ANY auto operator()(auto x) const { return x * x; }
};
struct Abs {
  TROUPE_ANY auto operator()(auto x) const { return std::fabs(x); }
};
struct Sign {
  template <class T>
  TROUPE_ANY T operator()(T x) const {
    return x != x ? x : static_cast<T>((x > 0) - (x < 0));
  }
};
struct Sqrt {
  TROUPE_ANY auto operator()(auto x) const { return std::sqrt(x); }
};
struct Rsqrt {
  TROUPE_ANY auto operator()(auto x) const { return 1 / std::sqrt(x); }
};
struct Reciprocal {
  TROUPE_ANY auto operator()(auto x) const { return 1 / x; }
};
struct Exp {
  TROUPE_ANY auto operator()(auto x) const { return std::exp(x); }
};
struct Expm1 {
  TROUPE_ANY auto operator()(auto x) const { return std::expm1(x); }
};
struct Log {
  TROUPE_ANY auto operator()(auto x) const { return std::log(x); }
};
struct Log1p {
  TROUPE_ANY auto operator()(auto x) const { return std::log1p(x); }
};
struct Erf {
  TROUPE_ANY auto operator()(auto x) const { return std::erf(x); }
};
struct Erfc {
  TROUPE_ANY auto operator()(auto x) const { return std::erfc(x); }
};
struct Floor {
  TROUPE_ANY auto operator()(auto x) const { return std::floor(x); }
};
struct Ceil {
  TROUPE_ANY auto operator()(auto x) const { return std::ceil(x); }
};
struct Round {  // halves to even
  TROUPE_ANY auto operator()(auto x) const { return std::rint(x); }
};
struct Sin {
  TROUPE_ANY auto operator()(auto x) const { return std::sin(x); }
};
struct Cos {
  TROUPE_ANY auto operator()(auto x) const { return std::cos(x); }
};
struct Tan {
  TROUPE_ANY auto operator()(auto x) const { return std::tan(x); }
};
struct Asin {
  TROUPE_ANY auto operator()(auto x) const { return std::asin(x); }
};
struct Acos {
  TROUPE_ANY auto operator()(auto x) const { return std::acos(x); }
};
struct Atan {
  TROUPE_ANY auto operator()(auto x) const { return std::atan(x); }
};
struct Sinh {
  TROUPE_ANY auto operator()(auto x) const { return std::sinh(x); }
};
struct Cosh {
  TROUPE_ANY auto operator()(auto x) const { return std::cosh(x); }
};
struct Tanh {
  TROUPE_ANY auto operator()(auto x) const { return std::tanh(x); }
};
struct Asinh {
  TROUPE_ANY auto operator()(auto x) const { return std::asinh(x); }
};
struct Acosh {
  TROUPE_ANY auto operator()(auto x) const { return std::acosh(x); }
};
struct Atanh {
  TROUPE_ANY auto operator()(auto x) const { return std::atanh(x); }
};
struct Sigmoid {  // through exp(-|x|), which never overflows
  template <class T>
  TROUPE_ANY T operator()(T x) const {
    const T e = std::exp(-std::fabs(x));
    return (x < 0 ? e : T(1)) / (1 + e);
  }
};
struct Relu {
  template <class T>
  TROUPE_ANY T operator()(T x) const {
    return x < 0 ? T(0) : x;
  }
};
struct Relu6 {
  template <class T>
  TROUPE_ANY T operator()(T x) const {
    return x < 0 ? T(0) : x > 6 ? T(6) : x;
  }
};
struct Elu {
  TROUPE_ANY auto operator()(auto x) const { return x < 0 ? std::expm1(x) : x; }
};
struct Selu {
  template <class T>
  TROUPE_ANY T operator()(T x) const {
    return x < 0 ? T(selu_scale_alpha) * std::expm1(x) : T(selu_scale) * x;
  }
};
struct Softplus {
  template <class T>
  TROUPE_ANY T operator()(T x) const {
    return Relu()(x) + std::log1p(std::exp(-std::fabs(x)));
  }
};
struct Softsign {
  TROUPE_ANY auto operator()(auto x) const { return x / (1 + std::fabs(x)); }
};

// ---- Gradients as functions of y and dy, or of dy and x

struct SqrtGrad {
  template <class T>
  TROUPE_ANY T operator()(T y, T dy) const {
    return dy == T(0) ? T(0) : T(0.5) * dy / y;
  }
};
struct RsqrtGrad {
  template <class T>
  TROUPE_ANY T operator()(T y, T dy) const {
    return dy == T(0) ? T(0) : T(-0.5) * dy * (y * (y * y));
  }
};
struct ReciprocalGrad {
  template <class T>
  TROUPE_ANY T operator()(T y, T dy) const {
    return dy == T(0) ? T(0) : -dy * (y * y);
  }
};
struct SigmoidGrad {
  TROUPE_ANY auto operator()(auto y, auto dy) const { return dy * (y * (1 - y)); }
};
struct TanhGrad {
  TROUPE_ANY auto operator()(auto y, auto dy) const { return dy * (1 - y * y); }
};
struct ReluGrad {
  template <class T>
  TROUPE_ANY T operator()(T dy, T x) const {
    return x > 0 ? dy : T(0);
  }
};
struct Relu6Grad {
  template <class T>
  TROUPE_ANY T operator()(T dy, T x) const {
    return x > 0 && x < 6 ? dy : T(0);
  }
};
struct EluGrad {
  TROUPE_ANY auto operator()(auto dy, auto y) const { return y < 0 ? dy * (y + 1) : dy; }
};
struct SeluGrad {
  template <class T>
  TROUPE_ANY T operator()(T dy, T y) const {
    return dy * (y < 0 ? y + T(selu_scale_alpha) : T(selu_scale));
  }
};
struct SoftplusGrad {
  TROUPE_ANY auto operator()(auto dy, auto x) const { return dy * Sigmoid()(x); }
};
struct SoftsignGrad {
  template <class T>
  TROUPE_ANY T operator()(T dy, T x) const {
    const T distance = 1 + std::fabs(x);
    return dy / (distance * distance);
  }
};

// ---- Functions of a and b

struct Add {
  TROUPE_ANY auto operator()(auto a, auto b) const { return a + b; }
};
struct Sub {
  TROUPE_ANY auto operator()(auto a, auto b) const { return a - b; }
};
struct Mul {
  TROUPE_ANY auto operator()(auto a, auto b) const { return a * b; }
};
struct Div {
  TROUPE_ANY auto operator()(auto a, auto b) const { return a / b; }
};
struct DivNoNan {
  template <class T>
  TROUPE_ANY T operator()(T a, T b) const {
    return b == 0 ? T(0) : a / b;
  }
};
struct TruncateDiv {
  TROUPE_ANY auto operator()(auto a, auto b) const { return std::trunc(a / b); }
};
struct FloorDiv {
  TROUPE_ANY auto operator()(auto a, auto b) const { return std::floor(a / b); }
};
struct Mod {  // with the sign of a
  TROUPE_ANY auto operator()(auto a, auto b) const { return std::fmod(a, b); }
};
struct FloorMod {  // with the sign of b
  template <class T>
  TROUPE_ANY T operator()(T a, T b) const {
    const T rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
};
struct Maximum {  // NaN if either is
  TROUPE_ANY auto operator()(auto a, auto b) const { return a != a || a > b ? a : b; }
};
struct Minimum {  // NaN if either is
  TROUPE_ANY auto operator()(auto a, auto b) const { return a != a || a < b ? a : b; }
};
struct Pow {
  TROUPE_ANY auto operator()(auto a, auto b) const { return std::pow(a, b); }
};
struct Atan2 {
  TROUPE_ANY auto operator()(auto a, auto b) const { return std::atan2(a, b); }
};
struct SquaredDifference {
  TROUPE_ANY auto operator()(auto a, auto b) const { return (a - b) * (a - b); }
};
struct MulNoNan {
  template <class T>
  TROUPE_ANY T operator()(T a, T b) const {
    return b == 0 ? T(0) : a * b;
  }
};
struct Xdivy {
  template <class T>
  TROUPE_ANY T operator()(T a, T b) const {
    return a == 0 ? T(0) : a / b;
  }
};
struct Xlogy {
  template <class T>
  TROUPE_ANY T operator()(T a, T b) const {
    return a == 0 ? T(0) : a * std::log(b);
  }
};
struct Xlog1py {
  template <class T>
  TROUPE_ANY T operator()(T a, T b) const {
    return a == 0 ? T(0) : a * std::log1p(b);
  }
};

// ---- Predicates

struct IsNan {
  TROUPE_ANY bool operator()(auto x) const { return x != x; }
};
struct IsInf {
  TROUPE_ANY bool operator()(auto x) const { return std::fabs(x) == INFINITY; }
};
struct IsFinite {
  TROUPE_ANY bool operator()(auto x) const { return std::fabs(x) < INFINITY; }
};
struct Equal {
  TROUPE_ANY bool operator()(auto a, auto b) const { return a == b; }
};
struct NotEqual {
  TROUPE_ANY bool operator()(auto a, auto b) const { return a != b; }
};
struct Less {
  TROUPE_ANY bool operator()(auto a, auto b) const { return a < b; }
};
struct LessEqual {
  TROUPE_ANY bool operator()(auto a, auto b) const { return a <= b; }
};
struct Greater {
  TROUPE_ANY bool operator()(auto a, auto b) const { return a > b; }
};
struct GreaterEqual {
  TROUPE_ANY bool operator()(auto a, auto b) const { return a >= b; }
};
struct And {
  TROUPE_ANY bool operator()(bool a, bool b) const { return a && b; }
};
struct Or {
  TROUPE_ANY bool operator()(bool a, bool b) const { return a || b; }
};
struct Not {
  TROUPE_ANY bool operator()(bool x) const { return !x; }
};

// ---- Functions of three elements

struct Choose {
  template <class T>
  TROUPE_ANY T operator()(bool condition, T a, T b) const {
    return condition ? a : b;
  }
};
struct Clip {  // a NaN among the limits sets no limit
  template <class T>
  TROUPE_ANY T operator()(T x, T low, T high) const {
    const T below = high < x ? high : x;
    return below < low ? low : below;
  }
};

}  // namespace troupe::gpu
