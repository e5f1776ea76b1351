// Numbers on the host and on GPUs. Half and BFloat16 are storage types: kernels load them as float, compute, and store. These
// functions round as the conversions of messages/values/dtype.h do. Pure functions.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/gpu/any.h"
#include "messages/values/dtype.h"

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

namespace troupe::gpu {

/// The type in which elements of type T are computed.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

/// Returns the value of an element as a number that can be computed with.
template <class T>
TROUPE_ANY Wide<T> load(const T& element) {
  return element;
}
template <>
TROUPE_ANY inline float load(const Half& element) {
#if defined(__CUDA_ARCH__)
  return __half2float(reinterpret_cast<const __half&>(element));
#else
  return static_cast<float>(element);
#endif
}
template <>
TROUPE_ANY inline float load(const BFloat16& element) {
#if defined(__CUDA_ARCH__)
  return __bfloat162float(reinterpret_cast<const __nv_bfloat16&>(element));
#else
  return static_cast<float>(element);
#endif
}

/// Stores a number as an element, rounded to nearest even.
template <class T>
TROUPE_ANY void store(T& element, Wide<T> value) {
  element = value;
}
template <>
TROUPE_ANY inline void store(Half& element, float value) {
#if defined(__CUDA_ARCH__)
  reinterpret_cast<__half&>(element) = __float2half_rn(value);
#else
  element = Half(value);
#endif
}
template <>
TROUPE_ANY inline void store(BFloat16& element, float value) {
#if defined(__CUDA_ARCH__)
  reinterpret_cast<__nv_bfloat16&>(element) = __float2bfloat16_rn(value);
#else
  element = BFloat16(value);
#endif
}

}  // namespace troupe::gpu
