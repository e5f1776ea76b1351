#include "apps/runs/first_columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/config/document.h"
#include "apps/data/table_column.h"
#include "apps/runs/first_file_parts.h"

namespace troupe::runs {
namespace {

using data::SurveyedColumn;

constexpr size_t most_values = 200;
/// Words that are more different than this share of the rows are no categories.
constexpr double share_of_values = 0.2;

bool is_category(const SurveyedColumn& column, int64_t rows) {
  const auto most = static_cast<size_t>(std::max(10.0, share_of_values * static_cast<double>(rows)));
  return column.values.size() <= std::min(most, most_values);
}

/// Returns whether the fields have several words, as sentences have.
bool is_text(const SurveyedColumn& column) {
  return static_cast<double>(column.words) > 1.5 * static_cast<double>(column.present);
}

/// Returns whether nearly all fields are numbers, and not only codes of classes.
bool is_nearly_all_numbers(const SurveyedColumn& column, int64_t rows) {
  constexpr double nearly_all = 0.9;
  return static_cast<double>(column.numbers) >= nearly_all * static_cast<double>(column.present) &&
         (column.integers < column.numbers || !is_category(column, rows));
}

/// Returns whether the whole numbers are all different and count the rows.
bool counts_rows(const SurveyedColumn& column, int64_t rows) {
  return column.all_integers() && column.present == rows && rows > 1 &&
         column.greatest - column.least + 1 == static_cast<double>(rows) &&
         (column.values.size() == SurveyedColumn::most_values ||
          column.values.size() == static_cast<size_t>(rows));
}

std::string identifier_of(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const bool is_kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
    const char next = !is_kept ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (next != '_' || (!text.empty() && text.back() != '_')) text += next;
  }
  while (text.ends_with('_')) text.pop_back();
  return text.empty() || (text.front() >= '0' && text.front() <= '9') ? "c_" + text : text;
}

/// Returns the line of columns of numbers that are treated alike.
std::string number_line(std::string_view name, const SurveyedColumns& columns, std::string_view more = {}) {
  return fmt::format("{} = {{ type = \"number\", columns = {}, normalize = \"standard\"{} }}\n", name,
                     list_of_names(columns), more);
}

}  // namespace

std::string list_of_names(const SurveyedColumns& columns) {
  config::List names;
  for (const SurveyedColumn* const column : columns) names.push_back({column->name, {}});
  return config::to_toml(config::Value{std::move(names), {}});
}

FirstColumns::FirstColumns(const data::TableSurvey& survey, const SurveyedColumns& others) : survey_(survey) {
  for (const SurveyedColumn& column : survey.columns)
    if (std::ranges::find(others, &column) == others.end()) sort(column);
  if (!numbers_.empty()) taken_.insert("numbers");
  if (!gaps_.empty()) taken_.insert("with_gaps");
  for (auto* const named : {&categories_, &times_, &texts_})
    for (Named& one : *named) one.name = unique_name(one.column->name);
}

void FirstColumns::sort(const SurveyedColumn& column) {
  if (column.values.size() < 2)
    left_out_.emplace_back(column.name, "the same value in all rows");
  else if (counts_rows(column, survey_.rows))
    left_out_.emplace_back(column.name, "counts the rows");
  else if (column.all_numbers())
    (column.missing > 0 ? gaps_ : numbers_).push_back(&column);
  else if (column.all_times())
    times_.push_back({&column, {}});
  else if (is_nearly_all_numbers(column, survey_.rows))
    left_out_.emplace_back(
        column.name, fmt::format("{} of {} values are finite numbers, but not {}; with an empty field in its "
                                 "place the column is numbers with gaps",
                                 column.numbers, column.present, quoted(column.no_number)));
  else if (column.all_images())
    left_out_.emplace_back(column.name,
                           "paths of images; type = \"image\" reads them, and data.map decodes them");
  else if (is_category(column, survey_.rows))
    categories_.push_back({&column, {}});
  else if (is_text(column))
    texts_.push_back({&column, {}});
  else
    left_out_.emplace_back(
        column.name, "words with many different values, such as " + quoted(column.values.begin()->first));
}

std::string FirstColumns::unique_name(const std::string& column) {
  const std::string name = identifier_of(column);
  std::string unique = name == "label" || name == "features" ? name + "_column" : name;
  for (int i = 2; !taken_.insert(unique).second; ++i) unique = name + '_' + std::to_string(i);
  return unique;
}

std::string FirstColumns::add_numbers(const SurveyedColumns& columns) {
  std::string name = unique_name(columns.size() == 1 ? columns.front()->name : "targets");
  own_lines_ += number_line(name, columns);
  return name;
}

std::string FirstColumns::add_series(const SurveyedColumn& column) {
  std::string name = unique_name(column.name);
  own_lines_ += fmt::format("{} = {{ type = \"text\", columns = {} }}   # {} different values\n", name,
                            quoted(column.name), column.values.size());
  return name;
}

void FirstColumns::leave_out_texts(const std::string& reason) {
  for (const Named& one : texts_) left_out_.emplace_back(one.column->name, reason);
  texts_.clear();
}

bool FirstColumns::has_features() const {
  return !numbers_.empty() || !gaps_.empty() || !categories_.empty() || !times_.empty();
}

std::string FirstColumns::reasons() const {
  std::string text;
  for (const auto& [name, reason] : left_out_) text.append("\n  ").append(name).append(": ").append(reason);
  return text;
}

std::string FirstColumns::category_line(const Named& one) const {
  std::vector<std::string> names;
  for (const SurveyedColumn& column : survey_.columns) names.push_back(column.name);
  const auto meant = data::columns_named(one.name, names);
  const bool finds_itself =
      meant && meant->size() == 1 && survey_.columns[meant->front()].name == one.column->name;
  return fmt::format(
      "{} = {}   # {} different values\n", one.name,
      finds_itself ? "\"category\"" : "{ type = \"category\", columns = " + quoted(one.column->name) + " }",
      one.column->values.size());
}

std::string FirstColumns::text() const {
  std::string text =
      "[data.columns]                       # what is not named here is not read\n" + own_lines_;
  if (!numbers_.empty()) text += number_line("numbers", numbers_);
  if (!gaps_.empty()) text += number_line("with_gaps", gaps_, ", missing = \"median\"");
  for (const Named& one : categories_) text += category_line(one);
  for (const Named& one : times_)
    text += fmt::format("{} = {{ type = \"timestamp\", columns = {}{} }}\n", one.name,
                        quoted(one.column->name), one.column->missing > 0 ? ", missing = \"zero\"" : "");
  for (const Named& one : texts_)
    text += fmt::format("{} = {{ type = \"text\", columns = {} }}\n", one.name, quoted(one.column->name));
  for (const auto& [name, why] : left_out_) text += fmt::format("# left out: {}: {}\n", quoted(name), why);
  text += '\n';
  if (texts_.empty()) return text;
  text += "[data.ragged]                        # texts become the numbers of their words\n";
  for (const Named& one : texts_)
    text += fmt::format(
        "{}_words = {{ from = \"{}\", most_words = {}, standardize = \"lower_and_strip_punctuation\" }}\n",
        one.name, one.name, most_words);
  return text + '\n';
}

}  // namespace troupe::runs
