// JSON from files that may be hostile: small, flat, and numbers that are what they seem. No I/O here.
// For .cpp files.
#pragma once

#include <cstdint>
#include <string_view>

#include <nlohmann/json.hpp>

#include "messages/values/status.h"

namespace troupe {

using Json = nlohmann::json;

/// A JSON object. DataLoss when it is none, or is nested deeper than any of our files.
Result<Json> parse_flat_json(std::string_view text);

/// The member of an object that is a whole number not below zero; DataLoss when there is none.
Result<uint64_t> unsigned_member(const Json& object, const char* name);
/// The same for text.
Result<std::string> text_member(const Json& object, const char* name);

/// JSON text in ASCII; InvalidArgument when a string in it is no UTF-8.
Result<std::string> ascii_text(const Json& json);

}  // namespace troupe
