// Comparison of computed tensors with the expected ones of golden cases (docs/golden.md). Functions without state; any thread.
#pragma once

#include <string>

#include "messages/values/tensor.h"

namespace troupe::golden {

/// Floating point numbers agree if |got - expected| <= absolute + relative * |expected|. For complex numbers this holds for the
/// real and the imaginary part.
struct Tolerance {
  double relative = 0, absolute = 0;
};

/// Returns an empty string if the tensors agree. Otherwise names the first element that differs, its value, the expected value, and
/// the largest errors of all elements. Dtype and shape must be equal, and so must elements that are not floating point numbers. NaN
/// agrees with NaN.
std::string difference(const Tensor& got, const Tensor& expected, const Tolerance& tolerance);

}  // namespace troupe::golden
