#include "apps/data/csv/table_survey.h"

#include <algorithm>
#include <cmath>

#include "apps/data/csv/csv_layout.h"
#include "apps/data/csv/csv_lines.h"
#include "apps/data/csv/csv_row.h"
#include "apps/data/csv/decimal_comma.h"
#include "apps/data/csv/timestamp.h"
#include "apps/data/file_content.h"

namespace troupe::data {
namespace {

constexpr std::string_view delimiters = ",;\t ";
constexpr size_t first_rows = 20;

using Fields = std::vector<std::string>;

/// How the rows of a table are divided.
struct Form {
  char delimiter = ',';
  bool has_quotes = true;
};

Fields fields_of(std::string_view line, const Form& form) {
  CsvRow row(form.delimiter, form.has_quotes);
  row.set(line);
  Fields fields;
  while (!row.at_end()) fields.emplace_back(row.next_field());
  return fields;
}

bool is_blank(std::string_view row) { return row.find_first_not_of(" \t\r") == std::string_view::npos; }

/// Returns the first rows that are not empty.
Result<std::vector<Fields>> beginning_of(Disk& disk, const std::string& path, const Form& form) {
  TROUPE_ASSIGN(auto file, InputFile::open(disk, path, {}));
  CsvLines lines(std::move(file), form.delimiter, form.has_quotes);
  std::vector<Fields> rows;
  while (rows.size() < first_rows) {
    TROUPE_ASSIGN(const auto row, lines.next());
    if (!row) break;
    if (!is_blank(*row)) rows.push_back(fields_of(*row, form));
  }
  if (rows.empty()) return data_loss(path + ": the file has no rows");
  return rows;
}

/// Sets the delimiter to the one by which all rows have the same number of columns, as many as possible. Returns the first rows.
Result<std::vector<Fields>> find_delimiter(Disk& disk, const std::string& path, Form& form) {
  TROUPE_ASSIGN(auto best, beginning_of(disk, path, {delimiters.front(), false}));
  size_t most = 0;
  for (const char delimiter : delimiters) {
    const Form tried{delimiter, form.has_quotes};
    auto rows = beginning_of(disk, path, tried);
    if (!rows) continue;
    const size_t width = rows->front().size();
    const bool same = std::ranges::all_of(*rows, [&](const Fields& row) { return row.size() == width; });
    const bool is_better = same && width > std::max<size_t>(most, 1);
    if (most != 0 && !is_better) continue;
    form.delimiter = delimiter;
    most = is_better ? width : 1;
    best = std::move(*rows);
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
bool has_header(const std::vector<Fields>& rows) {
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

/// Adds the rows of the file. `has_bad_quotes` is set to whether that failed because of quotes.
Status read_rows(Disk& disk, const std::string& path, TableSurvey& survey, bool& has_bad_quotes) {
  const Form form{survey.delimiter, survey.has_quotes};
  TROUPE_ASSIGN(auto file, InputFile::open(disk, path, {}));
  CsvLines lines(std::move(file), form.delimiter, form.has_quotes);
  for (bool is_header = survey.has_header;;) {
    const auto line = lines.next();
    has_bad_quotes = lines.has_bad_quotes();
    TROUPE_RETURN_IF_FAILED(line.status());
    if (!*line) break;
    if (is_blank(**line)) continue;
    const Fields row = fields_of(**line, form);
    if (row.size() != survey.columns.size())
      return data_loss(path + ": row " + std::to_string(lines.row()) + ": the row has " +
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

Result<TableSurvey> survey_with(Disk& disk, const std::string& path, bool has_quotes, bool& has_bad_quotes) {
  Form form{.has_quotes = has_quotes};
  TROUPE_ASSIGN(const auto rows, find_delimiter(disk, path, form));
  TableSurvey survey;
  survey.delimiter = form.delimiter;
  survey.has_quotes = has_quotes;
  survey.has_header = has_header(rows);
  const Fields& first = rows.front();
  for (size_t i = 0; i < first.size(); ++i)
    survey.columns.emplace_back().name = survey.has_header ? first[i] : "column_" + std::to_string(i + 1);
  TROUPE_RETURN_IF_FAILED(read_rows(disk, path, survey, has_bad_quotes));
  TROUPE_RETURN_IF_FAILED(check_numbers(path, survey));
  return survey;
}

}  // namespace

Result<TableSurvey> survey_table(Disk& disk, const std::string& path) {
  bool has_bad_quotes = false;
  auto survey = survey_with(disk, path, true, has_bad_quotes);
  if (!has_bad_quotes && (!survey || survey->columns.size() > 1)) return survey;
  // With the right delimiter a quote may have been open, so that a wrong one, which yields one column, was found.
  auto plain = survey_with(disk, path, false, has_bad_quotes);
  const bool is_better = !survey || (plain && plain->columns.size() > survey->columns.size());
  return is_better ? plain : survey;
}

}  // namespace troupe::data
