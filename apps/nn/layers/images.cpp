#include "apps/nn/layers/images.h"

namespace troupe::nn {
namespace {

std::string size_text(int64_t size) { return size == unknown_dim ? "?" : std::to_string(size); }

/// Returns "8 x 8" for images.
std::string size_of_images(const PartialShape& images) {
  return size_text(images.dims()[1]) + " x " + size_text(images.dims()[2]);
}

}  // namespace

Output with_elements(const Layer& layer, Output x, Output result, const std::string& option,
                     const Pair& window) {
  const PartialShape before = layer.scope().shape(x), after = layer.scope().shape(result);
  if (!before.known_rank() || !after.known_rank()) return result;
  for (const size_t axis : {size_t{1}, size_t{2}})
    if (after.dims()[axis] == 0 && before.dims()[axis] != 0)
      layer.fail(option + " is " + std::to_string(window.height) + " x " + std::to_string(window.width) +
                 ", which is more than the " + size_of_images(before) + " of an image: a result of " +
                 size_of_images(after) + " would be left; take a smaller one, or padding \"SAME\"");
  return result;
}

}  // namespace troupe::nn
