// Flat JSON: reads JSON from the files of checkpoints, which may be damaged or hostile. nlohmann's parser uses a hundred times the
// size of a file that consists of brackets, and silently converts numbers and types. These functions refuse text that is nested
// deeper than our files, and members that are missing or of another type. They do no I/O. To be included by .cpp files only.
#pragma once

#include <cstdint>
#include <string_view>

#include <nlohmann/json.hpp>

#include "messages/values/status.h"

namespace troupe {

using Json = nlohmann::json;

/// Parses a JSON object. Fails with DataLoss if the text is not a JSON object or is nested too deeply.
Result<Json> parse_flat_json(std::string_view text);

/// Returns a member of an object. Fails with DataLoss if it is missing or not a whole number of at least 0.
Result<uint64_t> unsigned_member(const Json& object, const char* name);
/// Returns a member of an object. Fails with DataLoss if it is missing or not a string.
Result<std::string> text_member(const Json& object, const char* name);

}  // namespace troupe
