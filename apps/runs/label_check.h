// Checks the labels of samples that the training does not see, before its first step: those of data.valid and data.test. A function
// without state; any thread that may block.
#pragma once

#include <cstdint>
#include <string>

#include "apps/config/run_config.h"
#include "apps/data/sample_set.h"
#include "messages/env/disk.h"

namespace troupe::runs {

/// The labels that the loss of a model takes: the numbers of classes from 0 on.
struct LabelRange {
  std::string input;    ///< the input of the model that has the labels
  int64_t classes = 0;  ///< how many there are
  /// What has a value for each class, with its place in the run file: "run.toml:3:4: 'logits'".
  std::string logits;
};

/// Fails with DataLoss if a label of the samples held out or for testing is not in the range, naming the file, the row or sample in
/// it, the label and the range, and as reading the files for testing does. `data` are the samples of the run. The samples held out
/// are read once; those that are held out of a stream whose columns are computed (data.map) are not checked, nor are labels that
/// data.map computes, or those of stretches of a series.
Status check_labels(Disk& disk, const config::RunConfig& config, const data::TrainAndValid& data,
                    const LabelRange& range);

}  // namespace troupe::runs
