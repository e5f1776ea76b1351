// PartialShape: what is known about a shape while the graph is built. The rank may be unknown,
// and each dimension. A plain value. Unknown dimensions are written as -1 and printed as "?".
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
  /// Returns a shape of known rank in which every dimension is unknown.
  static PartialShape of_rank(size_t rank) { return PartialShape(std::vector<int64_t>(rank, unknown_dim)); }
  static PartialShape scalar() { return PartialShape(std::vector<int64_t>{}); }
  static PartialShape vector(int64_t n) { return PartialShape(std::vector<int64_t>{n}); }
  /// For dimensions from outside. Fails with InvalidArgument if a dimension is below -1 or there are more than 255.
  static Result<PartialShape> make(std::vector<int64_t> dims);

  bool known_rank() const { return known_rank_; }
  size_t rank() const { return dims_.size(); }  ///< 0 if the rank is unknown
  bool has_rank(size_t rank) const { return known_rank_ && dims_.size() == rank; }
  std::span<const int64_t> dims() const { return dims_; }
  int64_t operator[](size_t axis) const { return dims_[axis]; }
  bool fully_known() const;
  /// Returns the shape if it is fully known. Fails with InvalidArgument if it is not, and as Shape::make() does.
  Result<Shape> to_shape(DType dtype) const;
  /// Returns true if one tensor can have both shapes.
  bool compatible_with(const PartialShape& other) const;
  std::string text() const;  ///< "?", "[]", "[2,?,3]"

  friend bool operator==(const PartialShape&, const PartialShape&) = default;

 private:
  bool known_rank_ = false;
  std::vector<int64_t> dims_;
};

/// Returns the combined knowledge of two shapes. Fails with InvalidArgument if they contradict each other.
Result<PartialShape> merge(const PartialShape& a, const PartialShape& b);
/// Returns what two shapes have in common: different ranks give an unknown
/// rank, different dimensions an unknown one (features.md B5, Merge).
PartialShape common(const PartialShape& a, const PartialShape& b);
/// Returns the shape after NumPy broadcasting. Fails with InvalidArgument if two known dimensions differ and neither is 1.
Result<PartialShape> broadcast(const PartialShape& a, const PartialShape& b);
/// Returns a's dimensions followed by b's. The result is unknown if either rank is.
PartialShape concatenate(const PartialShape& a, const PartialShape& b);

}  // namespace troupe
#pragma GCC visibility pop
