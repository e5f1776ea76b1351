#include "apps/data/csv/table_survey.h"

#include <algorithm>
#include <cmath>

#include "apps/data/csv/csv_layout.h"
#include "apps/data/csv/csv_row.h"
#include "apps/data/csv/decimal_comma.h"
#include "apps/data/csv/timestamp.h"
#include "apps/data/file_content.h"
#include "apps/data/text_lines.h"

namespace troupe::data {
namespace {

constexpr std::string_view delimiters = ",;\t ";
constexpr size_t first_lines = 20;

using Fields = std::vector<std::string>;

Fields fields_of(std::string_view line, char delimiter) {
  CsvRow row(delimiter);
  row.set(line);
  Fields fields;
  while (!row.at_end()) fields.emplace_back(row.next_field());
  return fields;
}

/// Returns the delimiter by which all lines have the same number of columns, as many as possible.
char delimiter_of(const std::vector<std::string>& lines) {
  char best = ',';
  size_t most = 1;
  for (const char delimiter : delimiters) {
    const size_t width = fields_of(lines.front(), delimiter).size();
    const bool same = std::ranges::all_of(
        lines, [&](const std::string& line) { return fields_of(line, delimiter).size() == width; });
    if (same && width > most) {
      best = delimiter;
      most = width;
    }
  }
  return best;
}

bool is_number(const std::string& field) { return CsvRow::number_of(field).has_value(); }

/// Returns whether a column has a word in the first row, and only numbers and gaps in the others.
bool names_numbers(const std::vector<Fields>& rows, size_t column) {
  const std::string& name = rows.front()[column];
  if (is_number(name) || is_word_for_missing(name)) return false;
  bool found = false;
  for (size_t i = 1; i < rows.size(); ++i) {
    if (column >= rows[i].size() || is_word_for_missing(rows[i][column])) continue;
    if (!is_number(rows[i][column])) return false;
    found = true;
  }
  return found;
}

/// See survey_table().
bool has_header(const std::vector<std::string>& lines, char delimiter) {
  std::vector<Fields> rows;
  for (const std::string& line : lines) rows.push_back(fields_of(line, delimiter));
  const Fields& first = rows.front();
  for (size_t column = 0; column < first.size(); ++column)
    if (names_numbers(rows, column)) return true;
  if (std::ranges::any_of(first, [](const std::string& field) { return field.empty() || is_number(field); }))
    return false;
  bool has_numbers = false, occurs_again = false;
  for (const Fields& row : std::span(rows).subspan(1))
    for (size_t k = 0; k < std::min(row.size(), first.size()); ++k) {
      has_numbers |= is_number(row[k]);
      occurs_again |= row[k] == first[k];
    }
  return has_numbers || !occurs_again;
}

void add(SurveyedColumn& column, const std::string& field) {
  if (is_word_for_missing(field)) {
    ++column.missing;
    return;
  }
  ++column.present;
  if (column.values.size() < SurveyedColumn::most_values) column.values.insert(field);
  column.words += 1 + std::ranges::count(field, ' ');
  column.images += is_image_name(field);
  column.times += parse_timestamp(field).has_value();
  if (has_decimal_comma(field) && ++column.commas == 1) column.with_comma = field;
  const auto number = CsvRow::number_of(field);
  if (!number) return;
  column.least = column.numbers == 0 ? *number : std::min(column.least, *number);
  column.greatest = column.numbers == 0 ? *number : std::max(column.greatest, *number);
  ++column.numbers;
  column.integers += std::trunc(*number) == *number;
  const double before = *number - column.mean;
  column.mean += before / static_cast<double>(column.numbers);
  column.squares += before * (*number - column.mean);
}

/// Returns the first lines that are not empty.
Result<std::vector<std::string>> beginning_of(Disk& disk, const std::string& path) {
  TROUPE_ASSIGN(auto file, InputFile::open(disk, path, {}));
  TextLines text(std::move(file));
  std::vector<std::string> lines;
  while (lines.size() < first_lines) {
    TROUPE_ASSIGN(const auto line, text.next());
    if (!line) break;
    if (line->find_first_not_of(" \t\r") != std::string_view::npos) lines.emplace_back(*line);
  }
  if (lines.empty()) return data_loss(path + ": the file has no rows");
  return lines;
}

Status read_rows(Disk& disk, const std::string& path, TableSurvey& survey) {
  TROUPE_ASSIGN(auto file, InputFile::open(disk, path, {}));
  TextLines text(std::move(file));
  for (bool is_header = survey.has_header;;) {
    TROUPE_ASSIGN(const auto line, text.next());
    if (!line) break;
    if (line->find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const Fields row = fields_of(*line, survey.delimiter);
    if (row.size() != survey.columns.size())
      return data_loss(path + ": row " + std::to_string(text.row()) + ": the row has " +
                       std::to_string(row.size()) + " columns, but the first row has " +
                       std::to_string(survey.columns.size()));
    if (!is_header) ++survey.rows;
    for (size_t i = 0; i < row.size() && !is_header; ++i) add(survey.columns[i], row[i]);
    is_header = false;
  }
  for (SurveyedColumn& column : survey.columns)
    if (column.numbers > 0)
      column.deviation = std::sqrt(column.squares / static_cast<double>(column.numbers));
  return survey.rows > 0 ? Status() : data_loss(path + ": the file has no samples, only a header");
}

/// Fails if a column has only numbers, some of them with decimal commas: they would be taken for words.
Status check_numbers(const std::string& path, const TableSurvey& survey) {
  for (const SurveyedColumn& column : survey.columns)
    if (column.commas > 0 && column.commas + column.numbers == column.present)
      return data_loss(path + ": column '" + column.name + "' has the number " +
                       shown_field(column.with_comma) +
                       advice_on_decimal_comma(column.with_comma, path, survey.delimiter));
  return {};
}

}  // namespace

Result<TableSurvey> survey_table(Disk& disk, const std::string& path) {
  TROUPE_ASSIGN(const auto lines, beginning_of(disk, path));
  TableSurvey survey;
  survey.delimiter = delimiter_of(lines);
  survey.has_header = has_header(lines, survey.delimiter);
  const Fields first = fields_of(lines.front(), survey.delimiter);
  for (size_t i = 0; i < first.size(); ++i)
    survey.columns.emplace_back().name = survey.has_header ? first[i] : "column_" + std::to_string(i + 1);
  TROUPE_RETURN_IF_FAILED(read_rows(disk, path, survey));
  TROUPE_RETURN_IF_FAILED(check_numbers(path, survey));
  return survey;
}

}  // namespace troupe::data
