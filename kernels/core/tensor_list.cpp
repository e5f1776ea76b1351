#include "kernels/core/tensor_list.h"

#include <algorithm>

#include "kernels/core/optional_value.h"

namespace troupe {

Status TensorList::check(const Tensor& element) const {
  if (element.dtype() != dtype)
    return invalid_argument("the element is " + std::string(name(element.dtype())) +
                            ", but the list holds elements of " + std::string(name(dtype)));
  if (!element_shape.compatible_with(element.shape()))
    return invalid_argument("the element has shape " + element.shape().text() +
                            ", but the elements of the list must have shape " + element_shape.text());
  if (nesting_of(element) >= max_levels)
    return invalid_argument("lists in lists can be nested at most " + std::to_string(max_levels) +
                            " levels deep");
  return {};
}

void TensorList::push(Tensor element) {
  levels_ = std::max(levels_, nesting_of(element) + 1);
  elements.push_back(std::move(element));
}

void TensorList::set(size_t index, Tensor element) {
  levels_ = std::max(levels_, nesting_of(element) + 1);
  elements[index] = std::move(element);
}

Status TensorList::resize(int64_t size) {
  if (size < 0) return invalid_argument("a list cannot have " + std::to_string(size) + " elements");
  if (size > max_elements)
    return resource_exhausted("a list has at most " + std::to_string(max_elements) + " elements; " +
                              std::to_string(size) + " were requested");
  elements.resize(static_cast<size_t>(size));
  return {};
}

Result<Shape> TensorList::shape_of_unset(const PartialShape& requested) const {
  TROUPE_ASSIGN(const PartialShape shape, common_shape(requested));
  if (!shape.fully_known())
    return invalid_argument("the element was never set, and the shape of its zeros is not fully known: " +
                            shape.text());
  return shape.to_shape(dtype);
}

Result<PartialShape> TensorList::common_shape(const PartialShape& requested) const {
  TROUPE_ASSIGN(PartialShape shape, merge(requested, element_shape));
  for (const Tensor& element : elements)
    if (element.valid()) {
      TROUPE_ASSIGN(shape, merge(shape, element.shape()));
    }
  return shape;
}

Result<const TensorList*> list_in(const Tensor& handle) {
  const bool is_one = handle.dtype() == DType::Variant && handle.elements() == 1;
  const auto* list = is_one ? dynamic_cast<const TensorList*>(handle.as<Variant>()[0].get()) : nullptr;
  if (!list) return invalid_argument("the input is not the handle of a list of tensors");
  return list;
}

Result<const TensorList*> list_in(const Tensor& handle, DType dtype) {
  TROUPE_ASSIGN(const TensorList* const list, list_in(handle));
  if (list->dtype != dtype)
    return invalid_argument("the list holds elements of " + std::string(name(list->dtype)) +
                            ", but element_dtype is " + std::string(name(dtype)));
  return list;
}

}  // namespace troupe
