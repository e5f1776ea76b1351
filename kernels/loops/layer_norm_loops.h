// What layer normalisation computes of one row of floats or doubles, in the vector instructions of the processor at hand. Rows
// have n elements, and a scale and an offset for each position. Plain functions, any thread.
#pragma once

#include <cstddef>

namespace troupe {

/// The numbers that describe a row: its mean, and 1 / sqrt(variance + epsilon). NaN if it has no elements.
template <class T>
struct RowNorm {
  T mean, inverse;
};

template <class T>
struct LayerNormLoops {
  RowNorm<T> (*measure)(const T* x, size_t n, T epsilon);
  /// y = (x - mean) inverse scale + offset; y may be x
  void (*normalize)(const T* x, size_t n, RowNorm<T> norm, const T* scale, const T* offset, T* y);
  /// dx = the gradient by x for the gradient dy by y; dx may be dy
  void (*gradient)(const T* dy, const T* x, size_t n, RowNorm<T> norm, const T* scale, T* dx);
  /// Adds what a row contributes to the gradients by scale and offset.
  void (*add_gradients)(const T* dy, const T* x, size_t n, RowNorm<T> norm, T* scale, T* offset);
};

template <class T>
const LayerNormLoops<T>& layer_norm_loops();
template <>
const LayerNormLoops<float>& layer_norm_loops();
template <>
const LayerNormLoops<double>& layer_norm_loops();

}  // namespace troupe
