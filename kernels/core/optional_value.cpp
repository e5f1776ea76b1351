#include "kernels/core/optional_value.h"

#include <algorithm>

#include "kernels/core/tensor_list.h"

namespace troupe {
namespace {

int64_t levels_over(const std::vector<Tensor>& components) {
  int64_t levels = 0;
  for (const Tensor& component : components) levels = std::max(levels, nesting_of(component));
  return levels + 1;
}

}  // namespace

OptionalValue::OptionalValue(std::vector<Tensor> given)
    : components(std::move(given)), levels(levels_over(components)) {}

const OptionalValue* find_optional(const Tensor& tensor) {
  const bool is_one = tensor.valid() && tensor.dtype() == DType::Variant && tensor.elements() == 1;
  return is_one ? dynamic_cast<const OptionalValue*>(tensor.as<Variant>()[0].get()) : nullptr;
}

int64_t nesting_of(const Tensor& tensor) {
  if (!tensor.valid() || tensor.dtype() != DType::Variant) return 0;
  int64_t levels = 0;
  for (const Variant& value : tensor.as<Variant>()) {
    if (const auto* list = dynamic_cast<const TensorList*>(value.get()))
      levels = std::max(levels, list->levels());
    if (const auto* optional = dynamic_cast<const OptionalValue*>(value.get()))
      levels = std::max(levels, optional->levels);
  }
  return levels;
}

}  // namespace troupe
