// PartialShape: what is known of a shape while the graph is built: the rank or not, each dimension or not.
// A plain value. Unknown dimensions are written -1 and printed "?".
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "messages/values/shape.h"

#pragma GCC visibility push(default)
namespace troupe {

inline constexpr int64_t unknown_dim = -1;

class PartialShape {
 public:
  PartialShape() = default;  ///< unknown rank
  PartialShape(std::initializer_list<int64_t> dims) : PartialShape(std::vector<int64_t>(dims)) {}
  explicit PartialShape(std::vector<int64_t> dims) : known_rank_(true), dims_(std::move(dims)) {}
  PartialShape(const Shape& shape);  // NOLINT: a known shape is a partial one
  /// Known rank, no known dimension.
  static PartialShape of_rank(size_t rank) { return PartialShape(std::vector<int64_t>(rank, unknown_dim)); }
  static PartialShape scalar() { return PartialShape(std::vector<int64_t>{}); }
  static PartialShape vector(int64_t n) { return PartialShape(std::vector<int64_t>{n}); }
  /// Checks that every dimension is -1 or more and the rank at most 255: for data that others wrote.
  static Result<PartialShape> make(std::vector<int64_t> dims);

  bool known_rank() const { return known_rank_; }
  size_t rank() const { return dims_.size(); }  ///< 0 when the rank is unknown
  bool has_rank(size_t rank) const { return known_rank_ && dims_.size() == rank; }
  std::span<const int64_t> dims() const { return dims_; }
  int64_t operator[](size_t axis) const { return dims_[axis]; }
  bool fully_known() const;
  /// The shape, when fully known; else InvalidArgument.
  Result<Shape> to_shape(DType dtype) const;
  /// Could both describe one tensor?
  bool compatible_with(const PartialShape& other) const;
  std::string text() const;  ///< "?", "[]", "[2,?,3]"

  friend bool operator==(const PartialShape&, const PartialShape&) = default;

 private:
  bool known_rank_ = false;
  std::vector<int64_t> dims_;
};

/// What both say together; InvalidArgument when they contradict each other.
Result<PartialShape> merge(const PartialShape& a, const PartialShape& b);
/// What both have in common: differing ranks -> unknown, differing dims -> unknown dim (features.md B5, Merge).
PartialShape common(const PartialShape& a, const PartialShape& b);
/// NumPy broadcasting; InvalidArgument when two known dims differ and neither is 1.
Result<PartialShape> broadcast(const PartialShape& a, const PartialShape& b);
/// a's dims followed by b's; unknown when either rank is.
PartialShape concatenate(const PartialShape& a, const PartialShape& b);

}  // namespace troupe
#pragma GCC visibility pop
