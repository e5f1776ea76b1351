// The element types of tensors, with TensorFlow's names and numbers (features.md A2).
// Whether an edge carries a reference is a property of the edge (graph/ops/op_def.h), never of a DType.
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

/// IEEE 754 binary16, stored as its bits; arithmetic is done in float.
struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(float value);  ///< rounds to nearest even
  explicit operator float() const;
  friend bool operator==(Half, Half) = default;
};

/// The upper half of a float, stored as its bits. Conversion
/// truncates, as TensorFlow 1.x does (features.md U1).
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value) : bits(static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16)) {}
  explicit operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
  friend bool operator==(BFloat16, BFloat16) = default;
};

/// Quantised integers: distinct types over their storage.
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

/// What an element of dtype Variant stands for: a value of a class of its own (kernels/core/tensor_list.h).
class VariantValue {
 public:
  virtual ~VariantValue() = default;
};
/// Null until it is written.
using Variant = std::unique_ptr<VariantValue>;

/// Bytes of one element in memory; sizeof(std::string) for String, of a pointer for Variant, 0 for Invalid and Resource.
size_t size_of(DType dtype);
/// "float", "int32", ... as in TensorFlow's text forms; "invalid" for what is no type.
std::string_view name(DType dtype);
/// The inverse of name(); also accepts "float32", "float64", "float16".
Result<DType> dtype_from_name(std::string_view name);
/// The type with this number of TensorFlow's enum, or InvalidArgument.
Result<DType> dtype_from_number(int64_t number);

bool is_floating(DType dtype);  ///< half, bfloat16, float, double
bool is_complex(DType dtype);
bool is_integer(DType dtype);  ///< signed and unsigned, not quantised, not bool
bool is_number(DType dtype);   ///< any of these
/// The types through which gradients flow: half, float, double, complex (features.md G2).
bool is_differentiable(DType dtype);
/// What means something only on the device where it is, and has no bytes to send: handles and variants.
inline bool is_local(DType dtype) { return dtype == DType::Resource || dtype == DType::Variant; }
/// True when elements are plain bytes (every type but String, Resource and Variant).
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

/// dtype_of<float> == DType::Float.
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

}  // namespace troupe
#pragma GCC visibility pop
