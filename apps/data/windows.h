// Windows: the stretches of a series as samples. The samples of a batch are copied from the series when the batch is made, so a
// series takes no more memory than its samples. A function without state; any thread.
#pragma once

#include <string>
#include <vector>

#include "apps/data/options.h"
#include "apps/data/sample_set.h"

namespace troupe::data {

/// Samples begin to end - 1 of a data set.
struct SampleRange {
  int64_t begin = 0, end = 0;
};
/// Returns the series that follow each other in samples. Fails with InvalidArgument if they have no column of text of the name that
/// the window gives.
Result<std::vector<SampleRange>> series_of(const Dataset& samples, const Window& window);

/// Returns the stretches of one or more series: each column [n, ...] becomes [stretches, length, ...], in their order, but the
/// column `label` (empty: none) keeps its shape. Fails with InvalidArgument if no series is as long as a stretch and its label
/// need, and with ResourceExhausted if there is too little memory for the series.
Result<std::shared_ptr<const SampleSet>> windows(const SampleSet& series, const Window& window,
                                                 const std::string& label);

}  // namespace troupe::data
