// SampleStream: samples in their order, again and again from the beginning, with memory for a batch. Owned by a conversion; one
// thread at a time.
#pragma once

#include <memory>

#include "apps/data/options.h"
#include "apps/data/sample_set.h"
#include "messages/env/disk.h"

namespace troupe::data {

class SampleStream {
 public:
  virtual ~SampleStream() = default;
  /// Returns the columns without samples.
  virtual const Dataset& columns() const = 0;
  virtual int64_t samples() const = 0;
  /// Returns the next samples; none at the end. Fails as the files do.
  virtual Result<Dataset> next() = 0;
  /// Makes next() begin with the first sample.
  virtual Status restart() = 0;
};

/// Returns the samples of a set. Fails with InvalidArgument if a column is ragged or padded, since such columns have another
/// shape in each batch.
Result<std::unique_ptr<SampleStream>> samples_of(std::shared_ptr<const SampleSet> set);

/// Returns the samples of the files to train on (options.train, whose patterns must have been replaced), with the types of the
/// files. Records of TensorFlow are taken as Examples: each feature is a column, whose type and shape are those in the first
/// record. Reads the files once to count their samples, unless they say their number. Fails as the format does, with DataLoss
/// if files differ in their columns or records are no such Examples.
Result<std::unique_ptr<SampleStream>> samples_of(Disk& disk, const Options& options);

}  // namespace troupe::data
