// The versions of the ops on TensorArrays, and the gradients of these ops (tensor_arrays.cpp): what an op writes is read from the
// gradient array, and the other way round. Functions without state.
#pragma once

#include <string>
#include <string_view>

#include "graph/build/gradients.h"

namespace troupe {

/// The ops of one version: TensorArrayRead, TensorArrayReadV2 or TensorArrayReadV3, and so on.
struct ArrayVersion {
  std::string_view suffix;
  bool yields_flow = false;  ///< the ops that make an array yield its flow
  std::string op(std::string_view verb) const {
    return "TensorArray" + std::string(verb) + std::string(suffix);
  }
};
inline constexpr ArrayVersion array_versions[] = {{""}, {"V2"}, {"V3", true}};

void array_write_gradient(GradientContext& context);
void array_read_gradient(GradientContext& context);
void array_scatter_gradient(GradientContext& context);
void array_unpack_gradient(GradientContext& context);
void array_gather_gradient(GradientContext& context);
void array_pack_gradient(GradientContext& context);
void array_split_gradient(GradientContext& context);
void array_concat_gradient(GradientContext& context);

}  // namespace troupe
