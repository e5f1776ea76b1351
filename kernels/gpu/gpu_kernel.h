// How the files *.cu define the kernel of an op for GPUs: with the check of the CPU's kernel and a compute function of their own.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {
namespace gpu {

/// The types that most kernels of GPUs serve. Integers stay on the CPU: they are shapes, counters and labels.
using Floats = TypeList<float, double>;
using AllFloats = TypeList<float, double, Half, BFloat16>;

/// Returns f(std::type_identity<T>{}), a Status, for the type T of the list whose dtype is `dtype`; Ok if the list has none.
template <class F, class... Types>
Status for_type(TypeList<Types...> list, DType dtype, const F& f) {
  Status status;
  with_type(list, dtype, [&]<class T>(std::type_identity<T> type) { status = f(type); });
  return status;
}

}  // namespace gpu

template <class Check, class Compute>
KernelDef gpu_kernel(std::string op, Check check, Compute compute) {
  return kernel_on("GPU", std::move(op), std::move(check), std::move(compute));
}
/// Returns a kernel whose check is constructed from the PrepareContext of each node.
template <class Check, class Compute>
KernelDef gpu_kernel(std::string op, Compute compute) {
  return kernel_on<Check>("GPU", std::move(op), std::move(compute));
}

}  // namespace troupe
