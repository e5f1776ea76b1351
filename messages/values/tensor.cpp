#include "messages/values/tensor.h"

#include <algorithm>
#include <memory>

#include "messages/values/object_buffer.h"

namespace troupe {
Tensor::Tensor(DType dtype, Shape shape, BufferRef buffer, size_t offset)
    : buffer_(std::move(buffer)), offset_(offset), shape_(std::move(shape)), dtype_(dtype) {
  assert(buffer_ && offset_ + bytes() <= buffer_->bytes);
}

Result<Tensor> Tensor::allocate(DType dtype, const Shape& shape, Allocator& allocator) {
  Tensor tensor;
  TROUPE_RETURN_IF_FAILED(tensor.reallocate(dtype, shape, allocator));
  return tensor;
}

Status Tensor::reallocate(DType dtype, const Shape& shape, Allocator& allocator) {
  reset();
  if (dtype == DType::String) {
    TROUPE_ASSIGN(buffer_, allocate_objects<std::string>(static_cast<size_t>(shape.elements()), allocator));
  } else if (dtype == DType::Variant) {
    TROUPE_ASSIGN(buffer_, allocate_objects<Variant>(static_cast<size_t>(shape.elements()), allocator));
  } else if (!is_plain(dtype)) {
    return invalid_argument("a tensor of dtype " + std::string(name(dtype)) + " cannot be allocated");
  } else {
    size_t bytes = 0;
    if (__builtin_mul_overflow(static_cast<size_t>(shape.elements()), size_of(dtype), &bytes))
      return resource_exhausted("a tensor " + std::string(name(dtype)) + shape.text() +
                                " exceeds the address space");
    TROUPE_ASSIGN(buffer_, allocator.allocate(bytes));
  }
  shape_ = shape;
  dtype_ = dtype;
  return {};
}

Tensor Tensor::reshaped(const Shape& shape) const {
  if (shape.elements() != elements()) fail("cannot have the shape " + shape.text());
  Tensor view = *this;
  view.shape_ = shape;
  return view;
}

Tensor Tensor::rows(int64_t begin, int64_t end) const {
  if (shape_.rank() == 0 || begin < 0 || begin > end || end > shape_[0])
    fail("has no rows " + std::to_string(begin) + " to " + std::to_string(end));
  std::vector<int64_t> dims(shape_.dims().begin(), shape_.dims().end());
  dims[0] = end - begin;
  auto shape = Shape::make(dims, dtype_, INT64_MAX);
  assert(shape.ok());
  const size_t row = shape_[0] == 0 ? 0 : bytes() / static_cast<size_t>(shape_[0]);
  Tensor view = *this;
  view.shape_ = std::move(shape).value();
  view.offset_ += static_cast<size_t>(begin) * row;
  return view;
}

Tensor Tensor::copy() const {
  if (!valid()) fail("without elements cannot be copied");
  if (memory() == MemoryKind::Device) fail("is not in the memory of the host");
  Tensor copy = value_or_throw(allocate(dtype_, shape_));
  copy.layout_ = layout_;
  if (dtype_ == DType::String) {
    std::ranges::copy(as<std::string>(), copy.write<std::string>().begin());
  } else if (dtype_ == DType::Variant) {
    for (const Variant& variant : as<Variant>())
      if (variant) fail("holds an object that cannot be copied");
  } else if (bytes() > 0) {
    std::memcpy(copy.mutable_data(), data(), bytes());
  }
  return copy;
}

void Tensor::fail(const std::string& what) const {
  throw Error(invalid_argument("a tensor " + signature() + ' ' + what));
}

std::string Tensor::signature() const { return std::string(name(dtype_)) + shape_.text(); }

bool identical(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  if (!a.valid()) return true;
  if (a.dtype() == DType::String) {
    const auto x = a.as<std::string>(), y = b.as<std::string>();
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  }
  return a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

}  // namespace troupe
