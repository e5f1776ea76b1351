#include <algorithm>
#include <limits>

#include "apps/nn/layers.h"
#include "graph/build/call.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

/// Returns a size, or 1 if it is unknown, times a factor. Throws InvalidArgument if the product is too large for an image.
int32_t grown(const Layer& layer, int64_t size, int64_t factor) {
  constexpr int64_t largest = std::numeric_limits<int32_t>::max();
  const int64_t known = size == unknown_dim ? 1 : size;
  if (known > 0 && factor > largest / known)
    layer.fail("size is " + std::to_string(factor) + "; images that are " + std::to_string(known) +
               " wide or high can grow " + std::to_string(largest / known) + "-fold at most");
  return static_cast<int32_t>(known * factor);
}

/// Returns height and width of images whose sizes grow by factors: int32 [2].
Output grown_size(const Layer& layer, Output images, const Pair& factors) {
  const Scope& scope = layer.scope();
  const PartialShape& shape = scope.shape(images);
  if (shape[1] != unknown_dim && shape[2] != unknown_dim)
    return scope.constant(Tensor::vector<int32_t>(
        {grown(layer, shape[1], factors.height), grown(layer, shape[2], factors.width)}));
  const Output both = scope.constant(Tensor::vector<int32_t>(
      {grown(layer, unknown_dim, factors.height), grown(layer, unknown_dim, factors.width)}));
  return mul(scope, slice(scope, troupe::shape(scope, images), {1}, {2}), both);
}

}  // namespace

Output upsample2d(const Network& network, Output x, const Upsample& options) {
  const Layer layer(network, "upsample2d");
  layer.require_rank(x, 4);
  layer.require_positive("size", std::min(options.size.height, options.size.width));
  const Output size = grown_size(layer, x, options.size);
  if (options.method == "nearest") return resize_nearest_neighbor(layer.scope(), x, size, false, true);
  if (options.method == "bilinear") return resize_bilinear(layer.scope(), x, size, false, true);
  layer.fail("method is '" + options.method + "'; it must be \"nearest\" or \"bilinear\"");
}

}  // namespace troupe::nn
