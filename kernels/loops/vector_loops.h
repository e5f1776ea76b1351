// Loops over contiguous floats or doubles in the vector instructions of the processor at hand (Highway
// chooses at run time). A loop computes the same bits for an element wherever in the array it stands. Plain
// functions, any thread; output and inputs may be the same memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "messages/values/dtype.h"

namespace troupe {

/// y[i] = f(x[i]) for n elements.
using UnaryLoop = void (*)(const void* x, void* y, size_t n);
/// out[i] = f(a[i * step_a], b[i * step_b]); steps are 0 or 1, not both 0 unless n is 1.
using BinaryLoop = void (*)(const void* a, size_t step_a, const void* b, size_t step_b, void* out, size_t n);
/// results[r] = x[r * n .. r * n + n) combined, for each of the rows; of none: 0, 1, the least or the greatest value. Sums are
/// pairwise: their error grows with log n.
using ReduceLoop = void (*)(const void* x, size_t n, size_t rows, void* results);

/// Those of Selu, for which mean 0 and variance 1 stay so (Klambauer et al. 2017).
inline constexpr double selu_scale = 1.0507009873554804934, selu_scale_alpha = 1.7580993408473768600;

enum class VectorUnary : uint8_t {
  Abs,
  Ceil,
  Cos,
  Elu,
  Exp,
  Floor,
  Log,
  Log1p,
  Neg,
  Reciprocal,
  Relu,
  Relu6,
  Round,
  Rsqrt,
  Selu,
  Sigmoid,
  Sin,
  Softplus,
  Sqrt,
  Square,
  Tanh,
};

/// The ..Grad ones take (y, dy), or (dy, x) where TensorFlow's op of that name does: see activations.cpp.
enum class VectorBinary : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Maximum,
  Minimum,
  SquaredDifference,
  EluGrad,
  ReciprocalGrad,
  Relu6Grad,
  ReluGrad,
  RsqrtGrad,
  SeluGrad,
  SigmoidGrad,
  SoftplusGrad,
  SqrtGrad,
  TanhGrad,
};

enum class VectorReduction : uint8_t { Sum, Prod, Max, Min, SumOfSquares };

/// Null for types other than float and double.
UnaryLoop vector_loop(VectorUnary function, DType dtype);
BinaryLoop vector_loop(VectorBinary function, DType dtype);
ReduceLoop vector_loop(VectorReduction function, DType dtype);

/// half to float and back, where the processor converts by itself; else, and for other dtypes, null.
UnaryLoop vector_cast_loop(DType from, DType to);

/// to[r * to_stride + c] = from[r + c * from_stride] for all r < rows, c < columns; the two do not overlap.
using TransposeLoop = void (*)(const void* from, ptrdiff_t from_stride, void* to, ptrdiff_t to_stride,
                               size_t rows, size_t columns);
/// For elements of 1, 2, 4 or 8 bytes; else null.
TransposeLoop transpose_loop(size_t bytes);

/// out[i] = condition[i] ? t[i] : e[i] for elements of 4 or 8 bytes.
using SelectLoop = void (*)(const bool* condition, const void* t, const void* e, void* out, size_t n);
/// Null for other sizes.
SelectLoop select_loop(size_t bytes);

/// Where the greatest (least) element is: the first of equals, and NaN only when it comes first. Less than 2^31 elements each.
struct SearchLoops {
  /// Of `rows` rows of n >= 1 elements.
  void (*rows)(const void* x, size_t n, size_t rows, int64_t* at);
  /// Of neighbouring columns: `length` >= 1 elements, `stride` apart.
  void (*columns)(const void* x, size_t length, size_t stride, size_t columns, int64_t* at);
};
/// dtype is float or double.
const SearchLoops& search_loops(DType dtype, bool greatest);

/// Numbers 4 g .. 4 g + 3 of `out` are those of counter first + g, of Philox with this key and stream (kernels/ops/random/random.cpp).
struct RandomLoops {
  using Fill = void (*)(uint64_t key, uint64_t stream, uint64_t first, size_t groups, float* out);
  Fill uniform;
  Fill normal;
};
const RandomLoops& random_loops();

/// Functions of a row of n >= 1 logits x. Shifted by their maximum, so they do not overflow; y and x may be the same memory.
struct SoftmaxLoops {
  /// y = exp(x) / sum exp(x)
  void (*softmax)(const void* x, void* y, size_t n);
  /// y = x - log sum exp(x)
  void (*log_softmax)(const void* x, void* y, size_t n);
  /// *loss = -sum labels log_softmax(x), y = softmax(x) - labels; y and labels are apart
  void (*cross_entropy)(const void* x, const void* labels, void* loss, void* y, size_t n);
  /// The same for the labels that are 1 at `label` < n and 0 elsewhere.
  void (*sparse_cross_entropy)(const void* x, size_t label, void* loss, void* y, size_t n);
};
/// dtype is float or double.
const SoftmaxLoops& softmax_loops(DType dtype);

}  // namespace troupe
