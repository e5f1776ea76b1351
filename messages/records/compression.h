// The forms in which files, parts of files and strings are compressed. Attributes of ops have names for those that TensorFlow has.
// Any thread.
#pragma once

#include <cstdint>
#include <string>

#include "messages/values/status.h"

namespace troupe {

/// Deflate is what Zlib and Gzip have between their headers and trailers, as in zip files.
enum class Compression : uint8_t { None, Zlib, Gzip, Zstd, Deflate };

/// Returns the form of this name: "", "ZLIB" or "GZIP". Fails with InvalidArgument, naming the attribute, for any other.
inline Result<Compression> compression_of(const std::string& attribute, const std::string& name) {
  if (name.empty()) return Compression::None;
  if (name == "ZLIB") return Compression::Zlib;
  if (name == "GZIP") return Compression::Gzip;
  return invalid_argument(attribute + " is \"" + name + R"("; it must be "ZLIB", "GZIP" or "")");
}

}  // namespace troupe
