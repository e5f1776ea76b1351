// Convolutions of float by oneDNN. See kernels/loops/convolution.h for the layouts. Thread-safe.
#pragma once

#include <memory>

#include "kernels/loops/convolution.h"
#include "kernels/loops/kept_filter.h"
#include "kernels/loops/post_ops.h"

namespace troupe {

class DirectConvolution {
 public:
  explicit DirectConvolution(ConvolutionPass pass);
  ~DirectConvolution();

  /// Computes `out`, and applies the post-ops. If `kept` is non-null, it keeps the filter in the layout that the primitives use.
  /// Fails with Unimplemented if oneDNN has no primitive for these sizes, and with ResourceExhausted if there is no memory to
  /// work in.
  Status run(DeviceContext& device, const ConvolutionSizes& sizes, const Tensor& a, const Tensor& b,
             const PostOps& post, float* out, KeptFilter* kept) const;

 private:
  struct Cache;
  const ConvolutionPass pass_;
  const std::unique_ptr<Cache> cache_;
};

}  // namespace troupe
