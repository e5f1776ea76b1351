// Kernels that compute each element of the output from the matching elements of the inputs, for the families of unary and
// binary ops. A family gives a CPU loop for each dtype. This header has the checks for every type of device; and for CPUs the
// reuse of input buffers, broadcasting, splitting into blocks over the pool, and the conversion of half and bfloat16 to float,
// block by block. Kernels are const; any thread may run them.
#pragma once

#include <complex>
#include <optional>

#include "kernels/core/checked_kernel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/broadcast.h"
#include "kernels/loops/vector_loops.h"

namespace troupe {

/// Returns the loop for inputs of a dtype, or null if there is none. Never called for half and bfloat16: they use the loop of
/// float.
using UnaryLoopOf = UnaryLoop (*)(DType);
using BinaryLoopOf = BinaryLoop (*)(DType);
/// Fails if an element of input b is one that the binary op cannot take, such as a divisor of zero. Called if the output has
/// elements.
using SecondCheck = Status (*)(const Tensor& b);

/// y[i] = f(x[i]).
struct UnaryArguments {
  const std::byte* x;
  std::byte* y;  ///< may be the same memory as x
  size_t n;
};
Result<UnaryArguments> check_unary(KernelContext& context);

/// out[i] = f(a[j], b[k]), where j and k follow from i by broadcasting.
struct BinaryArguments {
  const std::byte *a, *b;
  std::byte* out;  ///< may be the same memory as an input with as many elements
  size_t n;        ///< the number of elements of the output
  /// Nothing if both inputs have the shape of the output.
  std::optional<Broadcast<2>> broadcast = std::nullopt;
};

/// Returns the shape as which input 1 broadcasts to the shape of input 0.
using SecondShapeOf = Result<Shape> (*)(const KernelContext& context);

/// The check of a binary op, with the rules for its inputs.
struct BinaryCheck {
  bool broadcasts = true;            ///< if false, inputs of different shapes fail with InvalidArgument
  SecondShapeOf shape_of = nullptr;  ///< if non-null, returns the shape as which input 1 broadcasts
  bool keeps_second = false;         ///< if true, the output never reuses the memory of input 1

  Result<BinaryArguments> operator()(KernelContext& context) const;
};

/// The cost of computing an element relative to moving it; determines the size of blocks.
enum class Cost : uint8_t { Arithmetic = 1, Transcendental = 4 };

/// A loop, with the loops that convert half and bfloat16 to float before it and back after it.
template <class Loop>
struct WidenedLoop {
  Loop loop = nullptr;
  size_t input_bytes = 0, output_bytes = 0;     ///< the size of an element of the tensors
  UnaryLoop widen = nullptr, narrow = nullptr;  ///< null if no conversion is needed
};

/// The compute function of binary ops on CPUs, with the loop for the dtypes of a node.
class BinaryCompute {
 public:
  BinaryCompute(const PrepareContext& context, BinaryLoopOf loop_of, Cost cost = Cost::Arithmetic);
  void operator()(const BinaryArguments& arguments, DeviceContext& device) const;

 private:
  void run_broadcast(const BinaryArguments& arguments, Pool& pool) const;
  /// Computes one run of elements; a step of 0 repeats the first element of that input.
  void step(const std::byte* a, size_t step_a, const std::byte* b, size_t step_b, std::byte* out,
            size_t n) const;

  WidenedLoop<BinaryLoop> loop_;
  size_t cost_;
};

/// Returns a kernel for every dtype of attribute T that has a loop.
KernelDef unary_kernel(std::string op, UnaryLoopOf loop_of, Cost cost = Cost::Arithmetic);
/// Returns a kernel whose inputs broadcast.
KernelDef binary_kernel(std::string op, BinaryLoopOf loop_of, Cost cost = Cost::Arithmetic,
                        SecondCheck check = nullptr);
/// Returns a kernel whose input 1 broadcasts as the shape that `shape_of` returns.
KernelDef binary_kernel(std::string op, BinaryLoopOf loop_of, SecondShapeOf shape_of);
/// Returns a kernel that fails with InvalidArgument unless its inputs have the same shape.
KernelDef paired_kernel(std::string op, BinaryLoopOf loop_of, Cost cost = Cost::Arithmetic);

/// A loop that applies Function::apply(x) to single elements. The output is an input or does not overlap it, so no element
/// depends on another (ivdep): the compiler may use the vector instructions of the baseline.
template <class Function, class T>
void scalar_unary_loop(const void* input, void* output, size_t n) {
  using R = decltype(Function::apply(T{}));
  const T* x = static_cast<const T*>(input);
  R* y = static_cast<R*>(output);
#pragma GCC ivdep
  for (size_t i = 0; i < n; ++i) y[i] = Function::apply(x[i]);
}

template <class Function, bool RepeatsA, bool RepeatsB, class T, class R>
void scalar_binary_run(const T* a, const T* b, R* out, size_t n) {
  const T first_a = *a, first_b = *b;
#pragma GCC ivdep
  for (size_t i = 0; i < n; ++i)
    out[i] = Function::apply(RepeatsA ? first_a : a[i], RepeatsB ? first_b : b[i]);
}

template <class Function, class T>
void scalar_binary_loop(const void* left, size_t step_a, const void* right, size_t step_b, void* output,
                        size_t n) {
  using R = decltype(Function::apply(std::declval<const T&>(), std::declval<const T&>()));
  const T* a = static_cast<const T*>(left);
  const T* b = static_cast<const T*>(right);
  R* out = static_cast<R*>(output);
  if (n == 0) return;
  if (step_a == 0) return scalar_binary_run<Function, true, false>(a, b, out, n);
  if (step_b == 0) return scalar_binary_run<Function, false, true>(a, b, out, n);
  scalar_binary_run<Function, false, false>(a, b, out, n);
}

/// Return the scalar loop for a dtype of the list, or null.
template <class Function, class List>
UnaryLoop scalar_unary_loop_of(DType dtype) {
  UnaryLoop loop = nullptr;
  with_type(List{}, dtype, [&]<class T>(std::type_identity<T>) { loop = scalar_unary_loop<Function, T>; });
  return loop;
}
template <class Function, class List>
BinaryLoop scalar_binary_loop_of(DType dtype) {
  BinaryLoop loop = nullptr;
  with_type(List{}, dtype, [&]<class T>(std::type_identity<T>) { loop = scalar_binary_loop<Function, T>; });
  return loop;
}

/// Return the vector code for float and double, a scalar loop for the types of the list, else null.
template <VectorUnary Vector, class Scalar = void, class List = TypeList<>>
UnaryLoop unary_loop(DType dtype) {
  const UnaryLoop loop = vector_loop(Vector, dtype);
  return loop ? loop : scalar_unary_loop_of<Scalar, List>(dtype);
}
template <VectorBinary Vector, class Scalar = void, class List = TypeList<>>
BinaryLoop binary_loop(DType dtype) {
  const BinaryLoop loop = vector_loop(Vector, dtype);
  return loop ? loop : scalar_binary_loop_of<Scalar, List>(dtype);
}

/// Shape function of paired kernels: both inputs and the output have one shape.
Status same_shapes(ShapeContext& context);

}  // namespace troupe
