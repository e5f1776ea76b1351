// Shape: the dimensions of a tensor, made in one checked way (robustness.md R10).
// A Shape's element count is known not to overflow and, with the dtype, to lie under a byte cap. Up to four
// dimensions are stored inline. A plain value; thread rule of a const std::vector.
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
  /// For dimensions that the program writes down: Shape{2, 3}. Throws Error(InvalidArgument) as make() fails.
  Shape(std::initializer_list<int64_t> dims);
  Shape(const Shape& other) { copy(other); }
  Shape(Shape&& other) noexcept { take(other); }  ///< leaves a scalar behind
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

  /// Checks rank, signs, and that the product can be counted: InvalidArgument otherwise. ResourceExhausted when the product times
  /// size_of(dtype) passes byte_cap.
  static Result<Shape> make(std::span<const int64_t> dims, DType dtype, uint64_t byte_cap = default_byte_cap);
  /// Rank 1 of n elements; n must be a size the program already holds.
  static Shape vector(int64_t n) { return {n}; }

  size_t rank() const { return rank_; }
  bool is_scalar() const { return rank_ == 0; }
  int64_t elements() const { return elements_; }
  std::span<const int64_t> dims() const { return {data(), rank_}; }
  int64_t operator[](size_t axis) const { return data()[axis]; }
  /// "[2,3]"; "[]" for a scalar.
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
    dims_ = other.dims_;  // the pointer, too
    elements_ = std::exchange(other.elements_, 1);
    rank_ = std::exchange(other.rank_, uint8_t{0});
  }
  void copy_many(const Shape& other);
  void free_many();

  int64_t elements_ = 1;
  union {
    std::array<int64_t, inline_rank> dims_;  ///< rank <= inline_rank
    int64_t* many_;
  };
  uint8_t rank_ = 0;
};

/// Resolves a possibly negative axis: -1 is the last. InvalidArgument outside [-rank, rank).
Result<size_t> resolve_axis(int64_t axis, size_t rank);

/// "[2,-1,3]"; shared by everything that prints dimensions.
std::string text_of(std::span<const int64_t> dims);
/// The position "[1,2]" of element number `element` of a tensor of this shape, row by row; "[]" for that of a scalar.
std::string position_text(int64_t element, const Shape& shape);

}  // namespace troupe
#pragma GCC visibility pop
