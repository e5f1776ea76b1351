// Strides: where the elements of several tensors ("sides") lie while a kernel of a GPU walks over one shape. Axes that continue
// each other in all sides are merged, so that most walks are one or two axes deep. A plain value, which a kernel gets as a
// parameter.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "kernels/core/dims.h"
#include "kernels/gpu/divider.h"
#include "kernels/loops/broadcast.h"
#include "messages/values/status.h"

namespace troupe::gpu {

template <size_t Sides>
class Strides {
 public:
  static constexpr size_t max_axes = 8;
  /// One offset or step for each side, in elements.
  struct Offsets {
    ptrdiff_t at[Sides];
  };
  struct Axis {
    size_t size = 1;
    std::array<ptrdiff_t, Sides> steps{};  ///< 0 for a side that repeats along this axis
  };

  Strides() = default;
  /// For sides that are contiguous.
  static Strides dense(size_t n) {
    Strides result;
    Axis axis{n, {}};
    axis.steps.fill(1);
    result.set(0, axis);
    return result;
  }
  /// Takes the axes outermost first. Fails with Unimplemented if more than max_axes are left after merging.
  static Result<Strides> make(std::span<const Axis> axes);
  static Result<Strides> make(const Broadcast<Sides>& broadcast);

  /// Returns the offsets of element i of the shape.
  TROUPE_ANY Offsets operator()(size_t i) const {
    Offsets offsets{};
    for (unsigned axis = rank_; axis-- > 1;) {
      const size_t outer = sizes_[axis].quotient(i);
      add(offsets, axis, i - outer * sizes_[axis].divisor());
      i = outer;
    }
    add(offsets, 0, i);
    return offsets;
  }
  TROUPE_ANY unsigned rank() const { return rank_; }
  TROUPE_ANY size_t inner_size() const { return sizes_[rank_ - 1].divisor(); }
  TROUPE_ANY ptrdiff_t inner_step(size_t side) const { return steps_[rank_ - 1].at[side]; }
  /// Returns whether `width` neighbouring elements, counted from a multiple of `width` on, always lie on one line of the innermost
  /// axis, and at a multiple of `width` in each side in which the line is contiguous.
  bool in_lines_of(size_t width) const {
    if (rank_ > 1 && inner_size() % width != 0) return false;
    for (size_t side = 0; side < Sides; ++side) {
      if (inner_step(side) == 0) continue;
      if (inner_step(side) != 1) return false;
      for (unsigned axis = 0; axis + 1 < rank_; ++axis)
        if (steps_[axis].at[side] % static_cast<ptrdiff_t>(width) != 0) return false;
    }
    return true;
  }

 private:
  TROUPE_ANY void add(Offsets& offsets, unsigned axis, size_t index) const {
    for (size_t side = 0; side < Sides; ++side)
      offsets.at[side] += static_cast<ptrdiff_t>(index) * steps_[axis].at[side];
  }
  void set(unsigned i, const Axis& axis) {
    sizes_[i] = Divider(axis.size == 0 ? 1 : axis.size);
    for (size_t side = 0; side < Sides; ++side) steps_[i].at[side] = axis.steps[side];
  }

  unsigned rank_ = 1;
  Divider sizes_[max_axes];
  Offsets steps_[max_axes] = {};
};

/// Merges axes, outermost first, that continue each other in all sides, and leaves out those of size 1.
template <size_t Sides>
ShortList<typename Strides<Sides>::Axis> merged(std::span<const typename Strides<Sides>::Axis> axes) {
  ShortList<typename Strides<Sides>::Axis> result;
  for (const auto& axis : axes) {
    if (axis.size == 1) continue;
    bool continues = !result.empty();
    for (size_t side = 0; continues && side < Sides; ++side)
      continues = result.back().steps[side] == axis.steps[side] * static_cast<ptrdiff_t>(axis.size);
    if (continues) {
      result.back().size *= axis.size;
      result.back().steps = axis.steps;
    } else {
      result.push_back(axis);
    }
  }
  if (result.empty()) result.push_back({});
  return result;
}

template <size_t Sides>
Result<Strides<Sides>> Strides<Sides>::make(std::span<const Axis> axes) {
  const auto few = merged<Sides>(axes);
  if (few.size() > max_axes)
    return unimplemented("the shapes need " + std::to_string(few.size()) +
                         " axes, kernels of GPUs have at most " + std::to_string(max_axes));
  Strides result;
  result.rank_ = static_cast<unsigned>(few.size());
  for (unsigned i = 0; i < result.rank_; ++i) result.set(i, few[i]);
  return result;
}

template <size_t Sides>
Result<Strides<Sides>> Strides<Sides>::make(const Broadcast<Sides>& broadcast) {
  ShortList<Axis> axes;
  for (const auto& [size, steps] : broadcast.axes()) {
    Axis axis{size, {}};
    for (size_t side = 0; side < Sides; ++side) axis.steps[side] = static_cast<ptrdiff_t>(steps[side]);
    axes.push_back(axis);
  }
  return make(std::span<const Axis>(axes.data(), axes.size()));
}

}  // namespace troupe::gpu
