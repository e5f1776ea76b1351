#include "kernels/loops/gemm.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/loops/blocked_gemm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The product is computed in blocks of rows x columns that stay in registers, for `depth` values of k at a time. If enough rows
// use them, the columns of b are copied into contiguous memory for these k.
constexpr int64_t block_rows = HWY_TARGET <= HWY_AVX3 ? 8 : 4;
constexpr int64_t block_vectors = 2;
constexpr int64_t depth = 384;
constexpr int64_t rows_worth_copying_for = 32;

template <class T>
using Wide = hn::ScalableTag<T>;
template <class T>
constexpr int64_t block_columns = block_vectors* static_cast<int64_t>(HWY_LANES(T));

template <class V>
HWY_INLINE V multiply_add(V a, V b, V c) {
  if constexpr (hwy::IsFloat<hn::TFromV<V>>())
    return hn::MulAdd(a, b, c);
  else
    return hn::Add(hn::Mul(a, b), c);
}

/// Adds a b to Rows x (Vectors * lanes) elements of c, over `k`; the rows of b are `b_stride` apart.
template <int Rows, int Vectors, class T>
HWY_INLINE void block(const MatrixView<T>& a, int64_t k, const T* HWY_RESTRICT b, int64_t b_stride,
                      T* HWY_RESTRICT c, int64_t c_stride, bool add) {
  const Wide<T> d;
  using V = hn::Vec<Wide<T>>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V sum[Rows][Vectors];
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v)
      sum[r][v] = add ? hn::LoadU(d, c + r * c_stride + v * lanes) : hn::Zero(d);
  const T* HWY_RESTRICT a_at = a.data;
  for (int64_t i = 0; i < k; ++i, a_at += a.column_stride, b += b_stride) {
    V right[Vectors];
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) right[v] = hn::LoadU(d, b + v * lanes);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      const V left = hn::Set(d, a_at[r * a.row_stride]);
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) sum[r][v] = multiply_add(left, right[v], sum[r][v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) hn::StoreU(sum[r][v], d, c + r * c_stride + v * lanes);
}

/// Computes all rows of one column block that is as wide as its vectors.
template <int Vectors, class T>
void column_block(const MatrixView<T>& a, const T* b, int64_t b_stride, T* c, int64_t c_stride, bool add) {
  int64_t row = 0;
  const auto at = [&](int64_t from) HWY_ATTR { return a.row_range(from, a.rows); };
  if constexpr (block_rows == 8)
    for (; row + 8 <= a.rows; row += 8)
      block<8, Vectors>(at(row), a.columns, b, b_stride, c + row * c_stride, c_stride, add);
  for (; row + 4 <= a.rows; row += 4)
    block<4, Vectors>(at(row), a.columns, b, b_stride, c + row * c_stride, c_stride, add);
  for (; row + 2 <= a.rows; row += 2)
    block<2, Vectors>(at(row), a.columns, b, b_stride, c + row * c_stride, c_stride, add);
  for (; row < a.rows; ++row)
    block<1, Vectors>(at(row), a.columns, b, b_stride, c + row * c_stride, c_stride, add);
}

/// Copies at most `width` columns of b into rows of `width` elements, padded with zeros.
template <class T>
void copy_columns(const MatrixView<T>& b, int64_t width, T* HWY_RESTRICT to) {
  if (b.column_stride == 1) {
    for (int64_t k = 0; k < b.rows; ++k, to += width) {
      std::copy_n(b.data + k * b.row_stride, b.columns, to);
      std::fill_n(to + b.columns, width - b.columns, T{0});
    }
    return;
  }
  for (int64_t j = 0; j < b.columns; ++j)
    for (int64_t k = 0; k < b.rows; ++k) to[k * width + j] = b.data[k * b.row_stride + j * b.column_stride];
  for (int64_t j = b.columns; j < width; ++j)
    for (int64_t k = 0; k < b.rows; ++k) to[k * width + j] = T{0};
}

/// Computes columns that do not fill their vectors, beside c and a few rows at a time.
template <int Vectors, class T>
void narrow_block(const MatrixView<T>& a, const T* b, int64_t columns, T* c, int64_t c_stride, bool add) {
  constexpr int64_t width = Vectors * static_cast<int64_t>(HWY_LANES(T));
  alignas(64) T beside[block_rows * width] = {};
  for (int64_t row = 0; row < a.rows; row += block_rows) {
    const int64_t end = std::min(row + block_rows, a.rows);
    for (int64_t r = row; add && r < end; ++r)
      std::copy_n(c + r * c_stride, columns, beside + (r - row) * width);
    column_block<Vectors>(a.row_range(row, end), b, width, beside, width, add);
    for (int64_t r = row; r < end; ++r) std::copy_n(beside + (r - row) * width, columns, c + r * c_stride);
  }
}

template <class T>
void add_columns(const MatrixView<T>& a, const MatrixView<T>& b, T* c, int64_t c_stride, bool add) {
  constexpr int64_t full = block_columns<T>, half = full / block_vectors;
  alignas(64) T copy[depth * full];
  const bool whole = b.columns == full;
  if (whole && b.column_stride == 1 && a.rows < rows_worth_copying_for)
    return column_block<block_vectors>(a, b.data, b.row_stride, c, c_stride, add);
  const int64_t width = b.columns <= half ? half : full;
  copy_columns(b, width, copy);
  if (whole) return column_block<block_vectors>(a, copy, width, c, c_stride, add);
  if (b.columns == half) return column_block<1>(a, copy, width, c, c_stride, add);
  if (width == half) return narrow_block<1>(a, copy, b.columns, c, c_stride, add);
  narrow_block<block_vectors>(a, copy, b.columns, c, c_stride, add);
}

template <class T>
void gemm(const MatrixView<T>& a, const MatrixView<T>& b, T* c, int64_t c_stride) {
  for (int64_t k = 0; k < b.rows; k += depth) {
    const int64_t k_end = std::min(k + depth, b.rows);
    const MatrixView<T> a_part = a.column_range(k, k_end), b_part = b.row_range(k, k_end);
    for (int64_t j = 0; j < b.columns; j += block_columns<T>) {
      const int64_t end = std::min(j + block_columns<T>, b.columns);
      add_columns(a_part, b_part.column_range(j, end), c + j, c_stride, k != 0);
    }
  }
}

void gemm_double(const MatrixView<double>& a, const MatrixView<double>& b, double* c, int64_t c_stride) {
  gemm(a, b, c, c_stride);
}
void gemm_int32(const MatrixView<int32_t>& a, const MatrixView<int32_t>& b, int32_t* c, int64_t c_stride) {
  gemm(a, b, c, c_stride);
}

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe {

HWY_EXPORT(gemm_double);
HWY_EXPORT(gemm_int32);

void blocked_gemm(const MatrixView<double>& a, const MatrixView<double>& b, double* c, int64_t c_stride) {
  HWY_DYNAMIC_DISPATCH(gemm_double)(a, b, c, c_stride);
}
void blocked_gemm(const MatrixView<int32_t>& a, const MatrixView<int32_t>& b, int32_t* c, int64_t c_stride) {
  HWY_DYNAMIC_DISPATCH(gemm_int32)(a, b, c, c_stride);
}

}  // namespace troupe
#endif
