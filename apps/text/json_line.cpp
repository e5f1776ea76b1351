#include "apps/text/json_line.h"

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace troupe {
namespace {

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

JsonLine& JsonLine::add_text(std::string_view key, std::string_view json) {
  if (!members_.empty()) members_ += ", ";
  members_.append(json_text(key)).append(": ").append(json);
  return *this;
}

JsonLine& JsonLine::add(std::string_view key, double value) {
  if (!std::isfinite(value)) return add_null(key);
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return add_text(key, std::string_view(text.data(), end));
}

JsonLine& JsonLine::add(std::string_view key, std::string_view value) {
  return add_text(key, json_text(value));
}

JsonLine& JsonLine::add(std::string_view key, const std::vector<std::string>& values) {
  std::string list;
  for (const auto& value : values) list += (list.empty() ? "" : ", ") + json_text(value);
  return add_text(key, '[' + list + ']');
}

}  // namespace troupe
