// Internal attributes of forward nodes that say something about their gradients.
#pragma once

#include <string_view>

namespace troupe {

/// A bool, true where it is.
/// The gradient of the node is computed on the device that the node requests, and not on that of the scope of gradients(), so
/// that what is large does not travel (features.md P8).
constexpr std::string_view own_gradient_device_attr = "_gradient_on_own_device";
/// A bool, true where it is.
/// No number occurs twice in an output of the node, and so no row of a variable in the gradient of a Gather with these numbers.
constexpr std::string_view distinct_attr = "_distinct";

/// A string: the function that builds the gradient of the node, in place of that of its op (custom_gradients.h). TensorFlow's name.
constexpr std::string_view gradient_function_attr = "_gradient_op_type";

}  // namespace troupe
