// Which sample of a batch has made the computation of its columns fail. Functions without state; any thread that may block.
#pragma once

#include <functional>

#include "apps/config/run_config.h"
#include "apps/data/dataset.h"

namespace troupe::train {

/// What a failure needs in order to name the sample: where its files are, and the definitions that were computed.
struct SampleOrigin {
  config::RunConfig config;
  std::vector<config::Definition> definitions;
};

/// Computes the columns of a batch, or fails.
using ComputeColumns = std::function<Status(const data::Dataset& samples)>;

/// Returns the failure of a batch as that of its first sample that fails alone: DataLoss, with the path of its file if the format
/// has a file for each sample, and with the definition in the run file. Returns `failure` as it is if no sample fails alone.
Status with_failed_sample(Disk& disk, const SampleOrigin& origin, const data::Dataset& batch,
                          const ComputeColumns& compute, const Status& failure);

}  // namespace troupe::train
