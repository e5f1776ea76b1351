#include "kernels/broadcast.h"

#include <algorithm>
#include <array>

namespace troupe {
namespace {

/// Dim `i` from the left of a shape padded on the left with ones to `rank`.
int64_t dim(const Shape& shape, size_t i, size_t rank) {
  const size_t missing = rank - shape.rank();
  return i < missing ? 1 : shape[i - missing];
}

Result<Shape> output_shape(const Shape& a, const Shape& b, DType dtype) {
  const size_t rank = std::max(a.rank(), b.rank());
  std::array<int64_t, Shape::max_rank> dims;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t da = dim(a, i, rank), db = dim(b, i, rank);
    if (da != db && da != 1 && db != 1)
      return invalid_argument("shapes " + a.text() + " and " + b.text() + " do not broadcast: dimensions " +
                              std::to_string(da) + " and " + std::to_string(db));
    dims[i] = da == 1 ? db : da;
  }
  return Shape::make({dims.data(), rank}, dtype);
}

}  // namespace

Result<Broadcast> Broadcast::make(const Shape& a, const Shape& b, DType output) {
  Broadcast result;
  TROUPE_ASSIGN(result.shape_, output_shape(a, b, output));
  const size_t rank = result.shape_.rank();
  size_t step_a = 1, step_b = 1;
  // From the innermost axis outwards; one that continues both sides of the last is merged into it.
  ShortList<Axis>& axes = result.axes_;
  for (size_t i = rank; i-- > 0;) {
    const auto da = static_cast<size_t>(dim(a, i, rank)), db = static_cast<size_t>(dim(b, i, rank));
    const auto size = static_cast<size_t>(result.shape_[i]);
    if (size == 1) continue;
    const Axis axis{size, da == 1 ? 0 : step_a, db == 1 ? 0 : step_b};
    step_a *= da;
    step_b *= db;
    const bool continues = !axes.empty() && (axes.back().step_a == 0) == (axis.step_a == 0) &&
                           (axes.back().step_b == 0) == (axis.step_b == 0);
    if (continues)
      axes.back().size *= size;
    else
      axes.push_back(axis);
  }
  if (axes.empty()) axes.push_back(Axis{});
  std::reverse(axes.begin(), axes.end());
  return result;
}

}  // namespace troupe
