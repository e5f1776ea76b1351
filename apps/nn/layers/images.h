// What layers that move a window over images have in common. A function without state; one thread.
#pragma once

#include <string>

#include "apps/nn/layers.h"

namespace troupe::nn {

/// Returns `result`, what windows of an option, such as "kernel", yield of the images `x`. Throws InvalidArgument, which names the
/// layer and the sizes, if nothing is left of an image because the window is larger.
Output with_elements(const Layer& layer, Output x, Output result, const std::string& option,
                     const Pair& window);

}  // namespace troupe::nn
