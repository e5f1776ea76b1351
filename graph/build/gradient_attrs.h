// Internal attributes of forward nodes that say something about their gradients. Bools that are true where they are.
#pragma once

#include <string_view>

namespace troupe {

/// The gradient of the node is computed on the device that the node requests, and not on that of the scope of gradients(), so
/// that what is large does not travel (features.md P8).
constexpr std::string_view own_gradient_device_attr = "_gradient_on_own_device";
/// No number occurs twice in an output of the node, and so no row of a variable in the gradient of a Gather with these numbers.
constexpr std::string_view distinct_attr = "_distinct";

}  // namespace troupe
