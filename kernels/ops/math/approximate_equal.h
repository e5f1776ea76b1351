// ApproximateEqual: the check on the host, the arguments that it returns to the compute function of each type of device
// (kernels/core/checked_kernel.h), and the comparison. Any thread may call the functions.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/core/checked_kernel.h"
#include "kernels/gpu/any.h"

namespace troupe {

/// z[i] = |x[i] - y[i]| < tolerance.
struct ApproximateEqualArguments {
  const Tensor &x, &y;
  Tensor& z;
  float tolerance;
};

/// Fails with InvalidArgument unless the shapes are equal.
Result<ApproximateEqualArguments> check_approximate_equal(KernelContext& context);

/// Returns whether |x - y| < tolerance; of unsigned integers the distance without wrapping around.
template <class T>
TROUPE_ANY bool is_near(T x, T y, float tolerance) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<float>(x < y ? uint64_t(y) - uint64_t(x) : uint64_t(x) - uint64_t(y)) < tolerance;
  else
    return std::abs(x - y) < static_cast<double>(tolerance);
}

}  // namespace troupe
