// Transposition on GPUs through shared memory, so that both reading and writing are coalesced: for copies of boxes in which one
// axis is contiguous where it is read and another where it is written. Any thread may call these functions.
#pragma once

#include <algorithm>
#include <optional>

#include "kernels/gpu/launch.h"
#include "kernels/gpu/strides.h"
#include "kernels/loops/strided_copy.h"

namespace troupe::gpu {

/// A box of matrices: element (x, y) of a matrix is read at x + y * from_step and written at x * to_step + y.
struct Transposition {
  size_t size_x, size_y;
  ptrdiff_t from_step, to_step;
  Strides<2> matrices;
  size_t count = 1;  ///< the number of matrices
};

/// Returns how the box is copied in tiles; nothing if another copy is as good.
inline std::optional<Transposition> transposition_of(const BoxCopy& box) {
  constexpr int64_t least = 8;
  const BoxCopy::Axis *x = nullptr, *y = nullptr;
  for (const auto& axis : box.axes) {
    if (axis.size < least) continue;
    if (axis.from == 1 && axis.to != 1) x = &axis;
    if (axis.to == 1 && axis.from != 1) y = &axis;
  }
  if (!x || !y) return std::nullopt;
  Transposition result{static_cast<size_t>(x->size), static_cast<size_t>(y->size), y->from, x->to, {}};
  ShortList<Strides<2>::Axis> others;
  for (const auto& axis : box.axes) {
    if (&axis == x || &axis == y) continue;
    others.push_back({static_cast<size_t>(axis.size), {axis.from, axis.to}});
    result.count *= static_cast<size_t>(axis.size);
  }
  auto strides = Strides<2>::make({others.data(), others.size()});
  if (!strides) return std::nullopt;
  result.matrices = *strides;
  return result;
}

namespace detail {

inline constexpr size_t tile = 32;  ///< the width and height of what a block transposes at a time

/// The tiles of all matrices.
struct Tiles {
  Transposition box;
  Divider along_x, along_y;

  explicit Tiles(const Transposition& from)
      : box(from), along_x((from.size_x + tile - 1) / tile), along_y((from.size_y + tile - 1) / tile) {}
  size_t count() const { return box.count * along_x.divisor() * along_y.divisor(); }
};

#if defined(__CUDACC__)
constexpr unsigned tile_rows = threads_per_block / tile;

template <class T>
__global__ void __launch_bounds__(threads_per_block) transpose_tiles(Tiles tiles, const T* from, T* to) {
  __shared__ T part[tile][tile + 1];  // the odd width keeps columns in different banks
  const unsigned column = threadIdx.x % tile, row = threadIdx.x / tile;
  const size_t n = tiles.box.count * tiles.along_x.divisor() * tiles.along_y.divisor();
  for (size_t t = blockIdx.x; t < n; t += gridDim.x) {
    const size_t lines = tiles.along_x.quotient(t), x0 = (t - lines * tiles.along_x.divisor()) * tile;
    const size_t matrix = tiles.along_y.quotient(lines),
                 y0 = (lines - matrix * tiles.along_y.divisor()) * tile;
    const auto offsets = tiles.box.matrices(matrix);
    const T* const source = from + offsets.at[0];
    T* const target = to + offsets.at[1];
    for (unsigned k = row; k < tile; k += tile_rows)
      if (x0 + column < tiles.box.size_x && y0 + k < tiles.box.size_y)
        part[k][column] = source[static_cast<ptrdiff_t>(y0 + k) * tiles.box.from_step +
                                 static_cast<ptrdiff_t>(x0 + column)];
    __syncthreads();
    for (unsigned k = row; k < tile; k += tile_rows)
      if (x0 + k < tiles.box.size_x && y0 + column < tiles.box.size_y)
        target[static_cast<ptrdiff_t>(x0 + k) * tiles.box.to_step + static_cast<ptrdiff_t>(y0 + column)] =
            part[column][k];
    __syncthreads();
  }
}
#endif

}  // namespace detail

template <class T>
Status transpose(DeviceContext& device, const Transposition& box, const T* from, T* to) {
#if defined(__CUDACC__)
  if (GpuQueue* const queue = device.queue()) {
    const detail::Tiles tiles(box);
    const auto grid = static_cast<unsigned>(std::min<size_t>(tiles.count(), queue->max_blocks()));
    detail::
        transpose_tiles<<<grid, detail::threads_per_block, 0, static_cast<cudaStream_t>(queue->stream())>>>(
            tiles, from, to);
    return queue->launched();
  }
#endif
  return on_host(device, [=] {
    for (size_t i = 0; i < box.count; ++i) {
      const auto offsets = box.matrices(i);
      for (size_t x = 0; x < box.size_x; ++x)
        for (size_t y = 0; y < box.size_y; ++y)
          to[offsets.at[1] + static_cast<ptrdiff_t>(x) * box.to_step + static_cast<ptrdiff_t>(y)] =
              from[offsets.at[0] + static_cast<ptrdiff_t>(y) * box.from_step + static_cast<ptrdiff_t>(x)];
    }
  });
}

}  // namespace troupe::gpu
