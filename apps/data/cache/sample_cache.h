// SampleCache: a file that has all samples of a set as they were computed once, in blocks (of TensorFlow's records) whose
// checksums are verified. The file appears under its name only when it is complete. Functions without state; one writer at a
// time per path.
#pragma once

#include <memory>
#include <string>

#include "apps/data/sample_set.h"
#include "messages/env/disk.h"

namespace troupe::data {

struct CachePlace {
  std::string path;
  std::string key;     ///< says of what the samples were computed; a cache with another key is not used
  int64_t buffer = 0;  ///< how many samples are in memory, from which the next one is drawn; part of the key
};

/// Returns the samples of a cache, which stay in the file: memory for the buffer suffices. Returns null if there is no cache,
/// or it has another key, or it is cut off or damaged where this shows without reading all of it; damage elsewhere fails the
/// batch that needs the block, with DataLoss. The file is kept open, so that the set does not change when another cache takes
/// its name.
Result<std::shared_ptr<const SampleSet>> open_cache(Disk& disk, const CachePlace& place);

/// Reads all samples of a set, in their order, and writes them to a cache. Fails as the batches and the disk do.
Status write_cache(Disk& disk, const CachePlace& place, const SampleSet& set);

}  // namespace troupe::data
