#include "messages/protobuf/fields.h"

namespace troupe::protobuf {
namespace {

constexpr int kind_bits = 3;

void append_tag(std::string& message, uint32_t number, FieldKind kind) {
  append_varint(message, uint64_t{number} << kind_bits | static_cast<uint64_t>(kind));
}

}  // namespace

std::optional<uint64_t> take_varint(std::string_view& bytes) {
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

bool FieldReader::take_bytes(uint64_t size, Field& field) {
  if (size > rest_.size()) return false;
  field.bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

std::optional<Field> FieldReader::next() {
  if (rest_.empty() || damaged_) return {};
  const auto tag = take_varint(rest_);
  if (!tag || *tag > UINT32_MAX || *tag >> kind_bits == 0) return damage();
  Field field{.number = static_cast<uint32_t>(*tag >> kind_bits),
              .kind = static_cast<FieldKind>(*tag & ((1u << kind_bits) - 1))};
  switch (field.kind) {
    case FieldKind::Varint: {
      const auto value = take_varint(rest_);
      if (!value) return damage();
      field.varint = *value;
      return field;
    }
    case FieldKind::Bytes: {
      const auto size = take_varint(rest_);
      if (!size || !take_bytes(*size, field)) return damage();
      return field;
    }
    case FieldKind::Fixed32: return take_bytes(sizeof(uint32_t), field) ? field : damage();
    case FieldKind::Fixed64: return take_bytes(sizeof(uint64_t), field) ? field : damage();
    default: return damage();  // a group, an obsolete kind
  }
}

void append_varint_field(std::string& message, uint32_t number, uint64_t value) {
  append_tag(message, number, FieldKind::Varint);
  append_varint(message, value);
}

void append_bytes_field(std::string& message, uint32_t number, std::string_view value) {
  append_tag(message, number, FieldKind::Bytes);
  append_varint(message, value.size());
  message += value;
}

}  // namespace troupe::protobuf
