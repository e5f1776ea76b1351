// DType: the element types of tensors, with TensorFlow's names and numbers (features.md A2), and the C++ types of their elements.
// Whether an edge carries a reference to a variable is a property of the edge (graph/ops/op_def.h), not of its DType.
#pragma once

#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "messages/values/status.h"

#pragma GCC visibility push(default)
namespace troupe {

enum class DType : uint8_t {
  Invalid = 0,
  Float = 1,
  Double = 2,
  Int32 = 3,
  UInt8 = 4,
  Int16 = 5,
  Int8 = 6,
  String = 7,
  Complex64 = 8,
  Int64 = 9,
  Bool = 10,
  QInt8 = 11,
  QUInt8 = 12,
  QInt32 = 13,
  BFloat16 = 14,
  QInt16 = 15,
  QUInt16 = 16,
  UInt16 = 17,
  Complex128 = 18,
  Half = 19,
  Resource = 20,
  Variant = 21,
  UInt32 = 22,
  UInt64 = 23,
};

inline constexpr DType f32 = DType::Float;
inline constexpr DType f64 = DType::Double;
inline constexpr DType i32 = DType::Int32;
inline constexpr DType i64 = DType::Int64;

/// An IEEE 754 binary16 number. Arithmetic on it is done in float.
struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(float value);  ///< rounds to the nearest number, ties to even
  explicit operator float() const;
  friend bool operator==(Half, Half) = default;
};

/// The upper 16 bits of a float. Arithmetic on it is done in float.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value);  ///< rounds to the nearest number, ties to even; NaN stays a NaN
  explicit operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
  friend bool operator==(BFloat16, BFloat16) = default;
};

inline BFloat16::BFloat16(float value) {
  const uint32_t whole = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = whole + 0x7fffu + (whole >> 16 & 1u);
  bits = static_cast<uint16_t>((value != value ? whole | 0x400000u : rounded) >> 16);
}

/// Quantised integers. They are types of their own, so that they are not mistaken for the integers that store them.
template <class Storage, int Tag>
struct Quantized {
  Storage value = 0;
  friend bool operator==(Quantized, Quantized) = default;
};
using QInt8 = Quantized<int8_t, 0>;
using QUInt8 = Quantized<uint8_t, 1>;
using QInt32 = Quantized<int32_t, 2>;
using QInt16 = Quantized<int16_t, 3>;
using QUInt16 = Quantized<uint16_t, 4>;

/// The base class of what an element of dtype Variant may hold, such as a tensor list (kernels/core/tensor_list.h).
class VariantValue {
 public:
  virtual ~VariantValue() = default;
};
/// An element of dtype Variant; null until it is written.
using Variant = std::unique_ptr<VariantValue>;

/// Returns the size in bytes of one element in memory: sizeof(std::string)
/// for String, sizeof(Variant) for Variant, and 0 for Invalid and Resource.
size_t size_of(DType dtype);
/// Returns the name that TensorFlow's text formats use: "float", "int32", ...; "invalid" for Invalid and unknown numbers.
std::string_view name(DType dtype);
/// Returns the type with this name. Also accepts "float32", "float64"
/// and "float16". Fails with InvalidArgument for an unknown name.
Result<DType> dtype_from_name(std::string_view name);
/// Returns the type with this number in TensorFlow's enum. Fails with InvalidArgument for an unknown number.
Result<DType> dtype_from_number(int64_t number);

bool is_floating(DType dtype);  ///< true for half, bfloat16, float and double
bool is_complex(DType dtype);
/// True for signed and unsigned integers, but neither for quantised types nor for bool.
bool is_integer(DType dtype);
bool is_number(DType dtype);  ///< true for floating, complex and integer types
/// True for the types through which gradients flow: the floating types and the complex types.
bool is_differentiable(DType dtype);
/// True for handles and variants. They have a meaning only on the device where they are, so they cannot be sent.
inline bool is_local(DType dtype) { return dtype == DType::Resource || dtype == DType::Variant; }
/// True if the elements are plain bytes: for every type but Invalid, String, Resource and Variant.
inline bool is_plain(DType dtype) {
  return dtype != DType::Invalid && dtype != DType::String && !is_local(dtype);
}

template <class T>
struct DTypeOf;
#define TROUPE_DTYPE(Type, Name)                \
  template <>                                   \
  struct DTypeOf<Type> {                        \
    static constexpr DType value = DType::Name; \
  };
TROUPE_DTYPE(float, Float)
TROUPE_DTYPE(double, Double)
TROUPE_DTYPE(int32_t, Int32)
TROUPE_DTYPE(uint8_t, UInt8)
TROUPE_DTYPE(int16_t, Int16)
TROUPE_DTYPE(int8_t, Int8)
TROUPE_DTYPE(std::string, String)
TROUPE_DTYPE(std::complex<float>, Complex64)
TROUPE_DTYPE(int64_t, Int64)
TROUPE_DTYPE(bool, Bool)
TROUPE_DTYPE(QInt8, QInt8)
TROUPE_DTYPE(QUInt8, QUInt8)
TROUPE_DTYPE(QInt32, QInt32)
TROUPE_DTYPE(BFloat16, BFloat16)
TROUPE_DTYPE(QInt16, QInt16)
TROUPE_DTYPE(QUInt16, QUInt16)
TROUPE_DTYPE(uint16_t, UInt16)
TROUPE_DTYPE(std::complex<double>, Complex128)
TROUPE_DTYPE(Half, Half)
TROUPE_DTYPE(Variant, Variant)
TROUPE_DTYPE(uint32_t, UInt32)
TROUPE_DTYPE(uint64_t, UInt64)
#undef TROUPE_DTYPE

/// The DType of a C++ element type: dtype_of<float> == DType::Float.
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

}  // namespace troupe
#pragma GCC visibility pop
