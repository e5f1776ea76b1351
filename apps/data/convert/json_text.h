// Samples as lines of JSON: an object with a member for each column. A pure function; any thread.
#pragma once

#include <string>

#include "apps/data/dataset.h"

namespace troupe::data {

/// Appends the line of a sample: {"class": 3, "probabilities": [0.1, 0.9]}. Numbers that JSON lacks (NaN, infinities) become null,
/// and bytes that are not UTF-8 become U+FFFD. Fails with Unimplemented for types that JSON lacks, naming the column.
Status append_json_line(const Dataset& samples, int64_t row, std::string& to);

}  // namespace troupe::data
