// Elementwise ops on GPUs: the kernels of ops whose checks are in kernels/loops/elementwise.h, from a function of elements
// (kernels/gpu/functions.h). Any thread may call them.
#pragma once

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/map.h"
#include "kernels/loops/elementwise.h"

namespace troupe::gpu {

/// The type of the elements in which results of type W are stored, for inputs of type T.
template <class W, class T>
using Stored = std::conditional_t<std::is_same_v<W, Wide<T>>, T, W>;

template <class F, class T>
Status compute_unary(const UnaryArguments& arguments, DeviceContext& device) {
  using R = Stored<decltype(F()(Wide<T>())), T>;
  return map(device, F(), arguments.n, reinterpret_cast<R*>(arguments.y),
             reinterpret_cast<const T*>(arguments.x));
}

template <class F, class T>
Status compute_binary(const BinaryArguments& arguments, DeviceContext& device) {
  using R = Stored<decltype(F()(Wide<T>(), Wide<T>())), T>;
  const auto *const a = reinterpret_cast<const T*>(arguments.a), *const b =
                                                                     reinterpret_cast<const T*>(arguments.b);
  auto* const out = reinterpret_cast<R*>(arguments.out);
  if (!arguments.broadcast) return map(device, F(), arguments.n, out, a, b);
  TROUPE_ASSIGN(const auto strides, Strides<2>::make(*arguments.broadcast));
  return map_strided(device, F(), arguments.n, out, strides, a, b);
}

/// Add a kernel for each type of attribute T.
template <class F, class... T>
void add_unary(OpLibrary& library, const char* op, TypeList<T...>) {
  (library.kernel(gpu_kernel(op, check_unary, compute_unary<F, T>).on("T", {dtype_of<T>})), ...);
}
/// The inputs broadcast.
template <class F, class... T>
void add_binary(OpLibrary& library, const char* op, TypeList<T...>) {
  (library.kernel(gpu_kernel(op, BinaryCheck{}, compute_binary<F, T>).on("T", {dtype_of<T>})), ...);
}
/// The inputs have one shape.
template <class F, class... T>
void add_paired(OpLibrary& library, const char* op, TypeList<T...>) {
  constexpr BinaryCheck check{.broadcasts = false};
  (library.kernel(gpu_kernel(op, check, compute_binary<F, T>).on("T", {dtype_of<T>})), ...);
}

}  // namespace troupe::gpu
