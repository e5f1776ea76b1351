// Compresses bytes, for tests that read compressed files. Functions without state.
#pragma once

#include <string>

#include "messages/records/compression.h"

namespace troupe::test {

/// Returns one stream of Zlib, Gzip or Zstd.
std::string compressed(const std::string& bytes, Compression compression);

}  // namespace troupe::test
