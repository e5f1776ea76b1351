// The types of ops that only move elements on GPUs, and the storage types with which one kernel serves all types of one size.
#pragma once

#include "kernels/gpu/gpu_kernel.h"

namespace troupe::gpu {

/// The types for ops that often compute shapes, axes and counters, such as Pack and StridedSlice. Integers are not among them: the
/// host needs what such ops compute, and each result of a GPU would cost a copy for which the host waits.
using MovedTypes = Joined<AllFloats, TypeList<bool>>;
/// The types for ops whose integers are labels and identifiers.
using MovedTypesAndIntegers = Joined<MovedTypes, TypeList<int32_t, int64_t>>;

/// Returns f(std::type_identity<T>{}), a Status, for an unsigned integer type T of the size of the dtype, which has a plain type of
/// up to eight bytes.
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
