#include "messages/values/dtype.h"

#include <array>

namespace troupe {
namespace {

struct Row {
  std::string_view name;
  size_t size;
};

// Indexed by the number of the type.
constexpr std::array<Row, 24> rows = {{
    {"invalid", 0},     {"float", 4},
    {"double", 8},      {"int32", 4},
    {"uint8", 1},       {"int16", 2},
    {"int8", 1},        {"string", sizeof(std::string)},
    {"complex64", 8},   {"int64", 8},
    {"bool", 1},        {"qint8", 1},
    {"quint8", 1},      {"qint32", 4},
    {"bfloat16", 2},    {"qint16", 2},
    {"quint16", 2},     {"uint16", 2},
    {"complex128", 16}, {"half", 2},
    {"resource", 0},    {"variant", sizeof(Variant)},
    {"uint32", 4},      {"uint64", 8},
}};

const Row& row(DType dtype) {
  const auto index = static_cast<size_t>(dtype);
  return index < rows.size() ? rows[index] : rows[0];
}

}  // namespace

size_t size_of(DType dtype) { return row(dtype).size; }
std::string_view name(DType dtype) { return row(dtype).name; }

Result<DType> dtype_from_name(std::string_view name) {
  if (name == "float32") return DType::Float;
  if (name == "float64") return DType::Double;
  if (name == "float16") return DType::Half;
  for (size_t i = 1; i < rows.size(); ++i)
    if (rows[i].name == name) return static_cast<DType>(i);
  return invalid_argument("unknown dtype '" + std::string(name) + "'");
}

Result<DType> dtype_from_number(int64_t number) {
  if (number < 1 || number >= static_cast<int64_t>(rows.size()))
    return invalid_argument("unknown dtype number " + std::to_string(number));
  return static_cast<DType>(number);
}

bool is_floating(DType dtype) {
  return dtype == DType::Float || dtype == DType::Double || dtype == DType::Half || dtype == DType::BFloat16;
}

bool is_complex(DType dtype) { return dtype == DType::Complex64 || dtype == DType::Complex128; }

bool is_integer(DType dtype) {
  switch (dtype) {
    case DType::Int8:
    case DType::UInt8:
    case DType::Int16:
    case DType::UInt16:
    case DType::Int32:
    case DType::UInt32:
    case DType::Int64:
    case DType::UInt64: return true;
    default: return false;
  }
}

bool is_number(DType dtype) { return is_floating(dtype) || is_complex(dtype) || is_integer(dtype); }

bool is_differentiable(DType dtype) { return is_floating(dtype) || is_complex(dtype); }

Half::Half(float value) {
  const uint32_t bits32 = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits32 >> 16) & 0x8000u;
  uint32_t magnitude = bits32 & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {  // NaN stays a NaN
    bits = static_cast<uint16_t>(sign | 0x7e00u);
  } else if (magnitude >= 0x47800000u) {  // 65536 and above
    bits = static_cast<uint16_t>(sign | 0x7c00u);
  } else if (magnitude < 0x38800000u) {  // subnormal in half: let the float adder round
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    bits = static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  } else {
    magnitude += 0xc8000fffu + ((magnitude >> 13) & 1u);  // rebias the exponent, round to nearest even
    bits = static_cast<uint16_t>(sign | (magnitude >> 13));
  }
}

Half::operator float() const {
  const uint32_t sign = uint32_t{bits & 0x8000u} << 16;
  const uint32_t magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude < 0x0400u) {  // zero and subnormals: magnitude * 2^-24
    const float value = static_cast<float>(magnitude) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(value));
  }
  return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
}

}  // namespace troupe
