#include "apps/serve/json_values.h"

#include <openssl/evp.h>
#include <algorithm>
#include <nlohmann/json.hpp>

namespace troupe::serve {
namespace {

using simdjson::dom::element_type;

/// Returns why a text could not be parsed, with the place that a slower parser finds.
std::string parse_failure(std::string_view json, const char* reason) {
  constexpr size_t most = 1 << 20;
  std::string text = reason;
  if (json.size() > most) return text;
  try {
    [[maybe_unused]] const auto parsed = nlohmann::json::parse(json);
  } catch (const nlohmann::json::exception& error) {  // such as a number that no double can hold
    text = error.what();
    text = text.substr(text.find("] ") + 2);  // after the number of the error
    if (json.find("NaN") != std::string_view::npos) text += "; JSON has no NaN";
  }
  return text;
}

}  // namespace

Checked within(const std::string& place, Checked mistake) {
  if (mistake) mistake->place = place + mistake->place;
  return mistake;
}

std::string at(size_t index) { return '[' + std::to_string(index) + ']'; }

Status status_of(const std::string& root, const Checked& mistake) {
  return mistake ? invalid_argument(root + mistake->place + ": " + mistake->what) : Status();
}

Mistake too_long() {
  return {"", "a list is too long; at most " + std::to_string(longest_list) + " elements are allowed"};
}

std::string kind_of(element value) {
  switch (value.type()) {
    case element_type::ARRAY: return "a list";
    case element_type::OBJECT: {
      element text;
      const bool has_bytes = value["b64"].get(text) == simdjson::SUCCESS;
      return has_bytes ? "an object whose b64 is no text in base64, padded with '='" : "an object";
    }
    case element_type::STRING: return "text";
    case element_type::BOOL: return "a truth value";
    case element_type::NULL_VALUE: return "null";
    default: return "the number " + simdjson::minify(value);
  }
}

std::string text_of(const ModelTensor& tensor) {
  return std::string(name(tensor.dtype)) + tensor.shape.text();
}

std::string text_of(const std::vector<ModelTensor>& tensors) {
  std::string list;
  for (const ModelTensor& tensor : tensors)
    list += (list.empty() ? "" : ", ") + tensor.name + " (" + text_of(tensor) + ')';
  return list;
}

std::optional<element> member(element value, std::string_view name) {
  element found;
  if (!value.is_object() || value[name].get(found) != simdjson::SUCCESS) return {};
  return found;
}

std::optional<std::string> bytes_of(element value) {
  const auto encoded = member(value, "b64");
  std::string_view text;
  if (!encoded || encoded->get(text) != simdjson::SUCCESS) return {};
  // EVP_DecodeBlock would pass over spaces and the like at both ends, behind which it is not known how many bytes there are.
  constexpr std::string_view others = "+/=";
  const auto is_digit = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           others.find(c) != std::string_view::npos;
  };
  if (!std::ranges::all_of(text, is_digit)) return {};
  std::string bytes(text.size() / 4 * 3, '\0');
  const int length =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (length < 0) return {};
  const size_t padding = static_cast<size_t>(
      std::ranges::count(text.substr(text.size() - std::min<size_t>(2, text.size())), '='));
  bytes.resize(static_cast<size_t>(length) - padding);
  return bytes;
}

Result<std::string> signature_name(const std::optional<element>& given, const std::string& place) {
  std::string_view name;
  if (given && given->get(name) != simdjson::SUCCESS)
    return invalid_argument(place + ": expected text, found " + kind_of(*given));
  return std::string(name.empty() ? Model::predict : name);
}

Status BodyParser::not_json(const std::string& why) {
  return invalid_argument("the body is not JSON: " + why);
}

Result<element> BodyParser::parse(const std::string& body, size_t bytes) {
  element root;
  const bool needs_copy = body.capacity() - bytes < simdjson::SIMDJSON_PADDING;
  const auto error = parser_.parse(body.data(), bytes, needs_copy).get(root);
  if (error == simdjson::MEMALLOC)
    return resource_exhausted("there is no memory for a request of " + std::to_string(body.size()) +
                              " bytes");
  if (error != simdjson::SUCCESS)
    return not_json(parse_failure(std::string_view(body).substr(0, bytes), simdjson::error_message(error)));
  if (!root.is_object()) return invalid_argument("the body must be an object, found " + kind_of(root));
  return root;
}

void BodyParser::shrink() {
  constexpr size_t most_kept = 1 << 20;  // in bytes of text
  if (parser_.capacity() > most_kept) parser_ = simdjson::dom::parser();
}

}  // namespace troupe::serve
