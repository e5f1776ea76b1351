// Loads data sets from files: joins, splits, renames, reshapes and casts the records of readers. A function without state; any
// thread.
#pragma once

#include "apps/data/options.h"
#include "apps/data/sample_set.h"
#include "messages/env/disk.h"

namespace troupe::data {

/// Finds the files of patterns (apps/data/file_patterns.h). Loads the data into memory or, if the options say so, prepares to
/// read it during the training; then the disk must outlive the data. Fails with DataLoss or the error of the disk (exit code 3)
/// if a file is damaged or cannot be read or a pattern matches none, and with InvalidArgument if an input does not match the
/// data.
Result<TrainAndValid> load(Disk& disk, const Options& options, uint64_t seed);

}  // namespace troupe::data
