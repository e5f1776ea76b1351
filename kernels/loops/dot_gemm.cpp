#include <algorithm>

#include "kernels/loops/gemm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/loops/dot_gemm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/loops/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Wide = hn::ScalableTag<float>;
constexpr int64_t lanes = HWY_LANES(float);
/// The values of k that are handled at a time: so many of a few columns of b stay in the first-level cache.
constexpr int64_t dot_depth = 2048;
constexpr int rows_at_once = 4, columns_at_once = 3;  // whose sums stay in registers

/// The dot products of Rows rows of a and Columns columns of b, over the first `depth` values of k.
template <int Rows, int Columns>
HWY_INLINE void dot_products(const float* HWY_RESTRICT a, int64_t a_stride, const float* HWY_RESTRICT b,
                             int64_t b_stride, int64_t depth, float* HWY_RESTRICT c, int64_t c_stride,
                             bool add) {
  const Wide d;
  Vector<Wide> sum[Rows][Columns];
  for (int r = 0; r < Rows; ++r)
    for (int j = 0; j < Columns; ++j) sum[r][j] = hn::Zero(d);
  const auto add_products = [&](const auto& load) HWY_ATTR {
    Vector<Wide> right[Columns];
#pragma GCC unroll 8
    for (int j = 0; j < Columns; ++j) right[j] = load(b + j * b_stride);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      const Vector<Wide> left = load(a + r * a_stride);
#pragma GCC unroll 8
      for (int j = 0; j < Columns; ++j) sum[r][j] = hn::MulAdd(left, right[j], sum[r][j]);
    }
  };
  int64_t k = 0;
  for (; k + lanes <= depth; k += lanes)
    add_products([&](const float* from) HWY_ATTR { return hn::LoadU(d, from + k); });
  if (k < depth) {
    const auto rest = static_cast<size_t>(depth - k);
    add_products([&](const float* from) HWY_ATTR { return load_first(d, from + k, rest); });
  }
  for (int r = 0; r < Rows; ++r)
    for (int j = 0; j < Columns; ++j) {
      const float product = hn::GetLane(hn::SumOfLanes(d, sum[r][j]));
      float& to = c[r * c_stride + j];
      to = add ? to + product : product;
    }
}

/// All rows of a by Columns columns of b.
template <int Columns>
void dot_columns(const MatrixView<float>& a, const float* b, int64_t b_stride, float* c, int64_t c_stride,
                 bool add) {
  int64_t row = 0;
  for (; row + rows_at_once <= a.rows; row += rows_at_once)
    dot_products<rows_at_once, Columns>(a.data + row * a.row_stride, a.row_stride, b, b_stride, a.columns,
                                        c + row * c_stride, c_stride, add);
  for (; row < a.rows; ++row)
    dot_products<1, Columns>(a.data + row * a.row_stride, a.row_stride, b, b_stride, a.columns,
                             c + row * c_stride, c_stride, add);
}

void dot_gemm(const MatrixView<float>& a, const MatrixView<float>& b, float* c, int64_t c_stride) {
  for (int64_t k = 0; k < b.rows; k += dot_depth) {
    const int64_t end = std::min(k + dot_depth, b.rows);
    const MatrixView<float> part = a.column_range(k, end);
    const float* const from = b.data + k;
    int64_t j = 0;
    for (; j + columns_at_once <= b.columns; j += columns_at_once)
      dot_columns<columns_at_once>(part, from + j * b.column_stride, b.column_stride, c + j, c_stride,
                                   k != 0);
    for (; j < b.columns; ++j)
      dot_columns<1>(part, from + j * b.column_stride, b.column_stride, c + j, c_stride, k != 0);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe {

HWY_EXPORT(dot_gemm);

void dot_gemm(const MatrixView<float>& a, const MatrixView<float>& b, float* c, int64_t c_stride) {
  HWY_DYNAMIC_DISPATCH(dot_gemm)(a, b, c, c_stride);
}

bool dot_gemm_pays(const MatrixView<float>& a, const MatrixView<float>& b) {
  constexpr int64_t min_depth =
      64;  // below, the sums over the lanes of vectors take long beside the products
  return a.column_stride == 1 && b.row_stride == 1 && b.column_stride != 1 && b.rows >= min_depth;
}

}  // namespace troupe
#endif
