// ShortList: a list that needs no heap memory up to eight elements, so that shape arithmetic in kernels allocates nothing for
// usual ranks. Dims is a ShortList of dimensions, strides or axes. Both are plain values; they may be shared between threads
// like a std::vector.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace troupe {

template <class T>
class ShortList {
 public:
  ShortList() = default;
  explicit ShortList(size_t size, T value = {}) : size_(size) {
    if (size > inline_size) many_.resize(size);
    std::fill_n(data(), size, value);
  }
  ShortList(std::span<const T> values) : ShortList(values.size()) {
    std::ranges::copy(values, data());
  }  // NOLINT: converts
  ShortList(std::initializer_list<T> values) : ShortList(std::span(values.begin(), values.size())) {}
  // Copies only elements that are there: the others of few_ would cost more than most kernels' arithmetic on shapes.
  ShortList(const ShortList& other) : size_(other.size_), many_(other.many_) { copy_few(other); }
  ShortList(ShortList&& other) noexcept : size_(other.size_), many_(std::move(other.many_)) {
    copy_few(other);
    other.size_ = 0;
  }
  ShortList& operator=(const ShortList& other) {
    many_ = other.many_;
    size_ = other.size_;
    copy_few(other);
    return *this;
  }
  ShortList& operator=(ShortList&& other) noexcept {
    many_ = std::move(other.many_);
    size_ = other.size_;
    copy_few(other);
    other.size_ = 0;
    return *this;
  }
  ~ShortList() = default;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return size_ <= inline_size ? few_.data() : many_.data(); }
  const T* data() const { return size_ <= inline_size ? few_.data() : many_.data(); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& front() { return data()[0]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void push_back(const T& value) {
    if (size_ == inline_size) many_.assign(few_.begin(), few_.end());
    if (size_ >= inline_size) many_.push_back(value);
    ++size_;
    back() = value;
  }
  void append(std::span<const T> values) {
    for (const T& value : values) push_back(value);
  }
  /// Returns a copy with `value` inserted before position i.
  ShortList with(size_t i, const T& value) const {
    ShortList result(std::span(begin(), i));
    result.push_back(value);
    result.append({begin() + i, end()});
    return result;
  }
  /// Returns a copy without the element at position i.
  ShortList without(size_t i) const {
    ShortList result(std::span(begin(), i));
    result.append({begin() + i + 1, end()});
    return result;
  }

  friend bool operator==(const ShortList& a, const ShortList& b) { return std::ranges::equal(a, b); }

 private:
  static constexpr size_t inline_size = 8;
  void copy_few(const ShortList& other) {
    if (size_ <= inline_size) std::copy_n(other.few_.begin(), size_, few_.begin());
  }

  size_t size_ = 0;
  // The elements, if there are at most inline_size; only the first size_ have values.
  std::array<T, inline_size> few_;
  std::vector<T> many_;  ///< the elements, if there are more than inline_size
};

using Dims = ShortList<int64_t>;

}  // namespace troupe
