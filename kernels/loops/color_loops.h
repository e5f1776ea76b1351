// Loops over pixels of three channels, which lie interleaved, in the vector instructions of the processor. A loop computes the same
// bits for a pixel wherever it is in the array. Plain functions; any thread may call them. Both arrays may be the same memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "messages/values/dtype.h"

namespace troupe {

/// kernels/ops/images/colors.cpp says what they compute.
enum class ColorFunction : uint8_t { HsvOfRgb, RgbOfHsv, TurnHue, ScaleSaturation };

using ColorLoop = void (*)(const void* from, void* to, size_t pixels, double amount);
/// Returns the loop for float or double.
ColorLoop color_loop(ColorFunction function, DType dtype);

}  // namespace troupe
