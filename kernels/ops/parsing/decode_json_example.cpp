// DecodeJSONExample(json_examples): each string, an Example in the JSON form of protocol buffers, in their binary form, for the
// ops of parse_example.cpp:
//   {"features": {"feature": {"a": {"int64List": {"value": [1, "2"]}}, "b": {"bytesList": {"value": ["aGk="]}}}}}
// Names may also be int64_list, and so on; null is as if the name was not there, except for a feature. A number may be a string, of
// floats also "NaN", "Infinity" and "-Infinity"; bytes are base64. The features keep their order. InvalidArgument, with the
// place, for anything else. The text is read once, without recursion, and no memory but the result's is needed for it.
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/text.h"
#include "kernels/loops/each_string.h"
#include "messages/protobuf/fields.h"

namespace troupe {
namespace {

/// The cost of a byte of JSON, in bytes moved.
constexpr size_t json_byte_cost = 32;

/// The value of a digit of base64, in the usual or the URL alphabet; nothing for other characters.
std::optional<uint32_t> base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  return std::nullopt;
}

std::optional<std::string> decode_base64(std::string_view text) {
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const auto digit = base64_digit(c);
    if (!digit) return std::nullopt;
    bits = bits << 6 | *digit;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count);
  }
  return bytes;
}

enum Number : uint32_t {
  Features = 1,
  FeatureMap = 1,
  MapKey = 1,
  MapValue = 2,
  Value = 1,
  Bytes = 1,
  Floats = 2,
  Ints = 3
};

/// Writes the Example while the JSON is read. Calls are those of nlohmann::json_sax; all return false to stop.
class ExampleWriter {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  explicit ExampleWriter(std::string& example) : example_(example) {}
  const std::string& failure() const { return failure_; }

  bool start_object(size_t) {
    if (level_ >= ListValue) return fail("an object");
    if (level_ == InTop) has_features_ = true;
    if (level_ == Map) feature_.clear();
    if (level_ == OneFeature) {
      if (list_ != 0) return fail("a second list");
      list_ = named_list_;
      elements_.clear();
    }
    ++level_;
    return true;
  }
  bool end_object() {
    --level_;
    if (level_ == OneFeature) protobuf::append_bytes_field(feature_, list_, elements_);
    if (level_ == Map) end_feature();
    if (level_ == Top && has_features_) protobuf::append_bytes_field(example_, Features, features_);
    return true;
  }
  bool key(string_t& name) {
    switch (level_) {
      case InTop: return expect(name, "features");
      case InFeatures: return expect(name, "feature");
      case Map:
        feature_name_ = std::move(name);
        list_ = 0;
        return true;
      case OneFeature: return expect_list(name);
      default: return expect(name, "value");
    }
  }
  bool start_array(size_t) {
    if (level_ != ListValue) return fail("an array");
    level_ = Elements;
    return true;
  }
  bool end_array() {
    level_ = ListValue;
    return true;
  }
  bool null() {
    if (level_ == Top || level_ == Map || level_ == Elements) return fail("null");
    return true;
  }
  bool boolean(bool) { return fail("true or false"); }
  bool number_integer(number_integer_t value) { return number(static_cast<double>(value), value); }
  bool number_unsigned(number_unsigned_t value) {
    if (list_ == Ints && value > INT64_MAX) return fail("a number beyond int64");
    return number(static_cast<double>(value), static_cast<int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t&) {
    // 2^63 is a double, the greatest int64 is not.
    if (list_ == Ints && (value != std::trunc(value) || value < -0x1p63 || value >= 0x1p63))
      return fail("a number that is no int64");
    return number(value, list_ == Ints ? static_cast<int64_t>(value) : 0);
  }
  bool string(string_t& text) {
    if (level_ != Elements) return fail("a string");
    if (list_ == Bytes) {
      const auto bytes = decode_base64(text);
      if (!bytes) return fail("a string that is not base64");
      protobuf::append_bytes_field(elements_, Value, *bytes);
      return true;
    }
    int64_t integer = 0;
    float real = 0;
    if (list_ == Ints)
      return parse_number(text, integer) ? number(0, integer) : fail("a string that is no int64");
    const bool is_number = parse_number(text, real) && (std::isfinite(real) || text == "NaN" ||
                                                        text == "Infinity" || text == "-Infinity");
    if (!is_number) return fail("a string that is no float");
    protobuf::append_fixed_field(elements_, Value, real);
    return true;
  }
  bool binary(binary_t&) { return fail("bytes"); }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) {
    failure_ = "it is no JSON at byte " + std::to_string(position);
    return false;
  }

 private:
  /// Where the reader is: in the object of that name.
  enum Level : int { Top, InTop, InFeatures, Map, OneFeature, ListValue, Elements };

  bool fail_at(const std::string& what) {
    static constexpr std::array<const char*, Elements + 1> places = {
        "the beginning",       "the Example",          "features", "the map of features", "feature",
        "the list of feature", "the values of feature"};
    failure_ = what + " in " + places[static_cast<size_t>(level_)];
    if (level_ >= OneFeature) failure_ += " \"" + feature_name_ + '"';
    return false;
  }
  bool fail(const std::string& what) { return fail_at(what + " may not stand"); }
  bool expect(const std::string& name, std::string_view wanted) {
    return name == wanted ||
           fail_at("the name \"" + name + "\" instead of \"" + std::string(wanted) + "\" stands");
  }
  bool expect_list(const std::string& name) {
    named_list_ = 0;
    if (name == "bytesList" || name == "bytes_list") named_list_ = Bytes;
    if (name == "floatList" || name == "float_list") named_list_ = Floats;
    if (name == "int64List" || name == "int64_list") named_list_ = Ints;
    return named_list_ != 0 ||
           fail_at("the name \"" + name + "\" instead of bytesList, floatList or int64List stands");
  }
  bool number(double real, int64_t integer) {
    if (level_ != Elements || list_ == Bytes) return fail("a number");
    if (list_ == Ints) {
      protobuf::append_varint_field(elements_, Value, static_cast<uint64_t>(integer));
      return true;
    }
    if (std::abs(real) > static_cast<double>(std::numeric_limits<float>::max()))
      return fail("a number beyond float");
    protobuf::append_fixed_field(elements_, Value, static_cast<float>(real));
    return true;
  }
  void end_feature() {
    std::string entry;
    protobuf::append_bytes_field(entry, MapKey, feature_name_);
    protobuf::append_bytes_field(entry, MapValue, feature_);
    protobuf::append_bytes_field(features_, FeatureMap, entry);
  }

  std::string& example_;
  std::string features_, feature_name_, feature_, elements_, failure_;
  uint32_t named_list_ = 0, list_ = 0;  ///< numbers of fields; 0: none yet
  int level_ = Top;
  bool has_features_ = false;
};

struct JsonArguments {
  std::span<const std::string> texts;
  Tensor& output;
};

Result<JsonArguments> check_decode_json(KernelContext& context) {
  TROUPE_ASSIGN(Tensor* const output, context.output(0, context.input(0).shape()));
  return JsonArguments{context.input(0).as<std::string>(), *output};
}

Status compute_decode_json(const JsonArguments& arguments, DeviceContext& device) {
  const auto texts = arguments.texts;
  const auto output = arguments.output.write<std::string>();
  size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size();
  const size_t cost = json_byte_cost * (bytes / std::max<size_t>(texts.size(), 1));
  return for_each_string(device.pool(), texts.size(), cost, [&](size_t i) {
    ExampleWriter writer(output[i]);
    if (nlohmann::json::sax_parse(texts[i], &writer)) return Status{};
    return invalid_argument("string " + std::to_string(i) + ": " + writer.failure());
  });
}

}  // namespace

void add_decode_json_example(OpLibrary& library) {
  library.op(OpDefBuilder("DecodeJSONExample")
                 .input("json_examples: string")
                 .output("binary_examples: string")
                 .shape(unchanged_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("DecodeJSONExample", check_decode_json, compute_decode_json));
}

}  // namespace troupe
