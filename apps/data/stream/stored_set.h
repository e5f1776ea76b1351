// Sets of samples that stay in their files: each epoch reads the files again. Functions without state; any thread.
#pragma once

#include "apps/data/options.h"
#include "apps/data/sample_set.h"
#include "messages/env/disk.h"

namespace troupe::data {

/// Indexes the files. Which samples are held out for validation (options.valid_split) depends on the seed and the number of each
/// sample. The disk must outlive the result. Fails as load() does.
Result<TrainAndValid> open_stored(Disk& disk, const Options& options, uint64_t seed);

}  // namespace troupe::data
