// Products with a matrix whose columns lie in panels: the vector code that Winograd's algorithm and panel_gemm share. Included
// once for each instruction set, after foreach_target.h. Functions without state.
#if defined(TROUPE_PANELS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TROUPE_PANELS_INL_H
#undef TROUPE_PANELS_INL_H
#else
#define TROUPE_PANELS_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#ifndef TROUPE_MATRIX_SIZE
#define TROUPE_MATRIX_SIZE
namespace troupe {
struct MatrixSize {
  int64_t rows, columns;
};

/// Returns the size of the parts, all but the last of equal size and none larger than `wanted`, into which `whole` is cut.
constexpr int64_t even_part(int64_t whole, int64_t wanted) {
  const int64_t parts = (whole + wanted - 1) / wanted;
  return (whole + parts - 1) / parts;
}
}  // namespace troupe
#endif

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Wide = hn::ScalableTag<float>;
using V = hn::Vec<Wide>;
constexpr int64_t lanes = HWY_LANES(float);
constexpr int block_vectors = HWY_TARGET <= HWY_AVX3 ? 4 : 2;
constexpr int block_rows = 6;

/// The columns of a panel. Within a panel the rows follow each other, so the code that multiplies with it reads memory in order.
/// The last panel has the columns that are left.
constexpr int64_t panel_columns = block_vectors * lanes;

/// Returns where the element of a matrix lies.
HWY_INLINE int64_t panel_offset(const MatrixSize& size, int64_t row, int64_t column) {
  const int64_t first = column / panel_columns * panel_columns;
  return first * size.rows + row * std::min(panel_columns, size.columns - first) + column - first;
}

/// How blocks multiply: c = a b, or added to c. a[r * row_stride + k * column_stride]; b in rows of `width`.
struct PanelProduct {
  const float* HWY_RESTRICT a;
  int64_t row_stride, column_stride;
  const float* HWY_RESTRICT b;
  int64_t width, depth;
  float* HWY_RESTRICT c;
  int64_t c_stride;
  bool add;
};

/// Computes Rows x (Vectors * lanes) elements of c. With `Ahead`, it also loads the panel behind this one into the cache.
template <int Rows, int Vectors, bool Ahead>
HWY_INLINE void block(const PanelProduct& p, int64_t row) {
  const Wide d;
  const float* HWY_RESTRICT a = p.a + row * p.row_stride;
  const float* HWY_RESTRICT b = p.b;
  const int64_t row_stride = p.row_stride, ahead = p.depth * p.width;
  V sum[Rows][Vectors];
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) {
    hwy::Prefetch(p.c + (row + r) * p.c_stride);
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) sum[r][v] = hn::Zero(d);
  }
  for (int64_t k = 0; k < p.depth; ++k, a += p.column_stride, b += p.width) {
    V right[Vectors];
    if (Ahead) hwy::Prefetch(b + ahead);
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) right[v] = hn::LoadU(d, b + v * lanes);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      const V left = hn::Set(d, a[r * row_stride]);
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) sum[r][v] = hn::MulAdd(left, right[v], sum[r][v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
      float* const at = p.c + (row + r) * p.c_stride + v * lanes;
      hn::StoreU(p.add ? hn::Add(sum[r][v], hn::LoadU(d, at)) : sum[r][v], d, at);
    }
}

template <int Vectors, bool Ahead>
HWY_INLINE void block_of(int64_t rows, const PanelProduct& p, int64_t row) {
  switch (rows) {
    case 1: return block<1, Vectors, Ahead>(p, row);
    case 2: return block<2, Vectors, Ahead>(p, row);
    case 3: return block<3, Vectors, Ahead>(p, row);
    case 4: return block<4, Vectors, Ahead>(p, row);
    case 5: return block<5, Vectors, Ahead>(p, row);
    default: return block<block_rows, Vectors, Ahead>(p, row);
  }
}

/// Calls step(first row, count) for blocks of about equal size: few rows in the registers take nearly as long as many.
template <class Step>
HWY_INLINE void for_row_blocks(int64_t rows, const Step& step) {
  const int64_t blocks = (rows + block_rows - 1) / block_rows;
  int64_t row = 0;
  for (int64_t i = 0; i < blocks; ++i) {
    const int64_t count = (rows - row + blocks - i - 1) / (blocks - i);
    step(row, count);
    row += count;
  }
}

template <int Vectors>
void block_column(const PanelProduct& p, int64_t rows) {
  for_row_blocks(rows, [&](int64_t row, int64_t count) HWY_ATTR {
    row == 0 ? block_of<Vectors, true>(count, p, row) : block_of<Vectors, false>(count, p, row);
  });
}

/// c = a b, or added to c; b lies in panels. The number of columns is a multiple of that of a vector.
inline void multiply_panels(const float* a, int64_t rows, int64_t row_stride, int64_t column_stride,
                            const float* b, const MatrixSize& size, float* c, int64_t c_stride, bool add) {
  for (int64_t first = 0; first < size.columns; first += panel_columns) {
    const int64_t width = std::min(panel_columns, size.columns - first);
    PanelProduct product{
        a, row_stride, column_stride, b + first * size.rows, width, size.rows, c + first, c_stride, add};
    if (width == panel_columns) {
      block_column<block_vectors>(product, rows);
      continue;
    }
    for (int64_t j = 0; j < width; j += lanes, product.b += lanes, product.c += lanes)
      block_column<1>(product, rows);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#endif
