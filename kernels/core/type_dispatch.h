// Calls code compiled for the C++ type of a dtype that is known at run time. Free functions without state; any thread may call
// them.
#pragma once

#include <complex>
#include <string>
#include <type_traits>
#include <vector>

#include "messages/values/dtype.h"

namespace troupe {

template <class... Types>
struct TypeList {};

template <class... A, class... B>
TypeList<A..., B...> join(TypeList<A...>, TypeList<B...>);  // only declared, for Joined
template <class A, class B>
using Joined = decltype(join(A{}, B{}));

using FloatTypes = TypeList<float, double>;
using NarrowTypes = TypeList<Half, BFloat16>;
using AllFloatTypes = Joined<FloatTypes, NarrowTypes>;
using IntegerTypes = TypeList<int32_t, int64_t, int8_t, uint8_t, int16_t, uint16_t, uint32_t, uint64_t>;
using ComplexTypes = TypeList<std::complex<float>, std::complex<double>>;
using RealTypes = Joined<AllFloatTypes, IntegerTypes>;
using NumberTypes = Joined<RealTypes, ComplexTypes>;
using PlainTypes = Joined<NumberTypes, TypeList<bool>>;
// The types without the narrow floats: their arithmetic is done in the type itself.
using WideRealTypes = Joined<FloatTypes, IntegerTypes>;
using WideNumberTypes = Joined<WideRealTypes, ComplexTypes>;

/// Calls f(std::type_identity<T>{}) for the type T of the list whose dtype is `dtype`. Returns false, without a call, if the
/// list has none.
template <class F, class... Types>
bool with_type(TypeList<Types...>, [[maybe_unused]] DType dtype, F&& f) {
  return ((dtype == dtype_of<Types> && (f(std::type_identity<Types>{}), true)) || ...);
}

/// Returns the dtypes of a list, for KernelDef::on.
template <class... Types>
std::vector<DType> dtypes(TypeList<Types...>) {
  return {dtype_of<Types>...};
}

/// An element of sixteen bytes, for code that only moves elements.
struct Bytes16 {
  uint64_t low, high;
};

/// Calls f(std::type_identity<T>{}) for a type T of the size of the dtype, so that code can move elements without knowing their
/// type; T is std::string for strings.
template <class F>
void with_storage(DType dtype, F&& f) {
  if (dtype == DType::String) return f(std::type_identity<std::string>{});
  switch (size_of(dtype)) {
    case 1: return f(std::type_identity<uint8_t>{});
    case 2: return f(std::type_identity<uint16_t>{});
    case 4: return f(std::type_identity<uint32_t>{});
    case 8: return f(std::type_identity<uint64_t>{});
    default: return f(std::type_identity<Bytes16>{});
  }
}

/// The type in which elements of type T are computed: float for Half and BFloat16, which are storage types, else T.
template <class T>
using ComputeType = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

template <class T>
inline constexpr bool is_complex_type =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

}  // namespace troupe
