// The special functions of elements, which the kernels of CPUs and of GPUs share, and the check of Betainc on the host with the
// arguments that it returns to the compute function of each type of device (kernels/core/checked_kernel.h). T is float or double.
// What each function computes is said in special.cpp. Pure functions; any thread may call them. Files that include this one need
// the definitions that let Eigen call lgamma_r (kernels/CMakeLists.txt).
#pragma once

#include <unsupported/Eigen/SpecialFunctions>

#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/core/checked_kernel.h"
#include "kernels/gpu/any.h"

namespace troupe {

// ---- Functions of x

struct Lgamma {
  template <class T>
  TROUPE_ANY static T apply(T x) {
    return Eigen::numext::lgamma(x);
  }
};
struct Digamma {
  template <class T>
  TROUPE_ANY static T apply(T x) {
    return Eigen::numext::digamma(x);
  }
};
struct Ndtri {
  template <class T>
  TROUPE_ANY static T apply(T x) {
    return x >= 0 && x <= 1 ? Eigen::numext::ndtri(x) : std::numeric_limits<T>::quiet_NaN();
  }
};
struct Erfinv {
  /// erf(z) = 2 P(z sqrt(2)) - 1, where P is the distribution function of the normal distribution.
  template <class T>
  TROUPE_ANY static T apply(T x) {
    return Ndtri::apply((x + T(1)) / T(2)) / std::numbers::sqrt2_v<T>;
  }
};
struct BesselI0 {
  template <class T>
  TROUPE_ANY static T apply(T x) {
    return Eigen::numext::bessel_i0(x);
  }
};
struct BesselI0e {
  template <class T>
  TROUPE_ANY static T apply(T x) {
    return Eigen::numext::bessel_i0e(x);
  }
};
struct BesselI1 {
  template <class T>
  TROUPE_ANY static T apply(T x) {
    return Eigen::numext::bessel_i1(x);
  }
};
struct BesselI1e {
  template <class T>
  TROUPE_ANY static T apply(T x) {
    return Eigen::numext::bessel_i1e(x);
  }
};
struct BesselJ0 {
  template <class T>
  TROUPE_ANY static T apply(T x) {
    return Eigen::numext::bessel_j0(x);
  }
};
struct BesselJ1 {
  template <class T>
  TROUPE_ANY static T apply(T x) {
    return Eigen::numext::bessel_j1(x);
  }
};
struct BesselK0 {
  template <class T>
  TROUPE_ANY static T apply(T x) {
    return Eigen::numext::bessel_k0(x);
  }
};
struct BesselK0e {
  template <class T>
  TROUPE_ANY static T apply(T x) {
    return Eigen::numext::bessel_k0e(x);
  }
};
struct BesselK1 {
  template <class T>
  TROUPE_ANY static T apply(T x) {
    return Eigen::numext::bessel_k1(x);
  }
};
struct BesselK1e {
  template <class T>
  TROUPE_ANY static T apply(T x) {
    return Eigen::numext::bessel_k1e(x);
  }
};
struct BesselY0 {
  template <class T>
  TROUPE_ANY static T apply(T x) {
    return Eigen::numext::bessel_y0(x);
  }
};
struct BesselY1 {
  template <class T>
  TROUPE_ANY static T apply(T x) {
    return Eigen::numext::bessel_y1(x);
  }
};
struct Rint {
  template <class T>
  TROUPE_ANY static T apply(T x) {
    return std::nearbyint(x);
  }
};

// ---- Functions of two elements

struct Polygamma {
  template <class T>
  TROUPE_ANY static T apply(T a, T x) {
    // Eigen computes NaN where x is infinite.
    return x == std::numeric_limits<T>::infinity() && a >= T(1) ? T(0) : Eigen::numext::polygamma(a, x);
  }
};
struct Zeta {
  template <class T>
  TROUPE_ANY static T apply(T x, T q) {
    const T sum = Eigen::numext::zeta(x, q);
    // Where x is so large that Eigen computes NaN, the first term is the sum.
    return std::isnan(sum) && x > T(1) && q > T(0) ? std::pow(q, -x) : sum;
  }
};
struct Igamma {
  template <class T>
  TROUPE_ANY static T apply(T a, T x) {
    return Eigen::numext::igamma(a, x);
  }
};
struct Igammac {
  template <class T>
  TROUPE_ANY static T apply(T a, T x) {
    return Eigen::numext::igammac(a, x);
  }
};
struct IgammaGradA {
  template <class T>
  TROUPE_ANY static T apply(T a, T x) {
    return Eigen::numext::igamma_der_a(a, x);
  }
};
struct RandomGammaGrad {
  template <class T>
  TROUPE_ANY static T apply(T alpha, T sample) {
    return Eigen::numext::gamma_sample_der_alpha(alpha, sample);
  }
};
struct NextAfter {
  template <class T>
  TROUPE_ANY static T apply(T x1, T x2) {
    return std::nextafter(x1, x2);
  }
};

// ---- Betainc

struct Betainc {
  template <class T>
  TROUPE_ANY static T apply(T a, T b, T x) {
    return Eigen::numext::betainc(a, b, x);
  }
};

/// Tensors with the shape of z, and scalars.
struct BetaincArguments {
  const Tensor &a, &b, &x;
  Tensor& z;
};

/// Fails with InvalidArgument if two inputs that are not scalars have different shapes.
Result<BetaincArguments> check_betainc(KernelContext& context);

}  // namespace troupe
