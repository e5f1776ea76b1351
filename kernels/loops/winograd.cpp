#include "kernels/loops/winograd.h"

#include <algorithm>

#include "kernels/loops/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/loops/winograd.cpp"
#include <hwy/foreach_target.h>

#include "kernels/loops/panels-inl.h"
#include "kernels/loops/post_ops-inl.h"

// What all targets share.
#ifndef TROUPE_WINOGRAD_SHARED
#define TROUPE_WINOGRAD_SHARED
namespace troupe {
namespace {

constexpr int64_t points = 36;  // the products of a tile, 6 x 6
constexpr int64_t tile = 4;     // output elements of a tile in each direction

/// The distance of the matrices of neighbouring points. Their elements are used together, so they must not all fall into the same
/// sets of a cache, as they would at a distance of a power of two.
constexpr int64_t point_stride(int64_t elements) { return elements + 16; }

/// Images cut into tiles.
struct Tiles {
  explicit Tiles(const WinogradSizes& s)
      : sizes(s), down((s.out_height + tile - 1) / tile), across((s.out_width + tile - 1) / tile),
        count(s.batch * down * across) {}

  const WinogradSizes& sizes;
  int64_t down, across, count;
};

/// Where a tile lies.
struct TilePlace {
  TilePlace(const Tiles& tiles, int64_t number)
      : image(number / (tiles.down * tiles.across)), row(number / tiles.across % tiles.down * tile),
        column(number % tiles.across * tile) {}
  int64_t image, row, column;  // the first output element
};

}  // namespace
}  // namespace troupe
#endif

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {

HWY_INLINE V times(float factor, V v) { return hn::Mul(hn::Set(Wide(), factor), v); }
HWY_INLINE V plus_times(V sum, float factor, V v) { return hn::MulAdd(hn::Set(Wide(), factor), v, sum); }

// The transforms of one line, with the interpolation points 0, 1, -1, 2, -2 and infinity.

/// Of an input line of 6.
HWY_INLINE void transform_input(const V (&d)[6], V (&t)[6]) {
  const V even = plus_times(d[4], -4, d[2]), odd = plus_times(d[3], -4, d[1]);
  const V near_even = hn::Sub(d[4], d[2]), near_odd = times(2, hn::Sub(d[3], d[1]));
  t[0] = plus_times(plus_times(d[4], 4, d[0]), -5, d[2]);
  t[1] = hn::Add(even, odd);
  t[2] = hn::Sub(even, odd);
  t[3] = hn::Add(near_even, near_odd);
  t[4] = hn::Sub(near_even, near_odd);
  t[5] = plus_times(plus_times(d[5], 4, d[1]), -5, d[3]);
}

/// Of the 6 products of a line: its 4 outputs.
HWY_INLINE void transform_products(const V (&m)[6], V (&y)[4]) {
  const V sum = hn::Add(m[1], m[2]), difference = hn::Sub(m[1], m[2]);
  const V far_sum = hn::Add(m[3], m[4]), far_difference = hn::Sub(m[3], m[4]);
  y[0] = hn::Add(hn::Add(m[0], sum), far_sum);
  y[1] = plus_times(difference, 2, far_difference);
  y[2] = plus_times(sum, 4, far_sum);
  y[3] = hn::Add(plus_times(difference, 8, far_difference), m[5]);
}

/// The transposed of transform_products: from a line of 4 output gradients to 6.
HWY_INLINE void transform_gradients(const V (&y)[4], V (&t)[6]) {
  const V even = hn::Add(y[0], y[2]), odd = hn::Add(y[1], y[3]);
  const V far_even = plus_times(y[0], 4, y[2]), far_odd = times(2, plus_times(y[1], 4, y[3]));
  t[0] = y[0];
  t[1] = hn::Add(even, odd);
  t[2] = hn::Sub(even, odd);
  t[3] = hn::Add(far_even, far_odd);
  t[4] = hn::Sub(far_even, far_odd);
  t[5] = y[3];
}

/// Of a filter line of 3.
HWY_INLINE void transform_filter(const V (&g)[3], V (&t)[6]) {
  const V ends = times(-1.0f / 6, hn::Add(g[0], g[2])), middle = times(-1.0f / 6, g[1]);
  const V far_ends = plus_times(times(1.0f / 24, g[0]), 1.0f / 6, g[2]), far_middle = times(1.0f / 12, g[1]);
  t[0] = times(0.25f, g[0]);
  t[1] = hn::Add(ends, middle);
  t[2] = hn::Sub(ends, middle);
  t[3] = hn::Add(far_ends, far_middle);
  t[4] = hn::Sub(far_ends, far_middle);
  t[5] = g[2];
}

/// The transposed of transform_filter: from 6 sums of products to a filter line of 3.
HWY_INLINE void transform_sums(const V (&u)[6], V (&g)[3]) {
  const V sum = hn::Add(u[1], u[2]), difference = hn::Sub(u[1], u[2]);
  const V far_sum = hn::Add(u[3], u[4]), far_difference = hn::Sub(u[3], u[4]);
  g[0] = plus_times(plus_times(times(0.25f, u[0]), -1.0f / 6, sum), 1.0f / 24, far_sum);
  g[1] = plus_times(times(-1.0f / 6, difference), 1.0f / 12, far_difference);
  g[2] = hn::Add(plus_times(times(-1.0f / 6, sum), 1.0f / 6, far_sum), u[5]);
}

/// Applies a transform of lines to the columns and then to the rows of a square.
template <int From, int To, class Transform, class Load, class Store>
HWY_INLINE void transform_square(const Transform& transform, const Load& load, const Store& store) {
  V between[From][To];
  for (int j = 0; j < From; ++j) {
    V line[From];
    for (int i = 0; i < From; ++i) line[i] = load(i, j);
    transform(line, between[j]);
  }
  for (int i = 0; i < To; ++i) {
    V line[From], result[To];
    for (int j = 0; j < From; ++j) line[j] = between[j][i];
    transform(line, result);
    for (int j = 0; j < To; ++j) store(i, j, result[j]);
  }
}

/// The tiles [begin, end) of the images: point p of tile t in row t - begin of matrix p, which has `stride` elements.
void load_tiles(const Tiles& tiles, const float* images, int64_t begin, int64_t end, float* to,
                int64_t stride) {
  const WinogradSizes& s = tiles.sizes;
  alignas(64) static constexpr float zeros[winograd_channels] = {};
  for (int64_t number = begin; number < end; ++number, to += s.in_channels) {
    const TilePlace place(tiles, number);
    const float* from[6][6];
    bool inside[6][6];
    for (int64_t i = 0; i < 6; ++i)
      for (int64_t j = 0; j < 6; ++j) {
        const int64_t y = place.row + i - s.pad_top, x = place.column + j - s.pad_left;
        inside[i][j] = y >= 0 && y < s.height && x >= 0 && x < s.width;
        from[i][j] =
            inside[i][j] ? images + ((place.image * s.height + y) * s.width + x) * s.in_channels : zeros;
      }
    for (int64_t c = 0; c < s.in_channels; c += lanes)
      transform_square<6, 6>(
          [](const V(&line)[6], V(&result)[6]) HWY_ATTR { transform_input(line, result); },
          [&](int i, int j) HWY_ATTR { return hn::LoadU(Wide(), from[i][j] + (inside[i][j] ? c : 0)); },
          [&](int i, int j, V v) HWY_ATTR { hn::StoreU(v, Wide(), to + (i * 6 + j) * stride + c); });
  }
}

/// The outputs of the tiles [begin, end) from their products: point p of a tile lies in matrix p, which has `stride` elements.
/// Applies the post-ops.
void store_tiles(const Tiles& tiles, const float* products, int64_t stride, int64_t begin, int64_t end,
                 const PostOps& post, float* output) {
  const WinogradSizes& s = tiles.sizes;
  for (int64_t number = begin; number < end; ++number, products += s.out_channels) {
    const TilePlace place(tiles, number);
    const int64_t rows = std::min(tile, s.out_height - place.row),
                  columns = std::min(tile, s.out_width - place.column);
    const int64_t to =
        ((place.image * s.out_height + place.row) * s.out_width + place.column) * s.out_channels;
    for (int64_t c = 0; c < s.out_channels; c += lanes)
      transform_square<6, 4>(
          [](const V(&line)[6], V(&result)[4]) HWY_ATTR { transform_products(line, result); },
          [&](int i, int j) HWY_ATTR { return hn::LoadU(Wide(), products + (i * 6 + j) * stride + c); },
          [&](int i, int j, V v) HWY_ATTR {
            if (i >= rows || j >= columns) return;
            const int64_t element = to + (i * s.out_width + j) * s.out_channels + c;
            hn::StoreU(with_post_ops(post, Wide(), v, c, element), Wide(), output + element);
          });
  }
}

/// The filter, of `rows` input channels from `first` on, in panels: point p in matrix p.
void load_filter(const float* filter, const MatrixSize& shape, bool adjoint, int64_t begin, int64_t end,
                 float* to) {
  const int64_t stride = point_stride(shape.rows * shape.columns);
  alignas(64) float gathered[9 * lanes];
  for (int64_t row = begin; row < end; ++row)
    for (int64_t column = 0; column < shape.columns; column += lanes) {
      float* const at = to + panel_offset(shape, row, column);
      const float* from = filter + row * shape.columns + column;
      int64_t step = shape.rows * shape.columns;
      if (adjoint) {  // [3, 3, columns, rows], rotated
        for (int64_t p = 0; p < 9; ++p)
          for (int64_t l = 0; l < lanes; ++l)
            gathered[p * lanes + l] = filter[((8 - p) * shape.columns + column + l) * shape.rows + row];
        from = gathered;
        step = lanes;
      }
      transform_square<3, 6>(
          [](const V(&line)[3], V(&result)[6]) HWY_ATTR { transform_filter(line, result); },
          [&](int i, int j) HWY_ATTR { return hn::LoadU(Wide(), from + (i * 3 + j) * step); },
          [&](int i, int j, V v) HWY_ATTR { hn::StoreU(v, Wide(), at + (i * 6 + j) * stride); });
    }
}

/// The gradients of the outputs of the tiles [begin, end): point p in matrix p, in panels of all `end - begin` rows.
void load_gradients(const Tiles& tiles, const float* gradients, int64_t begin, int64_t end,
                    const MatrixSize& shape, int64_t first_row, float* to) {
  const WinogradSizes& s = tiles.sizes;
  const int64_t stride = point_stride(shape.rows * shape.columns);
  for (int64_t number = begin; number < end; ++number) {
    const TilePlace place(tiles, number);
    const int64_t rows = std::min(tile, s.out_height - place.row),
                  columns = std::min(tile, s.out_width - place.column);
    const float* const from =
        gradients + ((place.image * s.out_height + place.row) * s.out_width + place.column) * s.out_channels;
    for (int64_t c = 0; c < s.out_channels; c += lanes) {
      float* const at = to + panel_offset(shape, number - begin + first_row, c);
      transform_square<4, 6>(
          [](const V(&line)[4], V(&result)[6]) HWY_ATTR { transform_gradients(line, result); },
          [&](int i, int j) HWY_ATTR {
            return i < rows && j < columns
                       ? hn::LoadU(Wide(), from + (i * s.out_width + j) * s.out_channels + c)
                       : hn::Zero(Wide());
          },
          [&](int i, int j, V v) HWY_ATTR { hn::StoreU(v, Wide(), at + (i * 6 + j) * stride); });
    }
  }
}

/// The filter's gradient from the sums of products, matrices of [in_channels, out_channels]: rows [begin, end).
void store_filter(const float* sums, const WinogradSizes& s, int64_t begin, int64_t end, float* filter) {
  const int64_t elements = s.in_channels * s.out_channels, stride = point_stride(elements);
  for (int64_t at = begin * s.out_channels; at < end * s.out_channels; at += lanes)
    transform_square<6, 3>(
        [](const V(&line)[6], V(&result)[3]) HWY_ATTR { transform_sums(line, result); },
        [&](int i, int j) HWY_ATTR { return hn::LoadU(Wide(), sums + (i * 6 + j) * stride + at); },
        [&](int i, int j, V v) HWY_ATTR { hn::StoreU(v, Wide(), filter + (i * 3 + j) * elements + at); });
}

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe {
namespace {

HWY_EXPORT(load_tiles);
HWY_EXPORT(multiply_panels);
HWY_EXPORT(store_tiles);
HWY_EXPORT(load_filter);
HWY_EXPORT(load_gradients);
HWY_EXPORT(store_filter);

/// How many tiles are transformed at once, so that their points and products stay in the caches and there is work to share.
int64_t tiles_at_once(const Tiles& tiles) {
  constexpr int64_t cached = 12 << 20;
  const int64_t bytes = points * 4 * (tiles.sizes.in_channels + tiles.sizes.out_channels);
  return even_part(tiles.count,
                   std::clamp<int64_t>(std::min(cached / bytes, (tiles.count + 3) / 4), 24, 192));
}

/// The convolution of the tiles [begin, end): three steps, of which each needs all of the one before.
class TileBlock {
 public:
  TileBlock(const Tiles& tiles, const float* filter, int64_t begin, int64_t end)
      : tiles_(tiles), filter_(filter), begin_(begin), end_(end),
        left_stride_(point_stride((end - begin) * tiles.sizes.in_channels)),
        product_stride_(point_stride((end - begin) * tiles.sizes.out_channels)) {}

  Status allocate(DeviceContext& device) {
    TROUPE_ASSIGN(scratch_, scratch_vector<float>(device, points * (left_stride_ + product_stride_)));
    left_ = scratch_.write<float>().data();
    products_ = left_ + points * left_stride_;
    return {};
  }

  /// Transforms the images of some tiles, counted from the first of the block.
  void load(const float* images, int64_t first, int64_t last) const {
    HWY_DYNAMIC_DISPATCH(load_tiles)
    (tiles_, images, begin_ + first, begin_ + last, left_ + first * tiles_.sizes.in_channels, left_stride_);
  }
  /// Multiplies point p of all tiles by the filter.
  void multiply(int64_t p) const {
    const int64_t in = tiles_.sizes.in_channels, out = tiles_.sizes.out_channels;
    HWY_DYNAMIC_DISPATCH(multiply_panels)
    (left_ + p * left_stride_, end_ - begin_, in, 1, filter_ + p * point_stride(in * out),
     MatrixSize{in, out}, products_ + p * product_stride_, out, false);
  }
  void store(int64_t first, int64_t last, const PostOps& post, float* output) const {
    HWY_DYNAMIC_DISPATCH(store_tiles)
    (tiles_, products_ + first * tiles_.sizes.out_channels, product_stride_, begin_ + first, begin_ + last,
     post, output);
  }

 private:
  const Tiles& tiles_;
  const float* filter_;
  int64_t begin_, end_, left_stride_, product_stride_;
  Tensor scratch_;
  float *left_ = nullptr, *products_ = nullptr;
};

/// For few tiles: the pool shares out each step.
Status convolve_by_steps(DeviceContext& device, const Tiles& tiles, const float* images, const float* filter,
                         const PostOps& post, float* output) {
  constexpr size_t tiles_of_chunk = 4, points_of_chunk = 3;
  TileBlock block(tiles, filter, 0, tiles.count);
  TROUPE_RETURN_IF_FAILED(block.allocate(device));
  const auto count = static_cast<size_t>(tiles.count);
  device.pool().blocks(count, tiles_of_chunk, [&](size_t begin, size_t end) {
    block.load(images, static_cast<int64_t>(begin), static_cast<int64_t>(end));
  });
  device.pool().blocks(points, points_of_chunk, [&](size_t begin, size_t end) {
    for (size_t p = begin; p < end; ++p) block.multiply(static_cast<int64_t>(p));
  });
  device.pool().blocks(count, tiles_of_chunk, [&](size_t begin, size_t end) {
    block.store(static_cast<int64_t>(begin), static_cast<int64_t>(end), post, output);
  });
  return {};
}

}  // namespace

bool winograd_pays(const WinogradSizes& s) {
  constexpr int64_t min_tiles = 8;  // the transformed filter, four times as large, must be read for them
  return s.in_channels % winograd_channels == 0 && s.out_channels % winograd_channels == 0 &&
         s.in_channels >= 32 && s.out_channels >= 32 && s.out_height >= tile && s.out_width >= tile &&
         Tiles(s).count >= min_tiles;
}

Result<Tensor> winograd_filter(DeviceContext& device, const WinogradSizes& sizes, const float* filter,
                               bool adjoint) {
  const MatrixSize shape{sizes.in_channels, sizes.out_channels};
  TROUPE_ASSIGN(Tensor right,
                scratch_vector<float>(device, points * point_stride(shape.rows * shape.columns)));
  float* const filter_points = right.write<float>().data();
  device.pool().blocks(static_cast<size_t>(shape.rows), 8, [&](size_t begin, size_t end) {
    HWY_DYNAMIC_DISPATCH(load_filter)
    (filter, shape, adjoint, static_cast<int64_t>(begin), static_cast<int64_t>(end), filter_points);
  });
  return right;
}

Status winograd_convolution(DeviceContext& device, const WinogradSizes& sizes, const float* images,
                            const Tensor& filter, const PostOps& post, float* output) {
  const Tiles tiles(sizes);
  const float* const filter_points = filter.as<float>().data();
  constexpr int64_t few_tiles = 96;
  if (tiles.count <= few_tiles) return convolve_by_steps(device, tiles, images, filter_points, post, output);
  const int64_t at_once = tiles_at_once(tiles);
  const auto blocks = static_cast<size_t>((tiles.count + at_once - 1) / at_once);
  std::vector<Status> failures(blocks);
  device.pool().chunks(blocks, [&](size_t i) {
    const int64_t begin = static_cast<int64_t>(i) * at_once, end = std::min(begin + at_once, tiles.count);
    TileBlock block(tiles, filter_points, begin, end);
    failures[i] = block.allocate(device);
    if (!failures[i].ok()) return;
    block.load(images, 0, end - begin);
    for (int64_t p = 0; p < points; ++p) block.multiply(p);
    block.store(0, end - begin, post, output);
  });
  for (Status& failure : failures) TROUPE_RETURN_IF_FAILED(std::move(failure));
  return {};
}

Status winograd_filter_gradient(DeviceContext& device, const WinogradSizes& sizes, const float* images,
                                const float* output_gradients, float* filter_gradient) {
  const Tiles tiles(sizes);
  constexpr int64_t at_once = 384, rows_at_once = 16;
  const int64_t in = sizes.in_channels, out = sizes.out_channels;
  const int64_t left_stride = point_stride(at_once * in), sum_stride = point_stride(in * out);
  TROUPE_ASSIGN(
      Tensor scratch,
      scratch_vector<float>(device, points * (left_stride + point_stride(at_once * out) + sum_stride)));
  float* const left = scratch.write<float>().data();
  float* const right = left + points * left_stride;
  float* const sums = right + points * point_stride(at_once * out);
  for (int64_t begin = 0; begin < tiles.count; begin += at_once) {
    const int64_t count = std::min(at_once, tiles.count - begin);
    const MatrixSize shape{count, out};
    device.pool().blocks(static_cast<size_t>(count), rows_at_once, [&](size_t from, size_t to) {
      const int64_t first = begin + static_cast<int64_t>(from), last = begin + static_cast<int64_t>(to);
      HWY_DYNAMIC_DISPATCH(load_tiles)
      (tiles, images, first, last, left + static_cast<int64_t>(from) * in, left_stride);
      HWY_DYNAMIC_DISPATCH(load_gradients)
      (tiles, output_gradients, first, last, shape, static_cast<int64_t>(from), right);
    });
    device.pool().chunks(static_cast<size_t>(points), [&](size_t p) {
      const auto at = static_cast<int64_t>(p);
      HWY_DYNAMIC_DISPATCH(multiply_panels)
      (left + at * left_stride, in, 1, in, right + at * point_stride(count * out), shape,
       sums + at * sum_stride, out, begin != 0);
    });
  }
  device.pool().blocks(static_cast<size_t>(in), 8, [&](size_t begin, size_t end) {
    HWY_DYNAMIC_DISPATCH(store_filter)
    (sums, sizes, static_cast<int64_t>(begin), static_cast<int64_t>(end), filter_gradient);
  });
  return {};
}

}  // namespace troupe
#endif
