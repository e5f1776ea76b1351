// The types of ops that only move elements on GPUs, and the storage types with which one kernel serves all types of one size.
#pragma once

#include "kernels/gpu/gpu_kernel.h"

namespace troupe::gpu {

/// The types that kernels of GPUs move. int32 is not among them where an op often computes shapes, axes or counters, such as Pack
/// and StridedSlice: the host needs those, and each would cost a copy for which it waits.
using MovedTypes = Joined<AllFloats, TypeList<int64_t, bool>>;
/// For ops whose int32 tensors are rather labels and identifiers.
using MovedTypesAndInt32 = Joined<MovedTypes, TypeList<int32_t>>;

/// Returns f(std::type_identity<T>{}), a Status, for an unsigned integer type T of the size of the dtype, one of MovedTypes or int32.
template <class F>
Status with_stored(DType dtype, const F& f) {
  switch (size_of(dtype)) {
    case 1: return f(std::type_identity<uint8_t>{});
    case 2: return f(std::type_identity<uint16_t>{});
    case 4: return f(std::type_identity<uint32_t>{});
    default: return f(std::type_identity<uint64_t>{});
  }
}

template <class T>
const T* stored(const Tensor& tensor) {
  return reinterpret_cast<const T*>(tensor.data());
}
template <class T>
T* stored(Tensor& tensor) {
  return reinterpret_cast<T*>(tensor.mutable_data());
}

}  // namespace troupe::gpu
