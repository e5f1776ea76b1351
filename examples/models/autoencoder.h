// An autoencoder of dense layers.
#pragma once

#include <troupe/troupe.h>

#include <vector>

namespace models {

using troupe::Output;
using troupe::nn::Network;

struct Autoencoded {
  Output code;            ///< [n, the last of `units`]
  Output reconstruction;  ///< [n, features], in (0, 1)
};
/// Encodes rows x [n, features] by layers of the given numbers of units, and decodes them by the same layers in reverse
/// (Hinton and Salakhutdinov 2006, without pretraining). The code is linear, all other layers are sigmoids.
Autoencoded autoencoder(const Network& network, Output x, const std::vector<int64_t>& units);

}  // namespace models
