// CSV files of numbers: features and, in one column, a label. Rows are lines and count from 1, as do columns;
// a row and a column in an error are what an editor shows. Empty lines are skipped, CRLF and quotes around a
// field are taken. Any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/data/options.h"
#include "messages/values/tensor.h"

namespace troupe::data {

/// Columns of equal length; `labels` holds nothing when there is no label column.
struct Samples {
  Tensor features;  ///< float [samples, ...]
  Tensor labels;    ///< [samples]
};

/// One file's text. Labels are read as `label_type` (int32 or float); a label that this type cannot hold, a
/// field that is no finite number, or a row of another length is DataLoss with file, row, column and the text
/// found.
Result<Samples> parse_csv(std::string_view text, const std::string& file, const Options& options,
                          DType label_type);

}  // namespace troupe::data
