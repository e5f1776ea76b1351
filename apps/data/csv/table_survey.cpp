#include "apps/data/csv/table_survey.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "apps/data/convert/convert.h"
#include "apps/data/csv/csv_layout.h"
#include "apps/data/csv/csv_lines.h"
#include "apps/data/csv/csv_row.h"
#include "apps/data/csv/json_rows.h"
#include "apps/data/file_content.h"
#include "kernels/ops/strings/utf8.h"

namespace troupe::data {
namespace {

constexpr std::string_view delimiters = ",;\t ";
constexpr size_t first_rows = 20;

using Fields = std::vector<std::string>;

bool is_json(const std::string& path) { return format_of_name(path) == "jsonl"; }

/// The rows of a file, without blank lines. Of lines that are objects of JSON the first row has the names of the members.
class TableRows {
 public:
  TableRows(std::shared_ptr<InputFile> file, const std::string& path, const TableForm& form)
      : path_(path), lines_(std::move(file), form.delimiter, form.has_quotes && !is_json(path)),
        row_(form.delimiter, form.has_quotes || is_json(path)) {
    if (is_json(path)) json_.emplace(form.delimiter, std::vector<std::string>(), true);
  }

  Result<std::optional<Fields>> next() {
    if (first_object_) return std::exchange(first_object_, std::nullopt);
    for (;;) {
      TROUPE_ASSIGN(auto line, lines_.next());
      if (!line) return std::optional<Fields>();
      if (line->find_first_not_of(" \t\r") == std::string_view::npos) continue;
      if (!is_utf8(*line))
        return data_loss(path_ + ": row " + std::to_string(lines_.row()) + " is no text in UTF-8" +
                         std::string(advice_on_latin1));
      if (!json_) return std::optional(fields_of(*line));
      const bool is_first = json_->names().empty();
      auto row = json_->row(*line);
      if (!row)
        return data_loss(path_ + ": row " + std::to_string(lines_.row()) + ": " + row.status().text());
      if (!is_first) return std::optional(fields_of(*row));
      first_object_ = fields_of(*row);
      return std::optional(json_->names());
    }
  }

  bool has_bad_quotes() const { return lines_.has_bad_quotes(); }
  /// Returns the number of the line in which the last row begins, counted from 1.
  uint64_t row() const { return lines_.row(); }

 private:
  Fields fields_of(std::string_view line) {
    row_.set(line);
    Fields fields;
    while (!row_.at_end()) fields.emplace_back(row_.next_field());
    return fields;
  }

  const std::string path_;
  CsvLines lines_;
  CsvRow row_;
  std::optional<JsonRows> json_;
  std::optional<Fields> first_object_;  ///< the fields of the object whose names next() has returned
};

/// Returns the first rows.
Result<std::vector<Fields>> beginning_of(Disk& disk, const std::string& path, const TableForm& form) {
  TROUPE_ASSIGN(auto file, InputFile::open(disk, path, {}));
  TableRows all(std::move(file), path, form);
  std::vector<Fields> rows;
  while (rows.size() < first_rows) {
    TROUPE_ASSIGN(auto row, all.next());
    if (!row) break;
    rows.push_back(std::move(*row));
  }
  if (rows.empty()) return data_loss(path + ": the file has no rows");
  return rows;
}

/// Sets the delimiter of a text with columns to the one by which all rows have the same number of columns, as many as possible.
/// Returns the first rows.
Result<std::vector<Fields>> find_delimiter(Disk& disk, const std::string& path, TableForm& form) {
  if (is_json(path)) return beginning_of(disk, path, form);
  TROUPE_ASSIGN(auto best, beginning_of(disk, path, {.delimiter = delimiters.front(), .has_quotes = false}));
  size_t most = 0;
  for (const char delimiter : delimiters) {
    TableForm tried = form;
    tried.delimiter = delimiter;
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

/// Returns whether a field is a number of some form.
bool is_number(const std::string& field) { return CsvRow::number_of(field) || form_of(field, true); }

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

constexpr std::array other_orders = {DateOrder::MonthDayYear, DateOrder::DayMonthYear,
                                     DateOrder::YearMonthDay};

/// What other forms of numbers and orders of dates the fields of a column have.
struct OtherForms {
  int64_t numbers = 0;  ///< how many are numbers of another form than the plain one
  NumberForm form;
  std::map<DateOrder, int64_t> times;  ///< how many are times in each order

  void add(const std::string& field, char delimiter) {
    for (const DateOrder order : other_orders) times[order] += parse_timestamp(field, order).has_value();
    const auto found = form_of(field, delimiter == ',');
    if (!found) return;
    ++numbers;
    form.add(*found);
  }
};

void add(SurveyedColumn& column, const std::string& field, const TableForm& form) {
  if (is_word_for_missing(field)) {
    ++column.missing;
    return;
  }
  ++column.present;
  if (const auto known = column.values.find(field); known != column.values.end())
    ++known->second;
  else if (column.values.size() < SurveyedColumn::most_values)
    column.values.emplace(field, 1);
  column.words += 1 + std::ranges::count(field, ' ');
  column.images += is_image_name(field);
  column.times += parse_timestamp(field, form.dates).has_value();
  const std::string plain = plain_number(field, form.numbers);
  const auto number = CsvRow::number_of(plain);
  if (!number) {
    if (column.no_number.empty()) column.no_number = field;
    return;
  }
  column.points += plain.find('.') != std::string::npos;
  column.least = column.numbers == 0 ? *number : std::min(column.least, *number);
  column.greatest = column.numbers == 0 ? *number : std::max(column.greatest, *number);
  ++column.numbers;
  column.integers += std::trunc(*number) == *number;
  const double before = *number - column.mean;
  column.mean += before / static_cast<double>(column.numbers);
  column.squares += before * (*number - column.mean);
}

/// What is found in a table beside its survey.
struct Findings {
  bool has_bad_quotes = false;  ///< whether reading failed because of quotes
  std::vector<OtherForms> forms;
};

/// Adds the rows of the file.
Status read_rows(Disk& disk, const std::string& path, TableSurvey& survey, Findings& findings) {
  const TableForm& form = survey.form;
  findings.forms.assign(survey.columns.size(), {});
  TROUPE_ASSIGN(auto file, InputFile::open(disk, path, {}));
  TableRows rows(std::move(file), path, form);
  for (bool is_header = survey.has_header;;) {
    const auto next = rows.next();
    findings.has_bad_quotes = rows.has_bad_quotes();
    TROUPE_RETURN_IF_FAILED(next.status());
    if (!*next) break;
    const Fields& row = **next;
    if (row.size() != survey.columns.size())
      return data_loss(path + ": row " + std::to_string(rows.row()) + ": the row has " +
                       std::to_string(row.size()) + " columns, but the first row has " +
                       std::to_string(survey.columns.size()));
    if (!is_header) ++survey.rows;
    for (size_t i = 0; i < row.size() && !is_header; ++i) {
      add(survey.columns[i], row[i], form);
      if (!is_word_for_missing(row[i])) findings.forms[i].add(row[i], form.delimiter);
    }
    is_header = false;
  }
  for (SurveyedColumn& column : survey.columns)
    if (column.numbers > 0)
      column.deviation = std::sqrt(column.squares / static_cast<double>(column.numbers));
  return survey.rows > 0 ? Status() : data_loss(path + ": the file has no samples, only a header");
}

Result<TableSurvey> survey_as(Disk& disk, const std::string& path, const TableForm& form,
                              const std::vector<Fields>& beginning, Findings& findings) {
  TableSurvey survey;
  survey.form = form;
  survey.has_header = is_json(path) || has_header(beginning);
  const Fields& first = beginning.front();
  for (size_t i = 0; i < first.size(); ++i)
    survey.columns.emplace_back().name = survey.has_header ? first[i] : "column_" + std::to_string(i + 1);
  TROUPE_RETURN_IF_FAILED(read_rows(disk, path, survey, findings));
  return survey;
}

/// Returns the form with which all columns consist of numbers that do so only with another form than the plain one. If there is no
/// such form, that is the plain one.
NumberForm common_form(const TableSurvey& survey, const Findings& findings) {
  NumberForm form;
  int64_t points = 0;  // in plain numbers
  for (size_t i = 0; i < survey.columns.size(); ++i) {
    const OtherForms& other = findings.forms[i];
    const SurveyedColumn& column = survey.columns[i];
    if (other.numbers > 0 && other.numbers + column.numbers == column.present)
      form.add(other.form);
    else
      points += column.points;
  }
  const bool differs = (form.decimal_comma && form.ignores(',')) || (form.ignores('.') && points > 0);
  return differs ? NumberForm() : form;
}

/// Sets the order of dates to the one with which the most columns consist of times.
void find_order(TableSurvey& survey, const Findings& findings) {
  std::map<DateOrder, int64_t> columns;
  for (size_t i = 0; i < survey.columns.size(); ++i)
    for (const auto& [order, times] : findings.forms[i].times) {
      const SurveyedColumn& column = survey.columns[i];
      if (times == column.present && column.times < column.present) ++columns[order];
    }
  DateOrder& best = survey.form.dates;
  for (const DateOrder order : other_orders)
    if (columns[order] > columns[best]) best = order;
  survey.is_order_sure = best != DateOrder::MonthDayYear || columns[DateOrder::DayMonthYear] < columns[best];
}

Result<TableSurvey> survey_with(Disk& disk, const std::string& path, bool has_quotes, Findings& findings) {
  TableForm form{.has_quotes = has_quotes};
  TROUPE_ASSIGN(const auto rows, find_delimiter(disk, path, form));
  TROUPE_ASSIGN(TableSurvey survey, survey_as(disk, path, form, rows, findings));
  survey.form.numbers = common_form(survey, findings);
  find_order(survey, findings);
  if (survey.form.numbers.is_plain() && survey.form.dates == DateOrder::Iso) return survey;
  TROUPE_ASSIGN(TableSurvey again, survey_as(disk, path, survey.form, rows, findings));
  again.is_order_sure = survey.is_order_sure;
  return again;
}

}  // namespace

Result<TableSurvey> survey_table(Disk& disk, const std::string& path) {
  Findings findings;
  auto survey = survey_with(disk, path, true, findings);
  if (is_json(path)) return survey;
  if (!findings.has_bad_quotes && (!survey || survey->columns.size() > 1)) return survey;
  // With the right delimiter a quote may have been open, so that a wrong one, which yields one column, was found.
  auto plain = survey_with(disk, path, false, findings);
  const bool is_better = !survey || (plain && plain->columns.size() > survey->columns.size());
  return is_better ? plain : survey;
}

}  // namespace troupe::data
