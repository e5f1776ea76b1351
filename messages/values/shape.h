// Shape: the dimensions of a tensor. Every Shape was checked when it was made (robustness.md R10): its number of elements fits an
// int64, and its bytes are below a cap. Up to four dimensions are stored inline. A plain value: threads may share a const Shape.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>

#include "messages/values/dtype.h"
#include "messages/values/status.h"

#pragma GCC visibility push(default)
namespace troupe {

class Shape {
 public:
  static constexpr size_t max_rank = 255;
  static constexpr uint64_t default_byte_cap = uint64_t{1} << 40;

  Shape() : dims_{} {}  ///< a scalar: rank 0, one element
  /// For dimensions written in a program: Shape{2, 3}. Throws Error(InvalidArgument) where make() fails.
  Shape(std::initializer_list<int64_t> dims);
  Shape(const Shape& other) { copy(other); }
  Shape(Shape&& other) noexcept { take(other); }  ///< turns `other` into a scalar
  Shape& operator=(const Shape& other) {
    if (this == &other) return *this;
    if (rank_ > inline_rank) free_many();
    copy(other);
    return *this;
  }
  Shape& operator=(Shape&& other) noexcept {
    if (this == &other) return *this;
    if (rank_ > inline_rank) free_many();
    take(other);
    return *this;
  }
  ~Shape() {
    if (rank_ > inline_rank) free_many();
  }

  /// Makes a shape. Fails with InvalidArgument if there are more than `max_rank` dimensions, one is negative, or the number of
  /// elements exceeds an int64, and with ResourceExhausted if the elements take more than `byte_cap` bytes.
  static Result<Shape> make(std::span<const int64_t> dims, DType dtype, uint64_t byte_cap = default_byte_cap);
  /// Makes a shape of rank 1 with n elements. Throws as the constructor does, so n must not come from outside unchecked.
  static Shape vector(int64_t n) { return {n}; }

  size_t rank() const { return rank_; }
  bool is_scalar() const { return rank_ == 0; }
  int64_t elements() const { return elements_; }
  std::span<const int64_t> dims() const { return {data(), rank_}; }
  int64_t operator[](size_t axis) const { return data()[axis]; }
  /// Returns "[2,3]", or "[]" for a scalar.
  std::string text() const;

  friend bool operator==(const Shape& a, const Shape& b) {
    return a.rank_ == b.rank_ && std::equal(a.data(), a.data() + a.rank_, b.data());
  }

 private:
  static constexpr size_t inline_rank = 4;
  const int64_t* data() const { return rank_ <= inline_rank ? dims_.data() : many_; }
  void assign(std::span<const int64_t> dims, int64_t elements);
  void copy(const Shape& other) {
    if (other.rank_ > inline_rank) return copy_many(other);
    dims_ = other.dims_;
    elements_ = other.elements_;
    rank_ = other.rank_;
  }
  void take(Shape& other) {
    dims_ = other.dims_;  // copies many_ if that is the active member
    elements_ = std::exchange(other.elements_, 1);
    rank_ = std::exchange(other.rank_, uint8_t{0});
  }
  void copy_many(const Shape& other);
  void free_many();

  int64_t elements_ = 1;
  union {
    std::array<int64_t, inline_rank> dims_;  ///< if rank_ <= inline_rank
    int64_t* many_;                          ///< if rank_ > inline_rank: an owned array of rank_ dimensions
  };
  uint8_t rank_ = 0;
};

/// Returns the axis as an index; negative axes count from the end,
/// -1 is the last. Fails with InvalidArgument outside [-rank, rank).
Result<size_t> resolve_axis(int64_t axis, size_t rank);

/// Returns "[2,-1,3]". Everything that prints dimensions uses this form.
std::string text_of(std::span<const int64_t> dims);
/// Returns the position of an element, given its number in row-major order: "[1,2]", or "[]" in a scalar.
std::string position_text(int64_t element, const Shape& shape);

}  // namespace troupe
#pragma GCC visibility pop
