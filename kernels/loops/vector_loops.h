// Loops over contiguous floats or doubles in the vector instructions of the processor; Highway chooses them at run time. A loop
// computes the same bits for an element wherever it is in the array. Plain functions; any thread may call them. Output and
// inputs may be the same memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/loops/selu.h"
#include "messages/values/dtype.h"

namespace troupe {

/// y[i] = f(x[i]) for n elements.
using UnaryLoop = void (*)(const void* x, void* y, size_t n);
/// out[i] = f(a[i * step_a], b[i * step_b]); steps are 0 or 1, not both 0 unless n is 1.
using BinaryLoop = void (*)(const void* a, size_t step_a, const void* b, size_t step_b, void* out, size_t n);
/// Sets results[r] to the combination of x[r * n .. r * n + n), for each row r. The result for n = 0 is 0, 1, the least or the
/// greatest value. Sums are pairwise: their error grows with log n.
using ReduceLoop = void (*)(const void* x, size_t n, size_t rows, void* results);

enum class VectorUnary : uint8_t {
  Abs,
  Ceil,
  Cos,
  Elu,
  Erf,
  Exp,
  Expm1,
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
  Sign,
  Sin,
  Softplus,
  Softsign,
  Sqrt,
  Square,
  Tanh,
};

/// The ...Grad functions take (y, dy), or (dy, x) if the TensorFlow op of that name does: see activations.cpp.
enum class VectorBinary : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Maximum,
  Minimum,
  FloorDiv,
  FloorMod,
  Mod,
  Pow,
  SquaredDifference,
  EluGrad,
  ReciprocalGrad,
  Relu6Grad,
  ReluGrad,
  RsqrtGrad,
  SeluGrad,
  SigmoidGrad,
  SoftplusGrad,
  SoftsignGrad,
  SqrtGrad,
  TanhGrad,
};

enum class VectorReduction : uint8_t { Sum, Prod, Max, Min, SumOfSquares };

/// Return the loop for float or double; null for other types, and for double for Erf and Pow.
UnaryLoop vector_loop(VectorUnary function, DType dtype);
BinaryLoop vector_loop(VectorBinary function, DType dtype);
ReduceLoop vector_loop(VectorReduction function, DType dtype);

/// Returns the loop that converts half or int32 to float or back, or uint8 or bool to float, if the processor has instructions for
/// it. Null otherwise and for other dtypes.
UnaryLoop vector_cast_loop(DType from, DType to);

/// to[r * to_stride + c] = from[r + c * from_stride] for all r < rows, c < columns; the two do not overlap.
using TransposeLoop = void (*)(const void* from, ptrdiff_t from_stride, void* to, ptrdiff_t to_stride,
                               size_t rows, size_t columns);
/// Returns the loop for elements of 1, 2, 4 or 8 bytes; null for other sizes.
TransposeLoop transpose_loop(size_t bytes);

/// out[i] = condition[i] ? t[i] : e[i] for elements of 4 or 8 bytes.
using SelectLoop = void (*)(const bool* condition, const void* t, const void* e, void* out, size_t n);
/// Returns the loop for elements of 4 or 8 bytes; null for other sizes.
SelectLoop select_loop(size_t bytes);

/// The position of the greatest (least) element: the first of equal ones. NaN counts only if it comes first. A row or column
/// has less than 2^31 elements.
struct SearchLoops {
  /// Searches `rows` rows of n >= 1 elements.
  void (*rows)(const void* x, size_t n, size_t rows, int64_t* at);
  /// Searches `columns` neighbouring columns of `length` >= 1 elements that are `stride` apart.
  void (*columns)(const void* x, size_t length, size_t stride, size_t columns, int64_t* at);
};
/// Returns the loops for `dtype`, which must be float or double; they search for the greatest or the least element.
const SearchLoops& search_loops(DType dtype, bool greatest);

/// Random numbers. Elements 4 g .. 4 g + 3 of `out` come from counter first + g of Philox, with this key and stream
/// (kernels/ops/random/random.cpp).
struct RandomLoops {
  using Fill = void (*)(uint64_t key, uint64_t stream, uint64_t first, size_t groups, float* out);
  Fill uniform;
  Fill normal;
};
const RandomLoops& random_loops();

/// Functions of a row of n >= 1 logits x. The logits are shifted by their maximum, so that nothing overflows; y and x may be
/// the same memory.
struct SoftmaxLoops {
  /// y = exp(x) / sum exp(x)
  void (*softmax)(const void* x, void* y, size_t n);
  /// y = x - log sum exp(x)
  void (*log_softmax)(const void* x, void* y, size_t n);
  /// *loss = -sum labels log_softmax(x), y = softmax(x) - labels; y and labels must not overlap
  void (*cross_entropy)(const void* x, const void* labels, void* loss, void* y, size_t n);
  /// cross_entropy for labels that are 1 at `label` < n and 0 elsewhere
  void (*sparse_cross_entropy)(const void* x, size_t label, void* loss, void* y, size_t n);
};
/// Returns the functions for `dtype`, which must be float or double.
const SoftmaxLoops& softmax_loops(DType dtype);

}  // namespace troupe
