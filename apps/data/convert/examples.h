// Examples of TensorFlow as samples: each feature is a column. Bytes of records are checked. Pure functions; any thread. Source:
// tensorflow/core/example/feature.proto.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "apps/data/dataset.h"

namespace troupe::data {

/// Returns the columns of an Example, without samples, in the order of their names: a feature with one value is a scalar, one
/// with more values is a vector. Fails with DataLoss if the bytes are no Example or it has no features.
Result<Dataset> columns_of_example(std::string_view record);

/// Returns the samples of Examples that have the given columns. Fails with DataLoss, naming the Example by its position, if a
/// feature is missing or has another type or number of values; other features are ignored.
Result<Dataset> parse_examples(std::span<const std::string> records, const Dataset& columns);

/// Returns sample `row` as an Example: floats as floats, integers and bools as 64-bit integers, strings as strings. Fails with
/// InvalidArgument for types of which Examples have none.
Result<std::string> to_example(const Dataset& samples, int64_t row);

}  // namespace troupe::data
