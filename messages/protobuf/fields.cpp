#include "messages/protobuf/fields.h"

namespace troupe::protobuf {
namespace {

void append_tag(std::string& message, uint32_t number, FieldKind kind) {
  append_varint(message, uint64_t{number} << detail::kind_bits | static_cast<uint64_t>(kind));
}

template <class T>
void append_fixed(std::string& message, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  message.append(bytes, sizeof bytes);
}

}  // namespace

std::optional<uint64_t> detail::take_long_varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

void append_varint(std::string& to, uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}

void append_varint_field(std::string& message, uint32_t number, uint64_t value) {
  append_tag(message, number, FieldKind::Varint);
  append_varint(message, value);
}

void append_fixed_field(std::string& message, uint32_t number, float value) {
  append_tag(message, number, FieldKind::Fixed32);
  append_fixed(message, value);
}

void append_fixed_field(std::string& message, uint32_t number, double value) {
  append_tag(message, number, FieldKind::Fixed64);
  append_fixed(message, value);
}

void append_bytes_field(std::string& message, uint32_t number, std::string_view value) {
  append_tag(message, number, FieldKind::Bytes);
  append_varint(message, value.size());
  message += value;
}

}  // namespace troupe::protobuf
