#include "kernels/loops/cast.h"

#include <bit>
#include <cmath>
#include <limits>

#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {
namespace {

template <class T>
inline constexpr bool is_stored_only = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

/// Converts x to an integer without its fraction, as x86 does: a value that T cannot hold becomes the least value of the signed
/// type T.
template <class T, class Float>
T whole(Float x) {
  constexpr auto least = static_cast<Float>(std::numeric_limits<T>::min());
  return x >= least && x < -least ? static_cast<T>(x) : std::numeric_limits<T>::min();
}

template <class T, class Float>
T to_integer(Float x) {
  if constexpr (sizeof(T) < sizeof(int32_t)) {
    return static_cast<T>(whole<int32_t>(x));
  } else if constexpr (std::is_signed_v<T>) {
    return whole<T>(x);
  } else if constexpr (std::is_same_v<T, uint32_t>) {
    return static_cast<T>(whole<int64_t>(x));
  } else {
    const int64_t low = whole<int64_t>(x);
    return static_cast<T>(low >= 0 ? low : low | whole<int64_t>(x - static_cast<Float>(0x1p63)));
  }
}

/// The bits of precision of a number stored as T; 0 for integers.
template <class T>
constexpr int precision() {
  if constexpr (is_complex_type<T>)
    return std::numeric_limits<typename T::value_type>::digits;
  else if constexpr (std::is_same_v<T, Half>)
    return 11;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return 8;
  else
    return std::is_floating_point_v<T> ? std::numeric_limits<T>::digits : 0;
}

/// Returns x without the bits for which a mantissa of `digits` bits has no room.
template <int digits, class T>
T shortened(T x) {
  if constexpr (is_complex_type<T>) {
    return {shortened<digits>(x.real()), shortened<digits>(x.imag())};
  } else {
    using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    if (std::isnan(x)) return x;
    return std::bit_cast<T>(std::bit_cast<Bits>(x) & ~Bits{0} << (precision<T>() - digits));
  }
}

template <class To, class From>
To converted(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (is_stored_only<From>) {
    return converted<To>(static_cast<float>(x));
  } else if constexpr (is_stored_only<To>) {
    return To(converted<float>(x));
  } else if constexpr (is_complex_type<From> && is_complex_type<To>) {
    using Part = typename To::value_type;
    return To(static_cast<Part>(x.real()), static_cast<Part>(x.imag()));
  } else if constexpr (is_complex_type<From>) {
    return converted<To>(x.real());
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From{};
  } else if constexpr (is_complex_type<To>) {
    return To(static_cast<typename To::value_type>(x));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return to_integer<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To>
void loop(const void* input, void* output, size_t n) {
  const From* x = static_cast<const From*>(input);
  To* y = static_cast<To*>(output);
#pragma GCC ivdep
  for (size_t i = 0; i < n; ++i) y[i] = converted<To>(x[i]);
}

template <class From, class To>
void truncating_loop(const void* input, void* output, size_t n) {
  const From* x = static_cast<const From*>(input);
  To* y = static_cast<To*>(output);
  for (size_t i = 0; i < n; ++i) y[i] = converted<To>(shortened<precision<To>()>(x[i]));
}

/// Returns the dtype of the integers that elements of a quantised dtype are; other dtypes as they are.
DType storage_dtype(DType dtype) {
  switch (dtype) {
    case DType::QInt8: return DType::Int8;
    case DType::QUInt8: return DType::UInt8;
    case DType::QInt16: return DType::Int16;
    case DType::QUInt16: return DType::UInt16;
    case DType::QInt32: return DType::Int32;
    default: return dtype;
  }
}

}  // namespace

UnaryLoop cast_loop(DType from, DType to) {
  from = storage_dtype(from);
  to = storage_dtype(to);
  UnaryLoop result = vector_cast_loop(from, to);
  if (result) return result;
  with_type(PlainTypes{}, from, [&]<class From>(std::type_identity<From>) {
    with_type(PlainTypes{}, to, [&]<class To>(std::type_identity<To>) { result = loop<From, To>; });
  });
  return result;
}

UnaryLoop truncating_cast_loop(DType from, DType to) {
  UnaryLoop result = nullptr;
  with_type(Joined<FloatTypes, ComplexTypes>{}, from, [&]<class From>(std::type_identity<From>) {
    with_type(Joined<AllFloatTypes, ComplexTypes>{}, to, [&]<class To>(std::type_identity<To>) {
      if constexpr (precision<To>() < precision<From>()) result = truncating_loop<From, To>;
    });
  });
  return result ? result : cast_loop(from, to);
}

Result<Tensor> converted(DeviceContext& device, const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  TROUPE_ASSIGN(Tensor result, Tensor::allocate(dtype, tensor.shape(), device.memory()));
  convert(device.pool(), tensor, result);
  return result;
}

void convert(Pool& pool, const Tensor& from, Tensor& to, UnaryLoop loop) {
  if (!loop) loop = cast_loop(from.dtype(), to.dtype());
  const size_t from_bytes = size_of(from.dtype()), to_bytes = size_of(to.dtype());
  parallel_items(pool, static_cast<size_t>(from.elements()), from_bytes + to_bytes,
                 [&](size_t begin, size_t end) {
                   loop(from.data() + begin * from_bytes, to.mutable_data() + begin * to_bytes, end - begin);
                 });
}

}  // namespace troupe
