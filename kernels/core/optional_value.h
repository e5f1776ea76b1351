// OptionalValue: the value of a variant in which graphs of TensorFlow 2 pass on what a branch may or may not have computed
// (kernels/ops/control/optionals.cpp). A plain value; immutable once made.
#pragma once

#include <vector>

#include "kernels/core/kernel.h"

namespace troupe {

class OptionalValue final : public VariantValue {
 public:
  static constexpr int64_t max_levels = 64;  ///< the maximum nesting of optionals and lists in each other

  /// Without components there is no value.
  explicit OptionalValue(std::vector<Tensor> given);

  const std::vector<Tensor> components;
  const int64_t levels;  ///< the nesting: 1 if no component is an optional or a list
};

/// Returns the optional in a scalar variant, or null if it holds something else.
const OptionalValue* find_optional(const Tensor& tensor);

/// Returns the nesting of the optionals and lists in a tensor; 0 if it is neither.
int64_t nesting_of(const Tensor& tensor);

}  // namespace troupe
