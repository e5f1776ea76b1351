#include "autoencoder.h"

namespace models {

namespace nn = troupe::nn;

Autoencoded autoencoder(const Network& network, Output x, const std::vector<int64_t>& units) {
  const auto layer = [&](Output y, int64_t size, const char* activation) {
    return nn::dense(network, y, {.units = size, .activation = activation});
  };
  Output y = x;
  for (size_t i = 0; i + 1 < units.size(); ++i) y = layer(y, units[i], "sigmoid");
  const Output code = layer(y, units.back(), "linear");
  y = code;
  for (size_t i = units.size() - 1; i-- > 0;) y = layer(y, units[i], "sigmoid");
  return {code, layer(y, network.scope().shape(x)[1], "sigmoid")};
}

}  // namespace models
