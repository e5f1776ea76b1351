// Convolutions as matrix products: the elements that each window covers become a row of a matrix. For types and sizes that oneDNN
// does not have. See kernels/loops/convolution.h for the layouts. Pure functions; any thread.
#pragma once

#include "kernels/loops/convolution.h"
#include "kernels/loops/kept_filter.h"
#include "kernels/loops/post_ops.h"

namespace troupe {

/// Computes a pass; `a`, `b` and `out` as of ConvolutionPass. T: float, double or int32_t. Fails with ResourceExhausted if there
/// is no memory to work in.
template <class T>
Status column_convolution(DeviceContext& device, ConvolutionPass pass, const ConvolutionSizes& sizes,
                          const T* a, const T* b, T* out);

/// Returns whether a forward convolution of float is computed fastest as one product of few rows with the filter: whether there
/// are few output positions in all images.
bool panel_convolution_pays(const ConvolutionSizes& sizes);
/// Computes it by panel_gemm(), and applies the post-ops; `kept` keeps the filter. Fails with ResourceExhausted if there is no
/// memory to work in.
Status panel_convolution(DeviceContext& device, const ConvolutionSizes& sizes, const Tensor& images,
                         const Tensor& filter, KeptFilter& kept, const PostOps& post, float* out);

}  // namespace troupe
