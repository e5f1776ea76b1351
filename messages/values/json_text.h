// JSON as text: how everything in this program that writes JSON does it, so that strings are escaped everywhere and NaN and the infinities,
// which JSON lacks, are null. Pure functions; any thread. The callers include <nlohmann/json.hpp>.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "messages/values/status.h"

namespace troupe {

/// One line, for people and other programs: what is not UTF-8 in a string becomes U+FFFD. Members stand in the order they were added in.
std::string json_line(const nlohmann::ordered_json& json);
/// ASCII on one line, for files and processes that need every byte: InvalidArgument when a string is not UTF-8. Members are ordered by name.
Result<std::string> strict_json_line(const nlohmann::json& json);

}  // namespace troupe
