// What tests of data sets share.
#pragma once

#include "apps/data/sample_set.h"

namespace troupe::test {

/// Returns all samples, in their order. Throws Error.
inline data::Dataset all_samples(const data::SampleSet& set) {
  return value_or_throw(set.batches(set.samples(), 0, false)->at(0));
}

}  // namespace troupe::test
