#include "graph/ops/partial_shape.h"

#include <algorithm>

namespace troupe {

PartialShape::PartialShape(const Shape& shape)
    : known_rank_(true), dims_(shape.dims().begin(), shape.dims().end()) {}

Result<PartialShape> PartialShape::make(std::vector<int64_t> dims) {
  if (dims.size() > Shape::max_rank)
    return invalid_argument("a shape of rank " + std::to_string(dims.size()) +
                            ": at most 255 dimensions are allowed");
  for (const int64_t dim : dims)
    if (dim < unknown_dim) return invalid_argument("shape " + text_of(dims) + " has a dimension below -1");
  return PartialShape(std::move(dims));
}

bool PartialShape::fully_known() const {
  return known_rank_ && std::find(dims_.begin(), dims_.end(), unknown_dim) == dims_.end();
}

Result<Shape> PartialShape::to_shape(DType dtype) const {
  if (!fully_known()) return invalid_argument("shape " + text() + " is not fully known");
  return Shape::make(dims_, dtype);
}

bool PartialShape::compatible_with(const PartialShape& other) const { return merge(*this, other).ok(); }

std::string PartialShape::text() const {
  if (!known_rank_) return "?";
  std::string out = "[";
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (i != 0) out += ',';
    out += dims_[i] == unknown_dim ? "?" : std::to_string(dims_[i]);
  }
  return out + ']';
}

Result<PartialShape> merge(const PartialShape& a, const PartialShape& b) {
  if (!a.known_rank()) return b;
  if (!b.known_rank()) return a;
  if (a.rank() != b.rank())
    return invalid_argument("shapes " + a.text() + " and " + b.text() + " differ in rank");
  std::vector<int64_t> dims(a.rank());
  for (size_t i = 0; i < dims.size(); ++i) {
    if (a[i] != unknown_dim && b[i] != unknown_dim && a[i] != b[i])
      return invalid_argument("shapes " + a.text() + " and " + b.text() + " differ in dimension " +
                              std::to_string(i));
    dims[i] = std::max(a[i], b[i]);
  }
  return PartialShape(std::move(dims));
}

PartialShape common(const PartialShape& a, const PartialShape& b) {
  if (!a.known_rank() || !b.known_rank() || a.rank() != b.rank()) return {};
  std::vector<int64_t> dims(a.rank());
  for (size_t i = 0; i < dims.size(); ++i) dims[i] = a[i] == b[i] ? a[i] : unknown_dim;
  return PartialShape(std::move(dims));
}

Result<PartialShape> broadcast(const PartialShape& a, const PartialShape& b) {
  if (!a.known_rank() || !b.known_rank()) return PartialShape{};
  const size_t rank = std::max(a.rank(), b.rank());
  std::vector<int64_t> dims(rank);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t x = i + a.rank() < rank ? 1 : a[i + a.rank() - rank];
    const int64_t y = i + b.rank() < rank ? 1 : b[i + b.rank() - rank];
    if (x == y || y == 1)
      dims[i] = x;
    else if (x == 1)
      dims[i] = y;
    else if (x == unknown_dim || y == unknown_dim)
      dims[i] = std::max(x, y);  // the known dimension is above 1, so the other must be 1 or equal to it
    else
      return invalid_argument("shapes " + a.text() + " and " + b.text() + " do not broadcast");
  }
  return PartialShape(std::move(dims));
}

PartialShape concatenate(const PartialShape& a, const PartialShape& b) {
  if (!a.known_rank() || !b.known_rank()) return {};
  std::vector<int64_t> dims(a.dims().begin(), a.dims().end());
  dims.insert(dims.end(), b.dims().begin(), b.dims().end());
  return PartialShape(std::move(dims));
}

}  // namespace troupe
