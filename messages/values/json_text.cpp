#include "messages/values/json_text.h"

#include <nlohmann/json.hpp>

namespace troupe {
namespace {

constexpr int on_one_line = -1;

}  // namespace

std::string json_line(const nlohmann::ordered_json& json) {
  return json.dump(on_one_line, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Result<std::string> strict_json_line(const nlohmann::json& json) {
  try {
    return json.dump(on_one_line, ' ', true);
  } catch (const nlohmann::json::exception&) {
    return invalid_argument("a text for a file or another process is not UTF-8");
  }
}

}  // namespace troupe
