// Convolutions as matrix products: the elements that each window covers become a row of a matrix. For types and sizes that oneDNN
// does not have. See kernels/loops/convolution.h for the layouts. Pure functions; any thread.
#pragma once

#include "kernels/loops/convolution.h"

namespace troupe {

/// Computes a pass; `a`, `b` and `out` as of ConvolutionPass. T: float, double or int32_t. Fails with ResourceExhausted if there
/// is no memory to work in.
template <class T>
Status column_convolution(DeviceContext& device, ConvolutionPass pass, const ConvolutionSizes& sizes,
                          const T* a, const T* b, T* out);

}  // namespace troupe
