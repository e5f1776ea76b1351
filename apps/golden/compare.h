// How far what was computed is from what should have been (docs/golden.md). Functions without state; any thread.
#pragma once

#include <string>

#include "messages/values/tensor.h"

namespace troupe::golden {

/// Of floats: |got - expected| <= absolute + relative * |expected|; of complex numbers the same of both parts.
struct Tolerance {
  double relative = 0, absolute = 0;
};

/// Empty when they agree. Else the first element that does not, what it is and should be, and the largest errors of all. Dtype and
/// shape must be equal, and so must everything that is not floating; NaN agrees with NaN.
std::string difference(const Tensor& got, const Tensor& expected, const Tolerance& tolerance);

}  // namespace troupe::golden
