#include <algorithm>

#include "kernels/loops/gemm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/loops/thin_gemm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Wide = hn::ScalableTag<float>;
using Vector = hn::Vec<Wide>;
constexpr int64_t lanes = HWY_LANES(float);
constexpr int64_t depth = 512;  ///< the number of values of k that are handled at a time
constexpr int64_t rows_at_once = 4;

/// The columns of b, each copied into a run of `depth` elements; missing elements are zeros.
template <int Columns>
struct ColumnCopies {
  alignas(64) float elements[Columns * depth];

  explicit ColumnCopies(const MatrixView<float>& b) {
    std::fill_n(elements, Columns * depth, 0.0f);
    for (int64_t k = 0; k < b.rows; ++k)
      for (int64_t j = 0; j < b.columns; ++j)
        elements[j * depth + k] = b.data[k * b.row_stride + j * b.column_stride];
  }
};

/// Multiplies rows of a, whose elements follow each other in memory, by the columns.
template <int Rows, int Columns>
HWY_INLINE void inner_products(const MatrixView<float>& a, const ColumnCopies<Columns>& b, int64_t columns,
                               float* HWY_RESTRICT c, int64_t c_stride, bool add) {
  const Wide d;
  const int64_t whole = a.columns / lanes * lanes;
  alignas(64) float ends[Rows * lanes] = {};
  for (int r = 0; r < Rows; ++r)
    std::copy_n(a.data + r * a.row_stride + whole, a.columns - whole, ends + r * lanes);
  Vector sum[Rows][Columns];
  for (int r = 0; r < Rows; ++r)
    for (int j = 0; j < Columns; ++j) sum[r][j] = hn::Zero(d);
  const auto add_products = [&](const float* left, int64_t stride, int64_t k) HWY_ATTR {
    for (int j = 0; j < Columns; ++j) {
      const Vector right = hn::Load(d, b.elements + j * depth + k);
      for (int r = 0; r < Rows; ++r)
        sum[r][j] = hn::MulAdd(hn::LoadU(d, left + r * stride), right, sum[r][j]);
    }
  };
  for (int64_t k = 0; k < whole; k += lanes) add_products(a.data + k, a.row_stride, k);
  if (whole < a.columns) add_products(ends, lanes, whole);
  for (int r = 0; r < Rows; ++r)
    for (int64_t j = 0; j < columns; ++j) {
      const float product = hn::GetLane(hn::SumOfLanes(d, sum[r][j]));
      float& to = c[r * c_stride + j];
      to = add ? to + product : product;
    }
}

template <int Columns>
void multiply_rows(const MatrixView<float>& a, const ColumnCopies<Columns>& b, int64_t columns, float* c,
                   int64_t c_stride, bool add) {
  int64_t row = 0;
  for (; row + rows_at_once <= a.rows; row += rows_at_once)
    inner_products<rows_at_once>(a.row_range(row, row + rows_at_once), b, columns, c + row * c_stride,
                                 c_stride, add);
  for (; row < a.rows; ++row)
    inner_products<1>(a.row_range(row, row + 1), b, columns, c + row * c_stride, c_stride, add);
}

/// Multiplies `count` rows of a, at most Vectors * lanes that follow each other in its columns, by the columns of b.
template <int Vectors, int Columns>
HWY_INLINE void outer_products(const float* a, int64_t a_stride, int64_t count,
                               const ColumnCopies<Columns>& b, int64_t k, int64_t columns,
                               float* HWY_RESTRICT c, int64_t c_stride, bool add) {
  const Wide d;
  Vector sum[Vectors][Columns];
  for (int v = 0; v < Vectors; ++v)
    for (int j = 0; j < Columns; ++j) sum[v][j] = hn::Zero(d);
  for (int64_t i = 0; i < k; ++i)
    for (int v = 0; v < Vectors; ++v) {
      const Vector left = hn::LoadU(d, a + i * a_stride + v * lanes);
      for (int j = 0; j < Columns; ++j)
        sum[v][j] = hn::MulAdd(left, hn::Set(d, b.elements[j * depth + i]), sum[v][j]);
    }
  alignas(64) float products[lanes * Vectors * Columns];
  for (int j = 0; j < Columns; ++j)
    for (int v = 0; v < Vectors; ++v) hn::Store(sum[v][j], d, products + (j * Vectors + v) * lanes);
  for (int64_t r = 0; r < count; ++r)
    for (int64_t j = 0; j < columns; ++j) {
      float& to = c[r * c_stride + j];
      const float product = products[j * Vectors * lanes + r];
      to = add ? to + product : product;
    }
}

template <int Columns>
void multiply_columns(const MatrixView<float>& a, const ColumnCopies<Columns>& b, int64_t columns, float* c,
                      int64_t c_stride, bool add) {
  constexpr int vectors = 2;
  constexpr int64_t width = vectors * lanes;
  const int64_t whole = a.rows / width * width;
  for (int64_t row = 0; row < whole; row += width)
    outer_products<vectors>(a.data + row, a.column_stride, width, b, a.columns, columns, c + row * c_stride,
                            c_stride, add);
  if (whole == a.rows) return;
  alignas(64) float rest[depth * width] = {};
  for (int64_t k = 0; k < a.columns; ++k)
    std::copy_n(a.data + k * a.column_stride + whole, a.rows - whole, rest + k * width);
  outer_products<vectors>(rest, width, a.rows - whole, b, a.columns, columns, c + whole * c_stride, c_stride,
                          add);
}

template <int Columns>
void multiply(const MatrixView<float>& a, const MatrixView<float>& b, float* c, int64_t c_stride) {
  for (int64_t k = 0; k < b.rows; k += depth) {
    const int64_t end = std::min(k + depth, b.rows);
    const MatrixView<float> part = a.column_range(k, end);
    const ColumnCopies<Columns> copies(b.row_range(k, end));
    const auto run = part.column_stride == 1 ? multiply_rows<Columns> : multiply_columns<Columns>;
    run(part, copies, b.columns, c, c_stride, k != 0);
  }
}

void thin_gemm(const MatrixView<float>& a, const MatrixView<float>& b, float* c, int64_t c_stride) {
  b.columns <= 4 ? multiply<4>(a, b, c, c_stride) : multiply<8>(a, b, c, c_stride);
}

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe {

HWY_EXPORT(thin_gemm);

void thin_gemm(const MatrixView<float>& a, const MatrixView<float>& b, float* c, int64_t c_stride) {
  HWY_DYNAMIC_DISPATCH(thin_gemm)(a, b, c, c_stride);
}

}  // namespace troupe
#endif
