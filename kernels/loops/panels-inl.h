// Products with a matrix whose columns lie in panels: the vector code that Winograd's algorithm and panel_gemm share. Included
// once for each instruction set, after foreach_target.h. Functions without state.
#if defined(TROUPE_PANELS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TROUPE_PANELS_INL_H
#undef TROUPE_PANELS_INL_H
#else
#define TROUPE_PANELS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#ifndef TROUPE_MATRIX_SIZE
#define TROUPE_MATRIX_SIZE
namespace troupe {
struct MatrixSize {
  int64_t rows, columns;
};
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

/// Rows x (Vectors * lanes) of c = a b, or added to c: a[r * row_stride + k * column_stride]; b in rows of `width`.
template <int Rows, int Vectors>
HWY_INLINE void block(const float* HWY_RESTRICT a, int64_t row_stride, int64_t column_stride,
                      const float* HWY_RESTRICT b, int64_t width, int64_t depth, float* HWY_RESTRICT c,
                      int64_t c_stride, bool add) {
  const Wide d;
  V sum[Rows][Vectors];
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) sum[r][v] = hn::Zero(d);
  for (int64_t k = 0; k < depth; ++k, a += column_stride, b += width) {
    V right[Vectors];
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
      float* const at = c + r * c_stride + v * lanes;
      hn::StoreU(add ? hn::Add(sum[r][v], hn::LoadU(d, at)) : sum[r][v], d, at);
    }
}

template <int Vectors>
HWY_INLINE void block_column(const float* a, int64_t rows, int64_t row_stride, int64_t column_stride,
                             const float* b, int64_t width, int64_t depth, float* c, int64_t c_stride,
                             bool add) {
  int64_t r = 0;
  for (; r + block_rows <= rows; r += block_rows)
    block<block_rows, Vectors>(a + r * row_stride, row_stride, column_stride, b, width, depth,
                               c + r * c_stride, c_stride, add);
  for (; r + 2 <= rows; r += 2)
    block<2, Vectors>(a + r * row_stride, row_stride, column_stride, b, width, depth, c + r * c_stride,
                      c_stride, add);
  if (r < rows)
    block<1, Vectors>(a + r * row_stride, row_stride, column_stride, b, width, depth, c + r * c_stride,
                      c_stride, add);
}

/// c = a b, or added to c; b lies in panels. The number of columns is a multiple of that of a vector.
inline void multiply_panels(const float* a, int64_t rows, int64_t row_stride, int64_t column_stride,
                            const float* b, const MatrixSize& size, float* c, int64_t c_stride, bool add) {
  for (int64_t first = 0; first < size.columns; first += panel_columns) {
    const int64_t width = std::min(panel_columns, size.columns - first);
    const float* const right = b + first * size.rows;
    if (width == panel_columns) {
      block_column<block_vectors>(a, rows, row_stride, column_stride, right, width, size.rows, c + first,
                                  c_stride, add);
      continue;
    }
    for (int64_t j = 0; j < width; j += lanes)
      block_column<1>(a, rows, row_stride, column_stride, right + j, width, size.rows, c + first + j,
                      c_stride, add);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#endif
