#include "messages/values/shape.h"

#include <algorithm>

namespace troupe {

void Shape::copy_many(const Shape& other) {
  rank_ = 0;  // so that the shape is a valid scalar if `new` throws
  many_ = new int64_t[other.rank_];
  std::copy_n(other.many_, other.rank_, many_);
  elements_ = other.elements_;
  rank_ = other.rank_;
}

void Shape::free_many() { delete[] many_; }

// Sets the dimensions of a shape that is a scalar until now.
void Shape::assign(std::span<const int64_t> dims, int64_t elements) {
  int64_t* to = dims_.data();
  if (dims.size() > inline_rank) to = many_ = new int64_t[dims.size()];
  std::copy(dims.begin(), dims.end(), to);
  rank_ = static_cast<uint8_t>(dims.size());
  elements_ = elements;
}

Result<Shape> Shape::make(std::span<const int64_t> dims, DType dtype, uint64_t byte_cap) {
  if (dims.size() > max_rank)
    return invalid_argument("a shape of rank " + std::to_string(dims.size()) +
                            ": at most 255 dimensions are allowed");
  // The product leaves out zeros, which would hide an overflow: strides are computed from the other dimensions.
  uint64_t nonzero = 1;
  bool empty = false;
  for (const int64_t dim : dims) {
    if (dim < 0) return invalid_argument("shape " + text_of(dims) + " has a negative dimension");
    if (dim == 0)
      empty = true;
    else if (__builtin_mul_overflow(nonzero, static_cast<uint64_t>(dim), &nonzero) || nonzero > INT64_MAX)
      return invalid_argument("shape " + text_of(dims) + " of " + std::string(name(dtype)) +
                              " has more than 2^63 - 1 elements");
  }
  if (nonzero > byte_cap / std::max<uint64_t>(size_of(dtype), 1))
    return resource_exhausted("shape " + text_of(dims) + " of " + std::string(name(dtype)) +
                              " needs more than " + std::to_string(byte_cap) + " bytes");
  Shape shape;
  shape.assign(dims, empty ? 0 : static_cast<int64_t>(nonzero));
  return shape;
}

Shape::Shape(std::initializer_list<int64_t> dims)
    : Shape(value_or_throw(make({dims.begin(), dims.size()}, DType::UInt8, INT64_MAX))) {}

std::string Shape::text() const { return text_of(dims()); }

Result<size_t> resolve_axis(int64_t axis, size_t rank) {
  if (rank == 0) return invalid_argument("a scalar has no axis " + std::to_string(axis));
  const auto signed_rank = static_cast<int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank)
    return invalid_argument("axis " + std::to_string(axis) + " is outside [-" + std::to_string(rank) + ", " +
                            std::to_string(rank) + ")");
  return static_cast<size_t>(axis < 0 ? axis + signed_rank : axis);
}

std::string text_of(std::span<const int64_t> dims) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i != 0) out += ',';
    out += std::to_string(dims[i]);
  }
  return out + ']';
}

std::string position_text(int64_t element, const Shape& shape) {
  std::string text;
  for (size_t axis = shape.rank(); axis-- > 0; element /= shape[axis])
    text.insert(0, std::to_string(element % shape[axis]) + (text.empty() ? "" : ","));
  return '[' + text + ']';
}

}  // namespace troupe
