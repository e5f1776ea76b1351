#include "kernels/loops/broadcast.h"

#include <algorithm>

namespace troupe {
namespace {

using Side = std::span<const int64_t>;

/// Returns dimension `i` from the left of a side that is padded on the left with ones to `rank`.
int64_t dim(Side side, size_t i, size_t rank) {
  const size_t missing = rank - side.size();
  return i < missing ? 1 : side[i - missing];
}

std::string text_of_sides(std::span<const Side> sides) {
  std::string text;
  for (size_t i = 0; i < sides.size(); ++i)
    text += (i == 0 ? "" : i + 1 == sides.size() ? " and " : ", ") + text_of(sides[i]);
  return text;
}

Result<Shape> output_shape(std::span<const Side> sides, DType dtype) {
  size_t rank = 0;
  for (const Side side : sides) rank = std::max(rank, side.size());
  std::array<int64_t, Shape::max_rank> dims;
  for (size_t i = 0; i < rank; ++i) {
    dims[i] = 1;
    for (const Side side : sides) {
      const int64_t other = dim(side, i, rank);
      if (other != dims[i] && other != 1 && dims[i] != 1)
        return invalid_argument("shapes " + text_of_sides(sides) + " do not broadcast: dimensions " +
                                std::to_string(dims[i]) + " and " + std::to_string(other) +
                                " differ and neither is 1");
      if (dims[i] == 1) dims[i] = other;
    }
  }
  return Shape::make({dims.data(), rank}, dtype);
}

/// Returns whether both axes repeat the same sides.
template <class Steps>
bool alike(const Steps& a, const Steps& b) {
  return std::ranges::equal(a, b, [](size_t x, size_t y) { return (x == 0) == (y == 0); });
}

}  // namespace

template <size_t Sides>
Result<Broadcast<Sides>> Broadcast<Sides>::make(const std::array<Side, Sides>& sides, DType output) {
  Broadcast result;
  TROUPE_ASSIGN(result.shape_, output_shape(sides, output));
  const size_t rank = result.shape_.rank();
  Offsets steps;
  steps.fill(1);
  // Goes from the innermost axis outwards; an axis that continues the last one in all sides is merged with it.
  ShortList<Axis>& axes = result.axes_;
  for (size_t i = rank; i-- > 0;) {
    const auto size = static_cast<size_t>(result.shape_[i]);
    if (size == 1) continue;
    Axis axis{size, {}};
    for (size_t side = 0; side < Sides; ++side) {
      const auto own = static_cast<size_t>(dim(sides[side], i, rank));
      axis.steps[side] = own == 1 ? 0 : steps[side];
      steps[side] *= own;
    }
    if (!axes.empty() && alike(axes.back().steps, axis.steps))
      axes.back().size *= size;
    else
      axes.push_back(axis);
  }
  if (axes.empty()) axes.push_back(Axis{});
  std::reverse(axes.begin(), axes.end());
  return result;
}

template class Broadcast<2>;
template class Broadcast<3>;

}  // namespace troupe
