// Layers by name: the layers of apps/nn/layers.h as run files call them, in expressions, "nn.dense(image, units=10)", and in
// the list model.layers, { type = "dense", units = 10 }. Constants and functions without state; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/config/key.h"
#include "apps/nn/network.h"

namespace troupe::config {

/// In expressions, the names of layers begin with this prefix.
inline constexpr std::string_view layer_prefix = "nn.";

/// Returns the rows of the schema for the options of all layers: "model.layers.dense.units" and so on.
std::vector<Key> layer_keys();
/// Returns the names of all layers, losses and metrics: "accuracy|attention|avg_pool2d|...".
std::string layer_names();
/// Returns those of layers alone, which model.layers may have.
std::string listed_layer_names();
const std::vector<std::string>& layer_list();

/// Adds a layer to a network. Its arguments are its inputs, then its options, in the order of layer_keys() or by name. Throws
/// Error(InvalidArgument) if there is no such layer, or an argument is missing, unknown or of a wrong kind, and as the layer does.
Output add_layer(const nn::Network& network, std::string_view layer, const std::vector<Argument>& positional,
                 const NamedArguments& named);

}  // namespace troupe::config
