// The binary form of protocol buffers, as far as TensorFlow's files and ops need it: a message is a sequence of fields, each of
// them a tag (the field's number and kind) and a value. Sizes are checked before they are used. Values refer to the bytes that were
// read. Plain values and functions without state; any thread. Source: protobuf.dev, "Encoding".
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::protobuf {

static_assert(std::endian::native == std::endian::little, "numbers of fixed size are little-endian");

/// Removes a varint (seven bits per byte, the lowest first) from the beginning of the bytes. Returns nothing if it does not end.
std::optional<uint64_t> take_varint(std::string_view& bytes);
void append_varint(std::string& to, uint64_t value);

/// How a value is stored. The numbers are those of tags.
enum class FieldKind : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

struct Field {
  uint32_t number = 0;
  FieldKind kind = FieldKind::Varint;
  uint64_t varint = 0;  ///< for Varint
  /// For the other kinds: those of a string, a message, packed numbers, or a number of fixed size.
  std::string_view bytes = {};
};

/// Reads the fields of a message in turn.
class FieldReader {
 public:
  explicit FieldReader(std::string_view message) : rest_(message) {}

  /// Returns nothing at the end of the message and where it is damaged.
  std::optional<Field> next();
  /// True if the bytes that were read are no message: cut off, or with a tag that is not allowed.
  bool damaged() const { return damaged_; }

 private:
  std::optional<Field> damage() {
    damaged_ = true;
    return {};
  }
  bool take_bytes(uint64_t size, Field& field);

  std::string_view rest_;
  bool damaged_ = false;
};

/// Calls take(uint64_t) for the varints of a field, packed or not, until it returns false. Returns false if it did, or the field
/// has another kind or is damaged.
template <class Take>
bool each_varint(const Field& field, const Take& take) {
  if (field.kind == FieldKind::Varint) return take(field.varint);
  if (field.kind != FieldKind::Bytes) return false;
  for (std::string_view rest = field.bytes; !rest.empty();) {
    const auto value = take_varint(rest);
    if (!value || !take(*value)) return false;
  }
  return true;
}

/// Does the same for numbers of fixed size: T is float or double.
template <class T, class Take>
bool each_fixed(const Field& field, const Take& take) {
  constexpr FieldKind kind = sizeof(T) == sizeof(uint32_t) ? FieldKind::Fixed32 : FieldKind::Fixed64;
  if ((field.kind != kind && field.kind != FieldKind::Bytes) || field.bytes.size() % sizeof(T) != 0)
    return false;
  for (size_t at = 0; at < field.bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, field.bytes.data() + at, sizeof value);
    if (!take(value)) return false;
  }
  return true;
}

void append_varint_field(std::string& message, uint32_t number, uint64_t value);
/// Appends a string, or a message in binary form.
void append_bytes_field(std::string& message, uint32_t number, std::string_view value);

}  // namespace troupe::protobuf
