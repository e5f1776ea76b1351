#include <complex>

#include "messages/protobuf/tensor_proto.h"

namespace troupe::protobuf {
namespace {

/// Packs integers; `Stored` is the integer type with the bits of T. Negative numbers have ten bytes, as in all protocol buffers.
template <class T, class Stored = T>
std::string packed_integers(const Tensor& tensor) {
  std::string values;
  for (const T& element : tensor.as<T>()) {
    Stored number;
    std::memcpy(&number, &element, sizeof number);
    append_varint(values, static_cast<uint64_t>(number));
  }
  return values;
}

std::string packed_values(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::Int32: return packed_integers<int32_t>(tensor);
    case DType::UInt8: return packed_integers<uint8_t>(tensor);
    case DType::Int16: return packed_integers<int16_t>(tensor);
    case DType::Int8: return packed_integers<int8_t>(tensor);
    case DType::UInt16: return packed_integers<uint16_t>(tensor);
    case DType::QInt8: return packed_integers<QInt8, int8_t>(tensor);
    case DType::QUInt8: return packed_integers<QUInt8, uint8_t>(tensor);
    case DType::QInt16: return packed_integers<QInt16, int16_t>(tensor);
    case DType::QUInt16: return packed_integers<QUInt16, uint16_t>(tensor);
    case DType::QInt32: return packed_integers<QInt32, int32_t>(tensor);
    case DType::Half: return packed_integers<Half, uint16_t>(tensor);
    case DType::BFloat16: return packed_integers<BFloat16, uint16_t>(tensor);
    case DType::Int64: return packed_integers<int64_t>(tensor);
    case DType::UInt32: return packed_integers<uint32_t>(tensor);
    case DType::UInt64: return packed_integers<uint64_t>(tensor);
    case DType::Bool: return packed_integers<bool, uint8_t>(tensor);
    default: return {reinterpret_cast<const char*>(tensor.data()), tensor.bytes()};  // floating and complex
  }
}

}  // namespace

void append_values(std::string& proto, const Tensor& tensor) {
  if (tensor.elements() == 0) return;
  const uint32_t number = values_field(tensor.dtype());
  if (tensor.dtype() != DType::String) return append_bytes_field(proto, number, packed_values(tensor));
  for (const std::string& element : tensor.as<std::string>()) append_bytes_field(proto, number, element);
}

}  // namespace troupe::protobuf
