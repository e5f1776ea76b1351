// JSON as text, for all output of JSON in this program: strings are always escaped, and NaN and the infinities, which JSON lacks,
// become null. Pure functions; any thread may call them. Callers include <nlohmann/json.hpp>.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "messages/values/status.h"

namespace troupe {

/// Returns the JSON on one line, for people and other programs. Bytes of a string that are not UTF-8 become U+FFFD. Members keep
/// the order in which they were added.
std::string json_line(const nlohmann::ordered_json& json);
/// Returns the JSON on one line, in ASCII, for files and other processes, where no byte may change. Members are ordered by name.
/// Fails with InvalidArgument if a string is not UTF-8.
Result<std::string> strict_json_line(const nlohmann::json& json);

}  // namespace troupe
