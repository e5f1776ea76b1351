// Windows: the stretches of a series as samples. The samples of a batch are copied from the series when the batch is made, so a
// series takes no more memory than its samples. A function without state; any thread.
#pragma once

#include <string>

#include "apps/data/options.h"
#include "apps/data/sample_set.h"

namespace troupe::data {

/// Returns the stretches of a series: each column [n, ...] becomes [stretches, length, ...], in their order, but the column `label`
/// (empty: none) keeps its shape. Fails with InvalidArgument if the series is shorter than a stretch and its label need, and with
/// ResourceExhausted if there is too little memory for the series.
Result<std::shared_ptr<const SampleSet>> windows(const SampleSet& series, const Window& window,
                                                 const std::string& label);

}  // namespace troupe::data
