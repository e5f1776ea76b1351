#include "apps/runs/first_run_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "apps/config/diagnostics.h"
#include "apps/config/document.h"
#include "apps/config/schema.h"
#include "apps/data/table_column.h"
#include "apps/runs/first_file_parts.h"

namespace troupe::runs {
namespace {

using data::SurveyedColumn, data::TableSurvey;

constexpr size_t most_classes = 50, most_values = 200;
/// Words that are more different than this share of the rows are no categories.
constexpr double share_of_values = 0.2;

/// Returns whether the column has a small number of words, or of whole numbers from 0 on that are few.
bool has_classes(const SurveyedColumn& column, int64_t rows) {
  const size_t most = std::min<size_t>(most_classes, std::max<size_t>(2, static_cast<size_t>(rows) / 5));
  if (column.values.size() < 2 || column.values.size() > most) return false;
  return !column.all_numbers() || (column.all_integers() && column.values.size() <= 20);
}

bool is_category(const SurveyedColumn& column, int64_t rows) {
  const auto most = static_cast<size_t>(std::max(10.0, share_of_values * static_cast<double>(rows)));
  return column.values.size() <= std::min(most, most_values);
}

/// Returns whether the fields have several words, as sentences have.
bool is_text(const SurveyedColumn& column) {
  return static_cast<double>(column.words) > 1.5 * static_cast<double>(column.present);
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

/// Writes the file of one table.
class Writer {
 public:
  Writer(const TableSurvey& survey, const TableFacts& facts) : survey_(survey), facts_(facts) {}

  Result<std::string> write() && {
    TROUPE_ASSIGN(label_, find_label());
    if (label().values.size() < 2)
      return invalid_argument(fmt::format(
          "{}: the label '{}' has {} in all {} rows, so there is nothing to predict; --label names "
          "another",
          facts_.path, label().name, label().values.empty() ? "no value" : "the same value", survey_.rows));
    classifies_ = has_classes(label(), survey_.rows);
    if (!classifies_ && !label().all_numbers())
      return invalid_argument(
          fmt::format("{}: the label '{}' has {} different words in {} rows, too many for classes, and not "
                      "all are numbers; --label names another",
                      facts_.path, label().name, label().values.size(), survey_.rows));
    TROUPE_RETURN_IF_FAILED(sort_columns());
    name_texts();
    return head() + data() + columns() + model() + train();
  }

 private:
  const SurveyedColumn& label() const { return survey_.columns[label_]; }

  std::vector<std::string> column_names() const {
    std::vector<std::string> names;
    for (const SurveyedColumn& column : survey_.columns) names.push_back(column.name);
    return names;
  }

  Result<size_t> find_label() const {
    if (facts_.label.empty()) return survey_.columns.size() - 1;
    const std::vector<std::string> columns = column_names();
    const auto found = data::columns_named(facts_.label, columns);
    if (!found) return invalid_argument(facts_.path + ": --label " + found.status().text());
    if (!found->empty()) return found->front();
    const std::vector<std::string_view> names(columns.begin(), columns.end());
    return invalid_argument(facts_.path + ": there is no column '" + facts_.label + "'" +
                            config::hint(facts_.label, names));
  }

  /// Sorts the columns into those that are alike.
  Status sort_columns() {
    for (size_t i = 0; i < survey_.columns.size(); ++i) {
      const SurveyedColumn& column = survey_.columns[i];
      if (i == label_) continue;
      if (column.values.size() < 2)
        left_out_.emplace_back(column.name, "the same value in all rows");
      else if (counts_rows(column, survey_.rows))
        left_out_.emplace_back(column.name, "counts the rows");
      else if (column.all_numbers())
        (column.missing > 0 ? gaps_ : numbers_).push_back(&column);
      else if (column.all_times())
        times_.push_back(&column);
      else if (column.all_images())
        left_out_.emplace_back(column.name,
                               "paths of images; type = \"image\" reads them, and data.map decodes them");
      else if (is_category(column, survey_.rows))
        categories_.push_back(&column);
      else if (is_text(column))
        texts_.push_back({&column, {}});
      else
        left_out_.emplace_back(
            column.name, "words with many different values, such as " + quoted(column.values.begin()->first));
    }
    if (has_features() || !texts_.empty()) return {};
    std::string reasons;
    for (const auto& [name, reason] : left_out_)
      reasons.append("\n  ").append(name).append(": ").append(reason);
    return invalid_argument(facts_.path + ": no column is of use to predict '" + label().name + "'" +
                            (reasons.empty() ? "; it is the only one" : ":" + reasons));
  }

  bool has_features() const {
    return !numbers_.empty() || !gaps_.empty() || !categories_.empty() || !times_.empty();
  }

  std::string head() const {
    return fmt::format(
        "# Predicts {} from the other columns of {}: {} rows. Written by `troupe init`; change what you know "
        "better.\n"
        "#   {:<28}  trains; results go to runs/{}/NNN/\n"
        "#   troupe help keys data         explains the keys\n"
        "run = {{ name = {}, seed = 1 }}\n\n",
        quoted(label().name), facts_.path, survey_.rows, "troupe train " + facts_.file, facts_.name,
        quoted(facts_.name));
  }

  std::string data() const {
    std::string text = "[data]\nformat = \"csv\"\ntrain = [" + quoted(facts_.path) + "]\n";
    if (survey_.has_header) {
      text += "header = true                        # the first row has the names of the columns\n";
    } else {
      config::List names;
      for (const SurveyedColumn& column : survey_.columns) names.push_back({column.name, {}});
      text += "names = " + config::to_toml(config::Value{std::move(names), {}}) +
              "   # the first row is a sample\n";
    }
    text += form();
    text += fmt::format("{:<36} # ", "label = " + quoted(label().name));
    text += classifies_ ? fmt::format("{} classes\n", label().values.size())
                        : fmt::format("numbers from {:g} to {:g}\n", label().least, label().greatest);
    if (classifies_) text += "label_names = \"auto\"                 # the classes are those in the table\n";
    if (label().missing > 0)
      text += fmt::format("{:<36} # the {} rows without a label are left out\n", "unlabelled = \"skip\"",
                          label().missing);
    const int64_t batch =
        std::clamp<int64_t>(int64_t{1} << static_cast<int>(
                                std::log2(static_cast<double>(std::max<int64_t>(survey_.rows / 16, 1)))),
                            8, 256);
    text += fmt::format("{:<36} # held out, to see what the model does with new samples\nbatch = {}\n",
                        classifies_ ? "valid = { split = 0.2, stratify = true }" : "valid = { split = 0.2 }",
                        batch);
    if (!classifies_) text += "[data.inputs]\nlabel = { cast = \"float\" }\n";
    return text + '\n';
  }

  /// Returns the lines on how fields are written.
  std::string form() const {
    const data::TableForm& form = survey_.form;
    std::string text;
    if (form.delimiter != ',') text += "delimiter = " + quoted(std::string(1, form.delimiter)) + '\n';
    if (!form.has_quotes)
      text += "quotes = false                       # a quote is a character like others\n";
    if (form.numbers.decimal_comma) text += "decimal = \",\"                        # numbers such as 1,5\n";
    if (!form.numbers.ignored.empty())
      text += fmt::format("{:<36} # left out of numbers\n", "ignore = " + quoted(form.numbers.ignored));
    if (form.dates != data::DateOrder::Iso)
      text += fmt::format("{:<36} # the order of day, month and year in dates{}\n",
                          fmt::format("dates = \"{}\"", data::name_of(form.dates)),
                          survey_.is_order_sure ? "" : "; it may as well be dmy: no day is above 12");
    return text;
  }

  /// Returns the line of columns of numbers that are treated alike.
  static std::string number_line(std::string_view name, const std::vector<const SurveyedColumn*>& columns,
                                 std::string_view more) {
    config::List names;
    for (const SurveyedColumn* const column : columns) names.push_back({column->name, {}});
    return fmt::format("{} = {{ type = \"number\", columns = {}, normalize = \"standard\"{} }}\n", name,
                       config::to_toml(config::Value{std::move(names), {}}), more);
  }

  /// Returns a name for a column that no other has.
  std::string unique_name(const std::string& column) {
    const std::string name = identifier_of(column);
    std::string unique = name == "label" || name == "features" ? name + "_column" : name;
    for (int i = 2; !taken_.insert(unique).second; ++i) unique = name + '_' + std::to_string(i);
    return unique;
  }

  /// Gives the columns of texts their names, which the model uses, too.
  void name_texts() {
    for (Text& one : texts_) one.name = unique_name(one.column->name);
  }

  std::string columns() {
    std::string text = "[data.columns]                       # what is not named here is not read\n";
    if (!numbers_.empty()) text += number_line(unique_name("numbers"), numbers_, "");
    if (!gaps_.empty()) text += number_line(unique_name("with_gaps"), gaps_, ", missing = \"median\"");
    for (const SurveyedColumn* const column : categories_) {
      const std::string name = unique_name(column->name);
      const auto meant = data::columns_named(name, column_names());
      const bool finds_itself =
          meant && meant->size() == 1 && survey_.columns[meant->front()].name == column->name;
      text += fmt::format(
          "{} = {}   # {} different values\n", name,
          finds_itself ? "\"category\"" : "{ type = \"category\", columns = " + quoted(column->name) + " }",
          column->values.size());
    }
    for (const SurveyedColumn* const column : times_)
      text += fmt::format("{} = {{ type = \"timestamp\", columns = {}{} }}\n", unique_name(column->name),
                          quoted(column->name), column->missing > 0 ? ", missing = \"zero\"" : "");
    for (const Text& one : texts_)
      text += fmt::format("{} = {{ type = \"text\", columns = {} }}\n", one.name, quoted(one.column->name));
    for (const auto& [name, why] : left_out_) text += fmt::format("# left out: {}: {}\n", quoted(name), why);
    return text + '\n' + words_of_texts();
  }

  std::string words_of_texts() const {
    if (texts_.empty()) return {};
    std::string text = "[data.ragged]                        # texts become the numbers of their words\n";
    for (const Text& one : texts_)
      text += fmt::format(
          "{}_words = {{ from = \"{}\", most_words = {}, standardize = \"lower_and_strip_punctuation\" }}\n",
          one.name, one.name, most_words);
    return text + '\n';
  }

  std::string model() const {
    const int64_t units = survey_.rows < 1000 ? 16 : survey_.rows < 20'000 ? 64 : 128;
    std::string text = "[model.graph]\n", inputs = has_features() ? "features" : "";
    for (const Text& one : texts_) {
      text += fmt::format(
          "{0}_vectors = \"nn.embedding({0}_words, rows={1}, units={2})\"   # the last row is that of all "
          "other words\n"
          "{0}_mean = \"nn.row_mean({0}_vectors, {0}_words_splits)\"\n",
          one.name, most_words + 1, units);
      inputs.append(inputs.empty() ? "" : ", ").append(one.name).append("_mean");
    }
    if (inputs.find(',') != inputs.npos) inputs = "concat([" + inputs + "], 1)";
    text += fmt::format("hidden = \"nn.dense({}, units={}, activation='relu')\"\n", inputs, units);
    if (classifies_)
      return text + fmt::format("logits = \"nn.dense(hidden, units={})\"      # one for each class\n\n",
                                label().values.size());
    return text + fmt::format(
                      "output = \"squeeze(nn.dense(hidden, units=1), [1]) * {:.6g} + {:.6g}\"   # in the "
                      "size of the label\n\n",
                      spread(), label().mean);
  }

  double spread() const { return label().deviation > 0 ? label().deviation : 1; }

  std::string train() const {
    std::string text = "[train]\n";
    if (classifies_) {
      text += "loss = \"softmax_cross_entropy\"\n" + advice_on_rare_classes(label().values);
      text += label().values.size() == 2 ? "metrics = [\"accuracy\", \"f1\", \"auc\"]\n"
                                         : "metrics = [\"accuracy\", \"f1\"]\n";
    } else {
      text += fmt::format(
          "loss = \"nn.mean_squared_error(output, label) / {:.6g}\"   # the share of the variance that is "
          "not "
          "predicted\n",
          spread() * spread());
      text += "metrics = [\"r2\", \"mean_absolute_error\"]\n";
    }
    return text +
           "optimizer = { type = \"adam\", lr = 5e-3 }\nmax_epochs = 200\n"
           "early_stop = { monitor = \"valid/loss\", mode = \"min\", patience = 20, keep_best = true }\n";
  }

  struct Text {
    const SurveyedColumn* column;
    std::string name;  ///< in data.columns
  };
  /// The size of the vocabulary of a text.
  static constexpr int64_t most_words = 5000;

  const TableSurvey& survey_;
  const TableFacts& facts_;
  size_t label_ = 0;
  bool classifies_ = false;
  std::vector<const SurveyedColumn*> numbers_, gaps_, categories_, times_;
  std::vector<Text> texts_;
  std::vector<std::pair<std::string, std::string>> left_out_;  ///< names of columns, and why
  std::set<std::string, std::less<>> taken_;
};

}  // namespace

Result<std::string> first_run_file(const TableSurvey& survey, const TableFacts& facts) {
  return Writer(survey, facts).write();
}

}  // namespace troupe::runs
