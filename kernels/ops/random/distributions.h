// What ops share whose distributions have parameters for each element: they draw in double, and read and write the types of the op.
// Pure functions; any thread may call them.
#pragma once

#include <cmath>
#include <limits>

#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {

using SampledTypes = TypeList<Half, float, double, int32_t, int64_t>;

/// The cost of drawing a number, in bytes moved (parallel_items).
inline constexpr size_t cost_of_draw = 1024;

template <class T>
double number(T value) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<double>(value);
  else
    return double{static_cast<float>(value)};
}

/// Returns the number in type T: of integers the greatest if it is too large, and 0 if it is NaN.
template <class T>
T rounded(double value) {
  if constexpr (std::is_integral_v<T>)
    return value >= static_cast<double>(std::numeric_limits<T>::max()) ? std::numeric_limits<T>::max()
           : std::isnan(value)                                         ? T{0}
                                                                       : static_cast<T>(value);
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(value);
  else
    return T(static_cast<float>(value));
}

/// Returns the parameter of a batch: the tensor has one number, or one for each batch.
template <class T>
double parameter(const Tensor& tensor, size_t batch) {
  return number(tensor.as<T>()[tensor.elements() == 1 ? 0 : batch]);
}

/// Fails with InvalidArgument unless the inputs after the first are scalars, or vectors of one element or of one for each batch.
/// The batch is dimension 0 of the output, whose dimensions are `dims`; there must be one.
Status check_batch_parameters(const KernelContext& context, std::span<const int64_t> dims);

/// A shape function: the output has the shape whose dimensions are the elements of input 0. Fails with InvalidArgument if another
/// input is known to be neither a scalar nor a vector.
Status batched_shape(ShapeContext& context);

/// Returns the logarithm of the factorial of a whole number; unlike std::lgamma, writes no global variable.
inline double log_factorial(double number) {
  int sign = 0;
  return lgamma_r(number + 1, &sign);
}

}  // namespace troupe
