// Convolutions of float by oneDNN. See kernels/loops/convolution.h for the layouts. Thread-safe.
#pragma once

#include <memory>

#include "kernels/loops/convolution.h"

namespace troupe {

class DirectConvolution {
 public:
  explicit DirectConvolution(ConvolutionPass pass);
  ~DirectConvolution();

  /// Computes `out`. Fails with Unimplemented if oneDNN has no primitive for these sizes, and with ResourceExhausted if there is no
  /// memory to work in.
  Status run(DeviceContext& device, const ConvolutionSizes& sizes, const float* a, const float* b,
             float* out) const;

 private:
  struct Cache;
  const ConvolutionPass pass_;
  const std::unique_ptr<Cache> cache_;
};

}  // namespace troupe
