#include "kernels/ops/parsing/example_values.h"

#include <algorithm>
#include <bit>

namespace troupe::parsing {
namespace {

using protobuf::Field;
using protobuf::FieldKind;
using protobuf::FieldReader;

/// Calls take(field) for the fields that have elements, until it returns false. Returns false if it did or the list is damaged.
template <class Take>
bool each_field(std::string_view list, const Take& take) {
  FieldReader reader(list);
  Field field;
  while (reader.next(field))
    if (field.number == OnlyField && !take(field)) return false;
  return !reader.damaged();
}

/// Returns how many varints end in the bytes; nothing if the last one does not.
std::optional<int64_t> count_varints(std::string_view bytes) {
  if (!bytes.empty() && static_cast<uint8_t>(bytes.back()) >= 0x80) return std::nullopt;
  return std::ranges::count_if(bytes, [](char byte) { return static_cast<uint8_t>(byte) < 0x80; });
}

/// Returns how many elements a field has.
std::optional<int64_t> count_in(const Field& field, DType dtype) {
  switch (dtype) {
    case DType::String: return field.kind == FieldKind::Bytes ? std::optional<int64_t>(1) : std::nullopt;
    case DType::Float:
      if (field.kind != FieldKind::Bytes && field.kind != FieldKind::Fixed32) return std::nullopt;
      if (field.bytes.size() % sizeof(float) != 0) return std::nullopt;
      return static_cast<int64_t>(field.bytes.size() / sizeof(float));
    default:
      if (field.kind == FieldKind::Varint) return 1;
      return field.kind == FieldKind::Bytes ? count_varints(field.bytes) : std::nullopt;
  }
}

/// Writes the elements of a field to `to`, before `end`. Returns false if they are too many or damaged.
bool write_field(const Field& field, std::string*& to, std::string* end) {
  if (field.kind != FieldKind::Bytes || to == end) return false;
  (to++)->assign(field.bytes);
  return true;
}

bool write_field(const Field& field, float*& to, float* end) {
  const size_t size = field.bytes.size(), space = static_cast<size_t>(end - to) * sizeof(float);
  if (field.kind != FieldKind::Bytes && field.kind != FieldKind::Fixed32) return false;
  if (size % sizeof(float) != 0 || size > space) return false;
  if (size != 0) std::memcpy(to, field.bytes.data(), size);
  to += size / sizeof(float);
  return true;
}

bool write_field(const Field& field, int64_t*& to, int64_t* end) {
  if (field.kind == FieldKind::Varint) {
    if (to == end) return false;
    *to++ = static_cast<int64_t>(field.varint);
    return true;
  }
  if (field.kind != FieldKind::Bytes) return false;
  const char* at = field.bytes.data();
  for (const char* const last = at + field.bytes.size(); at != last;) {
    uint64_t value = 0;
    if (to == end || !protobuf::read_varint(at, last, value)) return false;
    *to++ = static_cast<int64_t>(value);
  }
  return true;
}

template <class T>
bool write_list(std::string_view list, Tensor& tensor, int64_t first, int64_t count) {
  T* to = tensor.write<T>().data() + first;
  T* const end = to + count;
  return each_field(list, [&](const Field& field) { return write_field(field, to, end); }) && to == end;
}

}  // namespace

std::optional<FeatureValues> read_feature(std::string_view feature) {
  FeatureValues values;
  FieldReader reader(feature);
  Field field;
  while (reader.next(field)) {
    if (field.number < 1 || field.number > 3 || field.kind != FieldKind::Bytes) return std::nullopt;
    values.dtype = field.number == 1 ? DType::String : field.number == 2 ? DType::Float : DType::Int64;
    values.list = field.bytes;
  }
  if (reader.damaged()) return std::nullopt;
  return values;
}

std::optional<int64_t> count_values(const FeatureValues& values) {
  int64_t count = 0;
  const bool whole = each_field(values.list, [&](const Field& field) {
    const auto more = count_in(field, values.dtype);
    count += more.value_or(0);
    return more.has_value();
  });
  return whole ? std::optional(count) : std::nullopt;
}

bool write_values(const FeatureValues& values, Tensor& tensor, int64_t first, int64_t count) {
  switch (values.dtype) {
    case DType::String: return write_list<std::string>(values.list, tensor, first, count);
    case DType::Float: return write_list<float>(values.list, tensor, first, count);
    default: return write_list<int64_t>(values.list, tensor, first, count);
  }
}

uint64_t KeyTable::hash(std::string_view key) {
  // The first and the last eight bytes and the length tell keys apart nearly always; where they do not, the search goes on.
  uint64_t first = 0, last = 0;
  const size_t size = std::min(key.size(), sizeof first);
  if (size != 0) {
    std::memcpy(&first, key.data(), size);
    std::memcpy(&last, key.data() + key.size() - size, size);
  }
  const uint64_t mixed =
      (first * 0x9E3779B97F4A7C15u) ^ std::rotl(last * 0xC2B2AE3D27D4EB4Fu, 29) ^ key.size();
  return (mixed * 0x9E3779B97F4A7C15u) >> 32;
}

Result<KeyTable> KeyTable::make(std::vector<std::string_view> keys) {
  KeyTable table;
  table.slots_.assign(std::bit_ceil(2 * keys.size() + 2), static_cast<uint32_t>(keys.size()));
  table.keys_ = std::move(keys);
  for (uint32_t i = 0; i < table.keys_.size(); ++i) {
    if (table.find(table.keys_[i]) != table.size())
      return invalid_argument("key \"" + std::string(table.keys_[i]) + "\" is there twice");
    size_t at = hash(table.keys_[i]);
    while (table.slots_[at & (table.slots_.size() - 1)] != table.size()) ++at;
    table.slots_[at & (table.slots_.size() - 1)] = i;
  }
  return table;
}

}  // namespace troupe::parsing
