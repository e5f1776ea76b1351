// What predictions keep of the files, so that a user knows which sample each belongs to. A function without state; any thread that
// may block.
#pragma once

#include <string>
#include <vector>

#include "apps/data/dataset.h"
#include "apps/runs/trained_run.h"

namespace troupe::runs {

/// Returns columns of the files that samples_to_predict() reads, strings as they are written there, with a row for each sample:
/// columns of a table by their names, those of the last row for a stretch of a series, or, for images, the column "file", their
/// paths. Fails with InvalidArgument if the files have no such columns, and as reading the files does.
Result<data::Dataset> kept_columns(Disk& disk, const TrainedRun& run, const std::vector<std::string>& files,
                                   const std::vector<std::string>& names);

/// Returns the labels of samples of the run file, except for those of varying length: names where its classes have names. Fails as
/// reading the samples does, and with ResourceExhausted if there is too little memory.
Result<data::Dataset> kept_labels(const TrainedRun& run, const data::SampleSet& samples);

}  // namespace troupe::runs
