// TableSurvey: what the columns of a text with columns look like, for those who do not know the table yet (troupe init). A function
// without state that reads a file; any thread that may block.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "apps/data/csv/number_form.h"
#include "apps/data/csv/timestamp.h"
#include "messages/env/disk.h"

namespace troupe::data {

/// What the fields of a column are. A field that is empty, or a word such as "NA", is missing.
struct SurveyedColumn {
  std::string name;  ///< in the header, or "column_1" and so on
  int64_t present = 0, missing = 0;
  int64_t numbers = 0, integers = 0, times = 0, images = 0;  ///< how many of the present fields are such
  int64_t points = 0;                                        ///< how many of the numbers have a decimal point
  int64_t words = 0;                                         ///< in all fields together
  std::string no_number;                                     ///< the first field that is none; empty: all are
  /// How often each field occurs, for the first most_values different ones.
  std::map<std::string, int64_t, std::less<>> values;
  double least = 0, greatest = 0, mean = 0, deviation = 0;  ///< of the numbers
  double squares = 0;  ///< of the differences of the numbers from their mean

  static constexpr size_t most_values = 1001;
  bool all_numbers() const { return present > 0 && numbers == present; }
  bool all_integers() const { return present > 0 && integers == present; }
  bool all_times() const { return present > 0 && times == present && numbers < present; }
  bool all_images() const { return present > 0 && images == present; }
};

/// How the fields of a table are written.
struct TableForm {
  char delimiter = ',';
  bool has_quotes = true;  ///< whether fields may be in quotes
  NumberForm numbers = {};
  DateOrder dates = DateOrder::Iso;
};

struct TableSurvey {
  TableForm form;
  bool is_order_sure = true;  ///< whether a day above 12 tells the order of days and months in dates
  bool has_header = false;
  int64_t rows = 0;  ///< without the header
  std::vector<SurveyedColumn> columns;
};

/// Reads a file: text with columns, or, if its name ends with .jsonl, a JSON object in each line, whose members are the columns.
/// The delimiter is the one by which the first rows have the most columns, the same number each; the first row is a header if a
/// column whose other fields are numbers or gaps has a word there, or if its fields are words that do not occur again. If fields
/// begin with quotes that nothing ends, quotes are characters like others. The form of numbers and the order of dates are those
/// with which the most columns consist of numbers or times. Fails with the error of the disk, and with DataLoss if there are no
/// rows, or a row has another number of columns than the first, is no text in UTF-8, or is no object whose members the first one
/// has, too.
Result<TableSurvey> survey_table(Disk& disk, const std::string& path);

}  // namespace troupe::data
