// From files to data sets in memory: what the readers of a format yield, joined, split, renamed, reshaped and cast. Any thread.
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

/// Reads, splits, renames, reshapes and casts as the options say. What is wrong with a file is DataLoss, or what the
/// disk says (exit code 3); InvalidArgument for an input that the data does not fit.
Result<TrainAndValid> load(Disk& disk, const Options& options, uint64_t seed);

}  // namespace troupe::data
