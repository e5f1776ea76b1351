// Tensor: a typed, dense array in row-major order. Copies share one Buffer, so the bytes of a shared tensor are immutable: only the
// sole holder of a tensor (unique()) may call write(); others write to a copy(). A tensor may lie in device memory, may have a
// layout private to certain kernels, and may still be under computation: code that touches its bytes on the host waits for
// completion() first. A default constructed Tensor is not valid(), and one that has been moved from equals it.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <utility>
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
  Tensor(const Tensor&) = default;
  Tensor& operator=(const Tensor&) = default;
  Tensor(Tensor&& other) noexcept
      : buffer_(std::move(other.buffer_)), offset_(std::exchange(other.offset_, 0)),
        shape_(std::move(other.shape_)), completion_(std::move(other.completion_)),
        dtype_(std::exchange(other.dtype_, DType::Invalid)),
        layout_(std::exchange(other.layout_, uint8_t{0})) {}
  Tensor& operator=(Tensor&& other) noexcept {
    buffer_ = std::move(other.buffer_);
    offset_ = std::exchange(other.offset_, 0);
    shape_ = std::move(other.shape_);
    completion_ = std::move(other.completion_);
    dtype_ = std::exchange(other.dtype_, DType::Invalid);
    layout_ = std::exchange(other.layout_, uint8_t{0});
    return *this;
  }
  ~Tensor() = default;
  /// Makes a view of the elements that start `offset` bytes into the buffer, which must be large enough (asserted).
  Tensor(DType dtype, Shape shape, BufferRef buffer, size_t offset = 0);

  /// Allocates a tensor. Elements of plain types are uninitialised, strings are empty, variants are null. Fails with
  /// ResourceExhausted if the allocator does, and with InvalidArgument for Invalid and Resource.
  static Result<Tensor> allocate(DType dtype, const Shape& shape, Allocator& allocator = heap_allocator());
  /// Does the same in place. After a failure this tensor is not valid().
  Status reallocate(DType dtype, const Shape& shape, Allocator& allocator);
  /// Returns a scalar, on the heap.
  template <class T>
  static Tensor scalar(const T& value) {
    return of<T>(Shape{}, std::span<const T>(&value, 1));
  }
  /// Returns a tensor on the heap with these elements in row-major order: Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}). Throws
  /// Error(InvalidArgument) if their number differs from that of the shape.
  template <class T>
  static Tensor of(const Shape& shape, std::span<const T> values);
  template <class T>
  static Tensor of(const Shape& shape, std::initializer_list<T> values) {
    return of<T>(shape, std::span<const T>(values.begin(), values.size()));
  }
  /// Returns a tensor of rank 1, on the heap.
  template <class T>
  static Tensor vector(std::span<const T> values) {
    return of<T>(Shape::vector(static_cast<int64_t>(values.size())), values);
  }
  template <class T>
  static Tensor vector(std::initializer_list<T> values) {
    return vector<T>(std::span<const T>(values.begin(), values.size()));
  }

  /// Drops the buffer. Afterwards this tensor is not valid().
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
  /// The size of the elements in memory, in bytes.
  size_t bytes() const { return static_cast<size_t>(shape_.elements()) * size_of(dtype_); }
  /// 0 means row-major. Other values are private to the kernels that declare them.
  uint8_t layout() const { return layout_; }
  void set_layout(uint8_t layout) { layout_ = layout; }
  const Completion& completion() const { return completion_; }
  void set_completion(Completion completion) { completion_ = std::move(completion); }
  MemoryKind memory() const { return buffer_ ? buffer_->kind : MemoryKind::Host; }
  const BufferRef& buffer() const { return buffer_; }
  /// Returns true if no other tensor refers to the buffer, so that its bytes may be overwritten.
  bool unique() const { return buffer_.unique(); }
  bool shares_buffer_with(const Tensor& other) const { return buffer_.get() == other.buffer_.get(); }

  /// Return the elements. Throw Error(InvalidArgument) if T is not their type.
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
  /// Returns the only element. Throws Error(InvalidArgument) if there is not exactly one, or T is not its type.
  template <class T>
  T item() const {
    const std::span<const T> values = as<T>();
    if (values.size() != 1) fail("has " + std::to_string(values.size()) + " elements, not one");
    return values[0];
  }
  const std::byte* data() const { return buffer_ ? buffer_->data + offset_ : nullptr; }
  std::byte* mutable_data() { return buffer_ ? buffer_->data + offset_ : nullptr; }

  /// Returns the same elements with another shape, and the same buffer. Throws Error(InvalidArgument) if their numbers differ.
  Tensor reshaped(const Shape& shape) const;
  /// Returns rows [begin, end) of the first dimension, with the same buffer. Throws Error(InvalidArgument) unless rank >= 1 and
  /// 0 <= begin <= end <= shape()[0].
  Tensor rows(int64_t begin, int64_t end) const;
  /// Returns a tensor on the heap with a copy of the elements. Throws Error: InvalidArgument if this tensor is not valid, not on
  /// the host, or holds a variant that is not null; ResourceExhausted if there is no memory.
  Tensor copy() const;
  /// Returns dtype and shape: "float[2,3]".
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

/// Returns true if dtype, shape and all bits of the elements are equal. So a NaN equals the same NaN, and variants are equal if
/// they are the same object. Only for row-major tensors on the host.
bool identical(const Tensor& a, const Tensor& b);

}  // namespace troupe
#pragma GCC visibility pop
