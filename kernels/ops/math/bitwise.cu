// Integers as rows of bits on GPUs: see bitwise.cpp.
#include "kernels/ops/math/bitwise.h"

#include "kernels/gpu/elementwise.h"

namespace troupe {
namespace {

template <class Function>
struct Bits {
  template <class... T>
  TROUPE_ANY auto operator()(T... x) const {
    return Function::apply(x...);
  }
};

/// Where the sign does not matter, one kernel serves all integers of one size.
template <class Function, class T>
using BitsOf = std::conditional_t<std::is_same_v<Function, LeftShift> || std::is_same_v<Function, RightShift>,
                                  T, std::make_unsigned_t<T>>;

template <class Function, class... T>
void add_unary(OpLibrary& library, const char* op, TypeList<T...>) {
  (library.kernel(gpu_kernel(op, check_unary, gpu::compute_unary<Bits<Function>, BitsOf<Function, T>>)
                      .on("T", {dtype_of<T>})),
   ...);
}
template <class Function, class... T>
void add_binary(OpLibrary& library, const char* op, TypeList<T...>) {
  (library.kernel(gpu_kernel(op, BinaryCheck{}, gpu::compute_binary<Bits<Function>, BitsOf<Function, T>>)
                      .on("T", {dtype_of<T>})),
   ...);
}

}  // namespace

void add_bitwise_on_gpu(OpLibrary& library) {
  constexpr IntegerTypes types;
  add_binary<BitwiseAnd>(library, "BitwiseAnd", types);
  add_binary<BitwiseOr>(library, "BitwiseOr", types);
  add_binary<BitwiseXor>(library, "BitwiseXor", types);
  add_unary<Invert>(library, "Invert", types);
  add_binary<LeftShift>(library, "LeftShift", types);
  add_unary<PopulationCount>(library, "PopulationCount", types);
  add_binary<RightShift>(library, "RightShift", types);
}

}  // namespace troupe
