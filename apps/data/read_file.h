// Whole files into memory. Any thread.
#pragma once

#include <cstddef>
#include <string>

#include "messages/status.h"

namespace troupe::data {

/// The bytes of a file. NotFound when it cannot be opened, ResourceExhausted when it is larger than
/// `max_bytes`, DataLoss when reading fails half-way; each names the path.
Result<std::string> read_file(const std::string& path, size_t max_bytes);

}  // namespace troupe::data
