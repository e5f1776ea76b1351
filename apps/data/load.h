// Loads data sets from files into memory: joins, splits, renames, reshapes and casts the records of readers. A function without
// state; any thread.
#pragma once

#include <optional>

#include "apps/data/dataset.h"
#include "apps/data/options.h"
#include "messages/env/disk.h"

namespace troupe::data {

struct TrainAndValid {
  Dataset train;
  std::optional<Dataset> valid;
};

/// Loads the data as the options describe. Fails with DataLoss or the error of the disk (exit code 3) if a file is damaged or
/// cannot be read, and with InvalidArgument if an input does not match the data.
Result<TrainAndValid> load(Disk& disk, const Options& options, uint64_t seed);

}  // namespace troupe::data
