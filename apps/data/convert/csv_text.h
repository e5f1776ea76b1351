// Samples as rows of csv, as the format csv reads them. Pure functions; any thread.
#pragma once

#include <string>

#include "apps/data/dataset.h"
#include "apps/data/format.h"
#include "messages/values/status.h"

namespace troupe::data {

/// Calls visit(column) for the columns in the order of csv, `label` last, until one fails.
template <class Visit>
Status each_csv_column(const Dataset& samples, const Visit& visit) {
  for (const bool is_label : {false, true})
    for (const Column& column : samples.columns())
      if ((column.name == label_column) == is_label) TROUPE_RETURN_IF_FAILED(visit(column));
  return {};
}

/// Returns a text as a field: in quotes if it has a comma, a quote or an end of a line.
std::string csv_field(const std::string& text);

/// Appends a row with the elements of all columns. Numbers are as short as they can be and still be read as the same number. Fails
/// with InvalidArgument for what could not be read again: numbers that are not finite, and text with ends of lines, or blanks at
/// its ends.
Status append_csv_row(const Dataset& samples, int64_t row, std::string& to);

}  // namespace troupe::data
