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

bool detail::read_long_varint(const char*& at, const char* end, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && at != end; shift += 7) {
    const auto byte = static_cast<uint8_t>(*at++);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

void append_varint(std::string& to, uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}

void append_varint_field(std::string& message, uint32_t number, uint64_t value) {
  append_tag(message, number, FieldKind::Varint);
  append_varint(message, value);
}

void append_fixed_field(std::string& message, uint32_t number, uint32_t value) {
  append_tag(message, number, FieldKind::Fixed32);
  append_fixed(message, value);
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
