// SampleSet: the samples of a training or of its validation, in memory or in files. Immutable; any thread.
#pragma once

#include <memory>

#include "apps/data/batches.h"

namespace troupe::data {

class SampleSet {
 public:
  virtual ~SampleSet() = default;

  virtual int64_t samples() const = 0;
  /// Returns a data set with the columns of the samples: their names, dtypes and shapes. How many samples it has says nothing.
  /// A dimension of size 0 behind that of the samples has another size in each batch.
  virtual const Dataset& columns() const = 0;
  /// Returns the batches; see Batches. There must be at least one sample.
  virtual std::unique_ptr<Batches> batches(int64_t batch, uint64_t seed, bool shuffle) const = 0;
};

/// What tells two sets of samples apart.
struct Fingerprint {
  int64_t samples = 0;
  /// Of the integers and texts of the first samples, in the order of the files; 0: there are none, or it is not known. Floats do
  /// not count: processors may differ in the last bits of those that are computed.
  uint32_t checksum = 0;
};
Fingerprint fingerprint(const SampleSet& set);

/// Returns the samples of a data set in memory.
std::shared_ptr<const SampleSet> in_memory(Dataset data);

/// Reads all samples of a set, and returns them as a data set in memory, in their order. Fails as the batches do, and with
/// ResourceExhausted if there is too little memory.
Result<std::shared_ptr<const SampleSet>> kept_in_memory(const SampleSet& set);

struct TrainAndValid {
  std::shared_ptr<const SampleSet> train;
  std::shared_ptr<const SampleSet> valid;  ///< null: none
};

}  // namespace troupe::data
