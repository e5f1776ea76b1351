// JSON read from the files of checkpoints, which may be damaged or hostile. nlohmann's parser takes a hundred times the size of a file of
// nothing but brackets, and converts numbers and types silently; this reader refuses what is nested deeper than our files are, and members
// that are missing or of another type. No I/O here. For .cpp files.
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

}  // namespace troupe
