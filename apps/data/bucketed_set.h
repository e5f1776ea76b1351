// Sets of samples whose batches have samples of like length. The samples of an epoch come in the order of another set and wait
// in buckets, one for each range of lengths; a bucket that is full is the next batch, and at the end of an epoch the others are
// batches with fewer samples. A batch follows from the data, the seed and its step alone: at a step that does not follow the
// one before, the samples of its epoch are read again from the first one on. Functions without state; any thread.
#pragma once

#include <functional>
#include <vector>

#include "apps/data/sample_set.h"

namespace troupe::data {

/// Returns the length of a sample of a batch. Any thread.
using LengthOf = std::function<Result<int64_t>(const Dataset& batch, int64_t row)>;

/// Returns the samples of a set in batches by length. `bounds` are increasing; bucket i has the lengths up to bounds[i] that are
/// above those of the bucket before, and the last bucket the others. Reads all samples once. Fails as the batches and `length_of`
/// do.
Result<std::shared_ptr<const SampleSet>> in_buckets(std::shared_ptr<const SampleSet> set, LengthOf length_of,
                                                    std::vector<int64_t> bounds);

}  // namespace troupe::data
