// Values on which ops tend to fail: numbers at the edges of their types, odd shapes, attributes that are almost legal. Pure
// functions of the choices.
#pragma once

#include <span>

#include "graph/ops/op_def.h"
#include "tests/op_fuzz/choices.h"

namespace troupe::fuzz {

/// Tensors take fewer bytes than this.
inline constexpr int64_t tensor_bytes = 64 << 10;

/// Returns a number that is mostly small, or near one of `sizes`, or at the edge of a type.
int64_t random_integer(Choices& choices, std::span<const int64_t> sizes);
double random_number(Choices& choices);
std::string random_text(Choices& choices);
/// Returns any dtype of which tensors exist, or a legal one if the attribute (which may be null) limits them.
DType random_type(Choices& choices, const AttrDef* attr);
/// Returns whether a tensor of this type and shape exists and is small enough.
bool is_small(DType dtype, std::span<const int64_t> dims);
/// Returns a shape of rank 0 to 6 for a small tensor, mostly of the given sizes.
Shape random_shape(Choices& choices, DType dtype, std::span<const int64_t> sizes);
/// Returns a tensor with random elements. Variants are null, and a resource becomes the float that a variable holds.
Tensor random_tensor(Choices& choices, DType dtype, const Shape& shape, std::span<const int64_t> sizes);
/// Sets one element of a plain tensor, or one of strings, that nobody else holds and that has elements.
void set_random_element(Choices& choices, Tensor& tensor, std::span<const int64_t> sizes);
/// Returns another value for an attribute whose value is `value` (null: not set).
AttrValue random_attribute(Choices& choices, const AttrDef& attr, const AttrValue* value,
                           std::span<const int64_t> sizes);

}  // namespace troupe::fuzz
