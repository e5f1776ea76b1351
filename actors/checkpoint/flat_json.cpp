#include "actors/checkpoint/flat_json.h"

namespace troupe {
namespace {

constexpr int max_depth = 8;

// Checked before parsing, because the parser would need a hundred times the size of a file that consists of brackets.
bool is_flat(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') ++i;
    if (c == '"') in_string = !in_string;
    if (in_string) continue;
    if ((c == '{' || c == '[') && ++depth > max_depth) return false;
    if (c == '}' || c == ']') --depth;
  }
  return true;
}

}  // namespace

Result<Json> parse_flat_json(std::string_view text) {
  if (!is_flat(text)) return data_loss("it is nested deeper than " + std::to_string(max_depth) + " levels");
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return data_loss("it is not a JSON object");
  return json;
}

Result<uint64_t> unsigned_member(const Json& object, const char* name) {
  const auto at = object.is_object() ? object.find(name) : object.end();
  if (at == object.end() || !at->is_number_unsigned())
    return data_loss(std::string("'") + name + "' is missing or not a whole number");
  return at->get<uint64_t>();
}

Result<std::string> text_member(const Json& object, const char* name) {
  const auto at = object.is_object() ? object.find(name) : object.end();
  if (at == object.end() || !at->is_string())
    return data_loss(std::string("'") + name + "' is missing or not a string");
  return at->get<std::string>();
}

}  // namespace troupe
