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

namespace detail {
inline constexpr int kind_bits = 3;
bool read_long_varint(const char*& at, const char* end, uint64_t& value);
}  // namespace detail

/// Reads a varint (seven bits per byte, the lowest first) from [at, end) and moves `at` to its end. Returns false if it does not
/// end. Most varints have one byte or two; those stay in registers.
inline bool read_varint(const char*& at, const char* end, uint64_t& value) {
  if (end - at < 2) return detail::read_long_varint(at, end, value);
  const auto first = static_cast<uint8_t>(at[0]), second = static_cast<uint8_t>(at[1]);
  if (first < 0x80) {
    value = first;
    at += 1;
    return true;
  }
  if (second >= 0x80) return detail::read_long_varint(at, end, value);
  value = (first & 0x7fu) | uint32_t{second} << 7;
  at += 2;
  return true;
}

/// Removes a varint from the beginning of the bytes. Returns nothing if it does not end.
inline std::optional<uint64_t> take_varint(std::string_view& bytes) {
  const char* at = bytes.data();
  uint64_t value = 0;
  const bool ends = read_varint(at, bytes.data() + bytes.size(), value);
  bytes.remove_prefix(static_cast<size_t>(at - bytes.data()));
  return ends ? std::optional(value) : std::nullopt;
}
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
  explicit FieldReader(std::string_view message) : at_(message.data()), end_(at_ + message.size()) {}

  /// Returns nothing at the end of the message and where it is damaged.
  std::optional<Field> next() {
    Field field;
    return next(field) ? std::optional<Field>(field) : std::nullopt;
  }
  /// The same for an inner loop: returns false where the other returns nothing.
  bool next(Field& field);
  /// True if the bytes that were read are no message: cut off, or with a tag that is not allowed.
  bool damaged() const { return damaged_; }

 private:
  bool damage() {
    damaged_ = true;
    return false;
  }
  bool take_bytes(uint64_t size, Field& field) {
    if (size > static_cast<size_t>(end_ - at_)) return damage();
    field.bytes = {at_, static_cast<size_t>(size)};
    at_ += size;
    return true;
  }

  const char* at_;
  const char* end_;
  bool damaged_ = false;
};

inline bool FieldReader::next(Field& field) {
  if (at_ == end_ || damaged_) return false;
  uint64_t tag = 0, size = 0;
  if (!read_varint(at_, end_, tag) || tag > UINT32_MAX || tag >> detail::kind_bits == 0) return damage();
  field.number = static_cast<uint32_t>(tag >> detail::kind_bits);
  field.kind = static_cast<FieldKind>(tag & ((1u << detail::kind_bits) - 1));
  switch (field.kind) {
    case FieldKind::Varint: return read_varint(at_, end_, field.varint) || damage();
    case FieldKind::Bytes: return read_varint(at_, end_, size) ? take_bytes(size, field) : damage();
    case FieldKind::Fixed32: return take_bytes(sizeof(uint32_t), field);
    case FieldKind::Fixed64: return take_bytes(sizeof(uint64_t), field);
    default: return damage();  // a group, an obsolete kind
  }
}

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
/// Appends a number of fixed size.
void append_fixed_field(std::string& message, uint32_t number, uint32_t value);
void append_fixed_field(std::string& message, uint32_t number, float value);
void append_fixed_field(std::string& message, uint32_t number, double value);
/// Appends a string, or a message in binary form.
void append_bytes_field(std::string& message, uint32_t number, std::string_view value);

}  // namespace troupe::protobuf
