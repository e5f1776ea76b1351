// Samples as rows of csv, as the format csv reads them. A pure function; any thread.
#pragma once

#include <string>

#include "apps/data/dataset.h"

namespace troupe::data {

/// Appends a row with the elements of all columns, those of the column `label` last. Numbers are as short as they can be and
/// still be read as the same number. Fails with InvalidArgument for what could not be read again: numbers that are not finite,
/// and text with quotes, ends of lines, or blanks at its ends.
Status append_csv_row(const Dataset& samples, int64_t row, std::string& to);

}  // namespace troupe::data
