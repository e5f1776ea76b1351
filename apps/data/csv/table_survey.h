// TableSurvey: what the columns of a text with columns look like, for those who do not know the table yet (troupe init). A function
// without state that reads a file; any thread that may block.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "messages/env/disk.h"

namespace troupe::data {

/// What the fields of a column are. A field that is empty, or a word such as "NA", is missing.
struct SurveyedColumn {
  std::string name;  ///< in the header, or "column_1" and so on
  int64_t present = 0, missing = 0;
  int64_t numbers = 0, integers = 0, times = 0, images = 0;  ///< how many of the present fields are such
  int64_t commas = 0;                         ///< how many have a comma where a number has a point
  std::string with_comma;                     ///< the first such field
  int64_t words = 0;                          ///< in all fields together
  std::set<std::string, std::less<>> values;  ///< the different fields, at most most_values of them
  double least = 0, greatest = 0, mean = 0, deviation = 0;  ///< of the numbers
  double squares = 0;  ///< of the differences of the numbers from their mean

  static constexpr size_t most_values = 1001;
  bool all_numbers() const { return present > 0 && numbers == present; }
  bool all_integers() const { return present > 0 && integers == present; }
  bool all_times() const { return present > 0 && times == present && numbers < present; }
  bool all_images() const { return present > 0 && images == present; }
};

struct TableSurvey {
  char delimiter = ',';
  bool has_quotes = true;  ///< whether fields may be in quotes
  bool has_header = false;
  int64_t rows = 0;  ///< without the header
  std::vector<SurveyedColumn> columns;
};

/// Reads a file. The delimiter is the one by which the first rows have the most columns, the same number each; the first row is
/// a header if a column whose other fields are numbers or gaps has a word there, or if its fields are words that do not occur
/// again. If fields begin with quotes that nothing ends, quotes are characters like others.
/// Fails with the error of the disk, and with DataLoss if there are no rows, or a row has another number of columns than the
/// first, or the numbers of a column have decimal commas.
Result<TableSurvey> survey_table(Disk& disk, const std::string& path);

}  // namespace troupe::data
