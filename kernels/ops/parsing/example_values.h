// Reads the messages of TensorFlow's Example in place: Features are a map from keys to Feature, and a Feature is a list of strings,
// floats or 64-bit integers. Nothing is copied before the elements are written to a tensor, and sizes are checked before they are
// used. Where a key occurs twice the last one counts, as in all maps of protocol buffers. Plain functions and values; any thread.
// Source: tensorflow/core/example/feature.proto.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "messages/protobuf/fields.h"
#include "messages/values/tensor.h"

namespace troupe::parsing {

/// The numbers of fields. A message that holds one thing has it as field 1.
enum Number : uint32_t { OnlyField = 1, MapKey = 1, MapValue = 2, ContextField = 1, FeatureListsField = 2 };

/// A Feature.
struct FeatureValues {
  DType dtype = DType::Invalid;  ///< String, Float, Int64; Invalid if the Feature has no list
  std::string_view list = {};    ///< the message that has the elements
};

/// Returns nothing if the message is damaged.
std::optional<FeatureValues> read_feature(std::string_view feature);
/// Returns the number of elements, or nothing if the list is damaged. Varints may still be too long.
std::optional<int64_t> count_values(const FeatureValues& values);
/// Writes the elements to elements [first, first + count) of a tensor of the same dtype. Returns false if the list is damaged or
/// has another number of elements.
bool write_values(const FeatureValues& values, Tensor& tensor, int64_t first, int64_t count);

/// Calls visit(key, value) for the entries of each map that is field `number` of the message. Returns false if the message is
/// damaged.
template <class Visit>
bool each_entry(std::string_view message, uint32_t number, const Visit& visit) {
  protobuf::Field field;
  const auto visit_entry = [&](std::string_view entry) {
    std::string_view key, value;
    protobuf::FieldReader parts(entry);
    protobuf::Field part;
    while (parts.next(part)) {
      if (part.kind != protobuf::FieldKind::Bytes) continue;
      if (part.number == MapKey) key = part.bytes;
      if (part.number == MapValue) value = part.bytes;
    }
    if (parts.damaged()) return false;
    visit(key, value);
    return true;
  };
  protobuf::FieldReader outer(message);
  while (outer.next(field)) {
    if (field.number != number) continue;
    if (field.kind != protobuf::FieldKind::Bytes) return false;
    protobuf::FieldReader entries(field.bytes);
    protobuf::Field entry;
    while (entries.next(entry)) {
      if (entry.number != OnlyField) continue;
      if (entry.kind != protobuf::FieldKind::Bytes || !visit_entry(entry.bytes)) return false;
    }
    if (entries.damaged()) return false;
  }
  return !outer.damaged();
}

/// Finds keys: a hash table that is made for each run of an op and refers to the keys.
class KeyTable {
 public:
  /// Fails with InvalidArgument if a key is there twice.
  static Result<KeyTable> make(std::vector<std::string_view> keys);
  size_t size() const { return keys_.size(); }
  /// Returns the position of the key, or size().
  size_t find(std::string_view key) const {
    for (size_t at = hash(key);; ++at) {
      const uint32_t found = slots_[at & (slots_.size() - 1)];
      if (found == keys_.size() || keys_[found] == key) return found;
    }
  }

 private:
  static uint64_t hash(std::string_view key);

  std::vector<std::string_view> keys_;
  std::vector<uint32_t> slots_;  ///< positions of keys; their number where there is none
};

}  // namespace troupe::parsing
