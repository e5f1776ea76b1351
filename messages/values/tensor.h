// Tensor: a typed, dense, row-major array over a shared Buffer. Copies share the buffer; the
// bytes of a shared tensor are immutable, and write() is for the one who just allocated it
// or holds it alone (unique()). A tensor may lie in device memory, be in an opaque layout
// between kernels that declare it, and be still in the making: whoever touches the bytes on
// the host waits for completion() first. Default constructed it holds nothing (Invalid).
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "messages/values/buffer.h"
#include "messages/values/completion.h"
#include "messages/values/dtype.h"
#include "messages/values/shape.h"

#pragma GCC visibility push(default)
namespace troupe {

class Tensor {
 public:
  Tensor() = default;
  /// A view of `shape` elements of `dtype` starting `offset` bytes
  /// into the buffer, which must be large enough (asserted).
  Tensor(DType dtype, Shape shape, BufferRef buffer, size_t offset = 0);

  /// Uninitialised memory for plain types; empty strings for String, null for Variant. ResourceExhausted as the allocator says.
  static Result<Tensor> allocate(DType dtype, const Shape& shape, Allocator& allocator = heap_allocator());
  /// The same in place; it holds nothing when that fails.
  Status reallocate(DType dtype, const Shape& shape, Allocator& allocator);
  /// A scalar holding `value`, on the heap.
  template <class T>
  static Tensor scalar(const T& value) {
    return of<T>(Shape{}, std::span<const T>(&value, 1));
  }
  /// A heap tensor with these elements, row by row: Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}). Throws
  /// Error(InvalidArgument) when they are not as many as the shape says.
  template <class T>
  static Tensor of(const Shape& shape, std::span<const T> values);
  template <class T>
  static Tensor of(const Shape& shape, std::initializer_list<T> values) {
    return of<T>(shape, std::span<const T>(values.begin(), values.size()));
  }
  /// Rank 1.
  template <class T>
  static Tensor vector(std::span<const T> values) {
    return of<T>(Shape::vector(static_cast<int64_t>(values.size())), values);
  }
  template <class T>
  static Tensor vector(std::initializer_list<T> values) {
    return vector<T>(std::span<const T>(values.begin(), values.size()));
  }

  /// Holds nothing afterwards.
  void reset() {
    buffer_ = {};
    shape_ = {};
    completion_ = {};
    offset_ = 0;
    dtype_ = DType::Invalid;
    layout_ = 0;
  }

  bool valid() const { return static_cast<bool>(buffer_); }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t elements() const { return shape_.elements(); }
  /// Bytes of the elements in memory.
  size_t bytes() const { return static_cast<size_t>(shape_.elements()) * size_of(dtype_); }
  /// 0: row-major. Other tags are private to the kernels that declare them.
  uint8_t layout() const { return layout_; }
  void set_layout(uint8_t layout) { layout_ = layout; }
  const Completion& completion() const { return completion_; }
  void set_completion(Completion completion) { completion_ = std::move(completion); }
  MemoryKind memory() const { return buffer_ ? buffer_->kind : MemoryKind::Host; }
  const BufferRef& buffer() const { return buffer_; }
  /// Nobody else refers to the buffer, so its bytes may be overwritten.
  bool unique() const { return buffer_.unique(); }
  bool shares_buffer_with(const Tensor& other) const { return buffer_.get() == other.buffer_.get(); }

  /// The elements. Throws Error(InvalidArgument) when they are of another type.
  template <class T>
  std::span<const T> as() const {
    require(dtype_of<T>);
    return {reinterpret_cast<const T*>(data()), static_cast<size_t>(elements())};
  }
  template <class T>
  std::span<T> write() {
    require(dtype_of<T>);
    return {reinterpret_cast<T*>(mutable_data()), static_cast<size_t>(elements())};
  }
  /// The one element of a tensor that has only one; throws Error(InvalidArgument) when it has none or more.
  template <class T>
  T item() const {
    const std::span<const T> values = as<T>();
    if (values.size() != 1) fail("has " + std::to_string(values.size()) + " elements, not one");
    return values[0];
  }
  const std::byte* data() const { return buffer_ ? buffer_->data + offset_ : nullptr; }
  std::byte* mutable_data() { return buffer_ ? buffer_->data + offset_ : nullptr; }

  /// The same elements under another shape (asserted: equal count); shares the buffer.
  Tensor reshaped(const Shape& shape) const;
  /// Rows [begin, end) of the first dimension; shares the buffer.
  /// Rank >= 1 and 0 <= begin <= end <= shape()[0] (asserted).
  Tensor rows(int64_t begin, int64_t end) const;
  /// "float[2,3]".
  std::string signature() const;

 private:
  void require(DType dtype) const {
    if (dtype_ != dtype) fail("is not of type " + std::string(name(dtype)));
  }
  [[noreturn]] void fail(const std::string& what) const;

  BufferRef buffer_;
  size_t offset_ = 0;
  Shape shape_;
  Completion completion_;
  DType dtype_ = DType::Invalid;
  uint8_t layout_ = 0;
};

template <class T>
Tensor Tensor::of(const Shape& shape, std::span<const T> values) {
  Tensor tensor = value_or_throw(allocate(dtype_of<T>, shape));
  if (values.size() != tensor.as<T>().size())
    tensor.fail("cannot be made of " + std::to_string(values.size()) + " elements");
  std::copy(values.begin(), values.end(), tensor.write<T>().begin());
  return tensor;
}

/// Bitwise equality of dtype, shape and elements (so NaN equals the same NaN; variants when they are the same object). Host, row-major tensors only.
bool identical(const Tensor& a, const Tensor& b);

}  // namespace troupe
#pragma GCC visibility pop
