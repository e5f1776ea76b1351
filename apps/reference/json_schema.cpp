#include "apps/reference/json_schema.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "apps/config/document.h"

namespace troupe::reference {
namespace {

using config::Key;
using config::Kind;
using Json = nlohmann::ordered_json;

constexpr const char* name_pattern = "^[A-Za-z_][A-Za-z0-9_]*$";
constexpr const char* duration_pattern = "^[0-9]*\\.?[0-9]+(ms|s|m|h)$";

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('.') + 1); }

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    parts.emplace_back(text.substr(0, text.find('|')));
    text.remove_prefix(std::min(parts.back().size() + 1, text.size()));
  }
  return parts;
}

Json with_range(Json schema, const config::Range& range) {
  if (std::isfinite(range.low)) schema[range.above ? "exclusiveMinimum" : "minimum"] = range.low;
  if (std::isfinite(range.high)) schema[range.below ? "exclusiveMaximum" : "maximum"] = range.high;
  return schema;
}

Json text_that(const char* pattern) { return {{"type", "string"}, {"pattern", pattern}}; }
Json list_of(const Json& elements, size_t least = 0) {
  Json schema = {{"type", "array"}, {"items", elements}};
  if (least > 0) schema["minItems"] = least;
  return schema;
}
Json either(const Json& one, const Json& other) { return {{"anyOf", {one, other}}}; }
Json one_or_more(const Json& element) { return either(element, list_of(element, 1)); }

/// Makes the schema of a table of keys.
class Maker {
 public:
  explicit Maker(std::span<const Key> keys) : keys_(keys) {}

  Json table(std::string_view path) const {
    const auto own = children(path);
    Json schema = {{"type", "object"}};
    if (own.size() == 1 && last_part(own[0]->path) == "*") {
      if (!own[0]->rules.patterns) schema["propertyNames"] = {{"pattern", name_pattern}};
      schema["additionalProperties"] = value(*own[0]);
      return schema;
    }
    add_properties(own, schema);
    return schema;
  }

 private:
  std::vector<const Key*> children(std::string_view path) const {
    std::vector<const Key*> found;
    for (const Key& key : keys_) {
      const size_t dot = key.path.rfind('.');
      const std::string_view parent =
          dot == std::string_view::npos ? std::string_view() : key.path.substr(0, dot);
      if (parent == path) found.push_back(&key);
    }
    return found;
  }

  void add_properties(const std::vector<const Key*>& keys, Json& schema) const {
    Json properties = Json::object(), required = Json::array();
    for (const Key* const key : keys) {
      const std::string name(last_part(key->path));
      properties[name] = value(*key);
      if (key->rules.required && key->rules.when.empty()) required.push_back(name);
    }
    schema["properties"] = std::move(properties);
    if (!required.empty()) schema["required"] = std::move(required);
    schema["additionalProperties"] = false;
  }

  /// The keys of a typed table follow from its type: for each type there is a rule.
  Json typed_table(const Key& section) const {
    const std::string path(section.path);
    const auto common = children(section.path);
    Json rules = Json::array(), types;
    for (const Key* const key : common)
      if (last_part(key->path) == "type") types = value(*key);
    for (const auto& type : types["enum"]) {
      auto keys = common;
      const auto own = children(path + '.' + type.get<std::string>());
      keys.insert(keys.end(), own.begin(), own.end());
      Json then = Json::object();
      add_properties(keys, then);
      rules.push_back({{"if", {{"properties", {{"type", {{"const", type}}}}}}}, {"then", std::move(then)}});
    }
    const Json schema = {{"type", "object"},
                         {"properties", {{"type", types}}},
                         {"required", {"type"}},
                         {"allOf", std::move(rules)}};
    return section.rules.short_form ? either(types, schema) : schema;
  }

  Json section(const Key& key) const {
    if (key.rules.by_type) return typed_table(key);
    return key.rules.short_form ? either(list_of(text_that(name_pattern)), table(key.path)) : table(key.path);
  }

  Json shape_of(const Key& key) const {
    Json text = {{"type", "string"}, {"minLength", 1}};
    const auto number = [&](const char* type) { return with_range({{"type", type}}, key.rules.range); };
    switch (key.kind) {
      case Kind::Section: return section(key);
      case Kind::Sections: return list_of(section(key));
      case Kind::Boolean: return {{"type", "boolean"}};
      case Kind::Integer: return number("integer");
      case Kind::Number: return number("number");
      case Kind::Strings:
      case Kind::Paths: return one_or_more(text);
      case Kind::StringLists: return list_of(one_or_more(text), 1);
      case Kind::Name: return text_that(name_pattern);
      case Kind::FolderName:
        return {{"type", "string"}, {"minLength", 1}, {"maxLength", 255}, {"pattern", "^[^/]+$"}};
      case Kind::Choice:
        return {{"enum", split(key.rules.listed_choices ? key.rules.listed_choices()
                                                        : std::string(key.rules.choices))}};
      case Kind::Duration: return text_that(duration_pattern);
      case Kind::Period: return text_that("^(never|[0-9]*\\.?[0-9]+(ms|s|m|h)|[1-9][0-9]* steps?)$");
      case Kind::Column: return either(text, {{"type", "integer"}, {"minimum", 0}});
      case Kind::Columns: return {{"anyOf", {text, {{"type", "integer"}, {"minimum", 0}}, list_of(text, 1)}}};
      case Kind::Endpoints: return one_or_more(text_that("^.+:[0-9]{1,5}$"));
      case Kind::Dimensions: return list_of(number("integer"));
      case Kind::Numbers: {
        const Json numbers = list_of(number("number"));
        return key.rules.choices.empty() ? numbers : either({{"enum", split(key.rules.choices)}}, numbers);
      }
      case Kind::IntegerPair: {
        Json pair = list_of(number("integer"), 2);
        pair["maxItems"] = 2;
        return {{"anyOf", {number("integer"), pair}}};
      }
      default: return text;
    }
  }

  Json value(const Key& key) const {
    Json schema = shape_of(key);
    if (!key.meaning.empty()) schema["description"] = key.meaning;
    if (!key.rules.initial.empty() && key.kind != Kind::Section) {
      const auto initial = config::parse_value(key.rules.initial);
      if (const auto* const truth = initial ? initial->get_if<bool>() : nullptr) schema["default"] = *truth;
      if (const auto* const integer = initial ? initial->get_if<int64_t>() : nullptr)
        schema["default"] = *integer;
      if (const auto* const number = initial ? initial->get_if<double>() : nullptr)
        schema["default"] = *number;
      if (const auto* const text = initial ? initial->get_if<std::string>() : nullptr)
        schema["default"] = *text;
    }
    return schema;
  }

  std::span<const Key> keys_;
};

}  // namespace

std::string json_schema(std::span<const Key> keys, std::string_view title) {
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", title}};
  schema.update(Maker(keys).table(""));
  return schema.dump(1) + '\n';
}

}  // namespace troupe::reference
