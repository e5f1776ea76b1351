#include "apps/interop/parse.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

namespace troupe::interop {
namespace {

namespace pb = google::protobuf;
using Wire = pb::internal::WireFormatLite;

constexpr int max_nesting = 64;

/// Scans the binary form to count its fields and nodes, without storing them.
class Scan {
 public:
  Scan(const pb::Descriptor& root, const GraphLimits& limits) : limits_(limits) { add(root); }

  /// Fails if a limit is exceeded. Returns Ok for bytes that are cut off or damaged, since the parser reports these better.
  Status run(std::string_view bytes) {
    pb::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(bytes.data()),
                                static_cast<int>(bytes.size()));
    return message(in, 0, 0).status();
  }

 private:
  /// For each field number up to 31: the index of the message type of the field or `none`, and whether that type is NodeDef.
  struct Type {
    std::array<uint8_t, 32> child;
    std::array<bool, 32> is_node;
  };
  static constexpr uint8_t none = UINT8_MAX;

  uint8_t add(const pb::Descriptor& descriptor) {
    const auto [at, is_new] = number_.try_emplace(&descriptor, static_cast<uint8_t>(types_.size()));
    const uint8_t number = at->second;
    if (!is_new) return number;
    types_.emplace_back();
    types_[number].child.fill(none);
    types_[number].is_node.fill(false);
    for (int i = 0; i < descriptor.field_count(); ++i) {
      const pb::FieldDescriptor& field = *descriptor.field(i);
      if (field.type() != pb::FieldDescriptor::TYPE_MESSAGE) continue;
      const uint8_t child = add(*field.message_type());
      types_[number].child[field.number()] = child;
      types_[number].is_node[field.number()] = field.message_type()->name() == "NodeDef";
    }
    return number;
  }

  /// Returns false if the bytes are damaged.
  Result<bool> message(pb::io::CodedInputStream& in, uint8_t type, int depth) {
    if (depth == max_nesting)
      return invalid_argument("messages are nested too deeply, in more than " + std::to_string(max_nesting) +
                              " levels");
    while (const uint32_t tag = in.ReadTag()) {
      if (++fields_ > limits_.fields) return limit_exceeded("fields", limits_.fields);
      const auto number = static_cast<uint32_t>(Wire::GetTagFieldNumber(tag));
      const uint8_t child = number < 32 ? types_[type].child[number] : none;
      if (Wire::GetTagWireType(tag) != Wire::WIRETYPE_LENGTH_DELIMITED || child == none) {
        if (!skip(in, tag)) return false;
        continue;
      }
      if (types_[type].is_node[number] && ++nodes_ > limits_.nodes)
        return limit_exceeded("nodes", limits_.nodes);
      const auto outer = in.ReadLengthAndPushLimit();
      TROUPE_ASSIGN(const bool whole, message(in, child, depth + 1));
      if (!whole || in.BytesUntilLimit() > 0) return false;
      in.PopLimit(outer);
    }
    return true;
  }
  /// Skips a field; returns false if that fails. Groups, an obsolete kind of field that may nest, count as damage.
  static bool skip(pb::io::CodedInputStream& in, uint32_t tag) {
    const auto type = Wire::GetTagWireType(tag);
    return type != Wire::WIRETYPE_START_GROUP && type != Wire::WIRETYPE_END_GROUP &&
           Wire::SkipField(&in, tag);
  }

  const GraphLimits& limits_;
  std::unordered_map<const pb::Descriptor*, uint8_t> number_;
  std::vector<Type> types_;
  uint64_t fields_ = 0, nodes_ = 0;
};

class FirstError final : public pb::io::ErrorCollector {
 public:
  void AddError(int line, pb::io::ColumnNumber column, const std::string& text) override {
    if (!text_.empty()) return;
    text_ = "line " + std::to_string(line + 1) + ", column " + std::to_string(column + 1) + ": " + text;
  }
  void AddWarning(int, pb::io::ColumnNumber, const std::string&) override {}
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Returns the beginning of the bytes, which ends with a whole character if they are UTF-8.
std::string_view beginning_of(std::string_view bytes) {
  constexpr size_t max_inspected = 4096, longest_character = 4;
  if (bytes.size() <= max_inspected) return bytes;
  size_t end = max_inspected;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  while (max_inspected - end < longest_character && continues(bytes[end])) --end;
  return bytes.substr(0, end);
}

/// Returns whether the bytes may be the text form, which is UTF-8 without control characters. In the binary form the name of the
/// first node is followed by the tag of its second field, 0x12.
bool is_text(std::string_view bytes) {
  const std::string_view beginning = beginning_of(bytes);
  const auto is_control = [](unsigned char c) {
    return (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F;
  };
  return !beginning.empty() && std::ranges::none_of(beginning, is_control) &&
         pb::internal::IsStructurallyValidUTF8(beginning.data(), static_cast<int>(beginning.size()));
}

Status parse_text(std::string_view bytes, const GraphLimits& limits, pb::Message& message) {
  if (bytes.size() > limits.text_bytes) return limit_exceeded("text_bytes", limits.text_bytes);
  if (bytes.find_first_not_of("\t\n\r ") == std::string_view::npos)
    return invalid_argument("the text consists only of white space");
  FirstError errors;
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.SetRecursionLimit(max_nesting);
  parser.AllowUnknownField(true);
  pb::io::ArrayInputStream in(bytes.data(), static_cast<int>(bytes.size()));
  if (parser.Merge(&in, &message)) return {};
  return invalid_argument("the bytes are neither a binary " + message.GetDescriptor()->name() +
                          " nor one in text form, which fails at " + errors.text());
}

Status parse_binary(std::string_view bytes, const GraphLimits& limits, pb::Message& message) {
  const uint64_t max_bytes = std::min<uint64_t>(limits.bytes, INT32_MAX);
  if (bytes.size() > max_bytes) return limit_exceeded("bytes", max_bytes);
  TROUPE_RETURN_IF_FAILED(Scan(*message.GetDescriptor(), limits).run(bytes));
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return {};
  return invalid_argument("the bytes are cut off or damaged, or are not a " +
                          message.GetDescriptor()->name() + ", neither a binary one nor one in text form");
}

}  // namespace

Status limit_exceeded(std::string_view name, uint64_t limit) {
  return resource_exhausted("limit " + std::string(name) + " = " + std::to_string(limit) + " is exceeded");
}

Status parse(std::string_view bytes, const GraphLimits& limits, pb::Message& message) {
  return is_text(bytes) ? parse_text(bytes, limits, message) : parse_binary(bytes, limits, message);
}

}  // namespace troupe::interop
