// Matrix products. Large products of float copy their matrices first (kernels/loops/packed_gemm.h). Others use sgemm of oneDNN,
// which reaches the FMA peak from the smallest sizes on and needs neither primitives nor preparation, unless the right matrix is
// transposed: then rows are multiplied by rows. A few columns beyond its tiles take it as long as a whole tile; those columns, and
// products of double and int32, use blocked vector code (Highway).
// half and bfloat16 are computed in float; other integers and complex numbers use plain loops. Integers wrap around. Work is
// split over the pool into blocks that depend on shapes alone, so equal inputs give equal bits for any number of threads. A thread
// handles no signal while oneDNN multiplies a deep matrix. Pure functions; any thread may call them.
#pragma once

#include <complex>
#include <cstdint>

#include "devices/device.h"
#include "messages/values/dtype.h"
#include "messages/values/status.h"

namespace troupe {

/// A matrix in memory: element (i, j) is at data[i * row_stride + j * column_stride]. One of the strides is 1. Rows or columns
/// do not overlap.
template <class T>
struct MatrixView {
  const T* data = nullptr;
  int64_t rows = 0, columns = 0;
  int64_t row_stride = 0, column_stride = 0;

  /// Returns a view of a row-major matrix of rows x columns, or of its transpose.
  static MatrixView of(const T* data, int64_t rows, int64_t columns, bool transposed) {
    if (transposed) return {data, columns, rows, 1, columns};
    return {data, rows, columns, columns, 1};
  }
  MatrixView row_range(int64_t begin, int64_t end) const {
    return {data + begin * row_stride, end - begin, columns, row_stride, column_stride};
  }
  MatrixView column_range(int64_t begin, int64_t end) const {
    return {data + begin * column_stride, rows, end - begin, row_stride, column_stride};
  }
};

/// Computes `count` products c[i] = a[i] b[i] of equal shapes (a.columns == b.rows). The matrices of a follow each other in
/// memory, as do those of b and the row-major products. An empty inner dimension gives zeros. T is float, double, int32_t,
/// int64_t, int16_t, Half, BFloat16, std::complex<float> or std::complex<double>. Fails with ResourceExhausted if there is no
/// scratch memory.
template <class T>
Status gemm(DeviceContext& device, size_t count, const MatrixView<T>& a, const MatrixView<T>& b, T* c);

/// Computes one product on this thread with blocked vector code. The rows of c are `c_stride` apart; a.columns == b.rows >= 1.
void blocked_gemm(const MatrixView<double>& a, const MatrixView<double>& b, double* c, int64_t c_stride);
void blocked_gemm(const MatrixView<int32_t>& a, const MatrixView<int32_t>& b, int32_t* c, int64_t c_stride);
/// Computes one product on this thread for a matrix b of at most thin_columns columns.
constexpr int64_t thin_columns = 8;
void thin_gemm(const MatrixView<float>& a, const MatrixView<float>& b, float* c, int64_t c_stride);
/// Computes one product on this thread for a row-major matrix a and a column-major matrix b, whose elements are read where they
/// lie: rows of a by columns of b.
void dot_gemm(const MatrixView<float>& a, const MatrixView<float>& b, float* c, int64_t c_stride);
/// Returns whether dot_gemm() takes these matrices and their rows are long enough for it.
bool dot_gemm_pays(const MatrixView<float>& a, const MatrixView<float>& b);

}  // namespace troupe
