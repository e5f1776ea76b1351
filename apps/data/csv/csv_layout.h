// CsvLayout: what the columns of a text with columns become. It follows from the options of the format, the columns of
// [data.columns], if there are any, and the first row. Plain values and functions without state; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/data/format.h"

namespace troupe::data {

enum class CsvUse : uint8_t { Skipped, Number, String, Timestamp, Image, Label };

/// A column of the file.
struct CsvColumn {
  CsvUse use = CsvUse::Skipped;
  size_t field = 0;               ///< of the layout
  size_t element = 0;             ///< of the field
  std::optional<double> missing;  ///< what stands for a missing number; not set: it is an error
  /// Whether words such as "NA" say that a value is missing, as an empty field does.
  bool has_words_for_missing = false;
};

struct CsvLayout {
  std::vector<Field> fields;
  std::vector<CsvColumn> columns;
  std::vector<std::string> names;  ///< of the columns, for errors; empty: they have none

  /// Returns the number of a column, counted from 1, with its name, if it has one: "column 3 (age)".
  std::string name_of(size_t column) const;
};

/// Returns the layout of a file whose first row has these fields. Fails with InvalidArgument, naming the file, if the options do
/// not match the row, and with DataLoss if it has no column for the features.
Result<CsvLayout> csv_layout(const SourceFile& source, const std::vector<std::string_view>& first_row);

/// The option that names the columns of the features in the order in which the model takes them; without it they are all columns
/// that are left, in the order of the file.
inline constexpr const char* features_option = "features";
/// The option, which no run file has, that says whether the column of the label is skipped: true or false.
inline constexpr const char* ignore_label_option = "ignore_label";
bool ignores_csv_label(const FormatOptions& options);
/// Returns whether the first row of a file has the names of its columns.
bool has_csv_header(const FormatOptions& options);
/// Returns whether the option "label" or "text" names a column.
bool has_csv_column(const FormatOptions& options, std::string_view role);
/// Returns whether the option is the name of a column, and neither a number nor a word such as "last".
bool names_csv_column(const FormatOptions& options, std::string_view role);
/// Returns whether a field says that its value is missing.
bool is_word_for_missing(std::string_view field);
/// Returns a field as text for an error, on one line and shortened.
std::string shown_field(std::string_view field);

/// Says what to do about a text that is not in UTF-8.
inline constexpr std::string_view advice_on_latin1 =
    "; if the file is in Latin-1, `iconv -f LATIN1 -t UTF-8` converts it";

}  // namespace troupe::data
