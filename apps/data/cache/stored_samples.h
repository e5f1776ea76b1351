// The binary form of samples in a cache (apps/data/cache/sample_cache.h). Bytes of files are checked. Numbers are
// little-endian. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "apps/data/dataset.h"

namespace troupe::data {

/// What the first record of a cache says.
struct CacheHeader {
  std::string key;
  uint64_t samples = 0;
  Dataset columns;  ///< without samples
};

std::string to_bytes(const CacheHeader& header);
/// Fails with DataLoss if these are not the bytes of a header.
Result<CacheHeader> parse_cache_header(std::string_view bytes);

/// Returns the bytes of samples, none of whose columns is ragged. The first four are their number.
std::string to_bytes(const Dataset& samples);
/// Returns the samples in the bytes, which have the given columns. Fails with DataLoss if they do not.
Result<Dataset> parse_samples(std::string_view bytes, const Dataset& columns);
/// Returns the number of bytes of sample `row`.
size_t bytes_of_sample(const Dataset& samples, int64_t row);

}  // namespace troupe::data
