// File content: tells by the first bytes of a file what it is, for errors about files of another form than the run file says. A
// function without state; any thread.
#pragma once

#include <string>
#include <string_view>

namespace troupe::data {

/// Returns what a file is that is no text in UTF-8, and what to do about it: "a NumPy array; data.format = \"npy\" reads it".
/// Returns nothing if the bytes are not known.
std::string_view content_of(std::string_view first_bytes);

}  // namespace troupe::data
