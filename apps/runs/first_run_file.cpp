#include "apps/runs/first_run_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "apps/config/diagnostics.h"
#include "apps/data/convert/convert.h"
#include "apps/data/table_column.h"
#include "apps/runs/first_columns.h"
#include "apps/runs/first_file_parts.h"

namespace troupe::runs {
namespace {

using data::SurveyedColumn, data::TableSurvey;

constexpr size_t most_classes = 50;

/// Returns whether the column has a small number of words, or of whole numbers from 0 on that are few.
bool has_classes(const SurveyedColumn& column, int64_t rows) {
  const size_t most = std::min<size_t>(most_classes, std::max<size_t>(2, static_cast<size_t>(rows) / 5));
  if (column.values.size() < 2 || column.values.size() > most) return false;
  return !column.all_numbers() || (column.all_integers() && column.values.size() <= 20);
}

/// What is predicted: the class of a sample, several marks of it, which are 0 or 1, or numbers.
enum class Prediction : uint8_t { Class, Marks, Numbers };

/// Writes the file of one table.
class Writer {
 public:
  Writer(const TableSurvey& survey, const TableFacts& facts) : survey_(survey), facts_(facts) {}

  Result<std::string> write() && {
    TROUPE_RETURN_IF_FAILED(find_labels());
    TROUPE_RETURN_IF_FAILED(is_series() ? check_series() : check_labels());
    SurveyedColumns others = labels_;
    if (series_) others.push_back(series_);
    FirstColumns columns(survey_, others);
    if (is_series())
      columns.leave_out_texts("a text, of which a window takes none");
    else if (!columns.has_features() && columns.texts().empty())
      return invalid_argument(
          facts_.path + ": no column is of use to predict " +
          labels_as_text([](const std::string& name) { return "'" + name + "'"; }) +
          (columns.reasons().empty() ? "; there is no other one" : ":" + columns.reasons()));
    const std::string window = is_series() ? window_line(columns) : std::string();
    return head() + data(window) + columns.text() +
           (is_series() ? hidden_of_series() : hidden_of_rows(columns)) + result() + train();
  }

 private:
  bool is_series() const { return facts_.window > 0; }

  /// Returns the column of a name that an option gives.
  Result<const SurveyedColumn*> column_named(const std::string& name, const std::string& option) const {
    std::vector<std::string> columns;
    for (const SurveyedColumn& column : survey_.columns) columns.push_back(column.name);
    const auto found = data::columns_named(name, columns);
    if (!found) return invalid_argument(facts_.path + ": " + option + ' ' + found.status().text());
    const std::vector<std::string_view> names(columns.begin(), columns.end());
    if (found->empty())
      return invalid_argument(facts_.path + ": there is no column '" + name + "'" +
                              config::hint(name, names));
    return &survey_.columns[found->front()];
  }

  Status find_labels() {
    if (facts_.labels.empty()) labels_.push_back(&survey_.columns.back());
    for (const std::string& label : facts_.labels) {
      TROUPE_ASSIGN(const SurveyedColumn* const column, column_named(label, "--label"));
      if (std::ranges::find(labels_, column) != labels_.end())
        return invalid_argument(facts_.path + ": --label names the column '" + column->name + "' twice");
      labels_.push_back(column);
    }
    if (facts_.series.empty()) return {};
    TROUPE_ASSIGN(series_, column_named(facts_.series, "--series"));
    if (std::ranges::find(labels_, series_) == labels_.end()) return {};
    return invalid_argument(facts_.path + ": --series and --label name the same column, '" + series_->name +
                            "'");
  }

  /// Fails if the labels are no numbers of a series that is long enough.
  Status check_series() {
    predicts_ = Prediction::Numbers;
    for (const SurveyedColumn* const label : labels_)
      if (!label->all_numbers() || label->missing > 0)
        return invalid_argument(fmt::format(
            "{}: the label '{}' is not a number in each of the {} rows, as that of a series must be; --label "
            "names another",
            facts_.path, label->name, survey_.rows));
    if (facts_.window < survey_.rows) return {};
    return invalid_argument(fmt::format("{}: --window {}: the table has {} rows; a window takes fewer",
                                        facts_.path, facts_.window, survey_.rows));
  }

  /// Fails if the labels cannot be predicted, and otherwise finds what they are.
  Status check_labels() {
    for (const SurveyedColumn* const label : labels_)
      if (label->values.size() < 2)
        return invalid_argument(fmt::format(
            "{}: the label '{}' has {} in all {} rows, so there is nothing to predict; --label names "
            "another",
            facts_.path, label->name, label->values.empty() ? "no value" : "the same value", survey_.rows));
    const auto is_mark = [](const SurveyedColumn* label) {
      return label->all_integers() && label->least == 0 && label->greatest == 1;
    };
    if (labels_.size() > 1)
      predicts_ = std::ranges::all_of(labels_, is_mark) ? Prediction::Marks : Prediction::Numbers;
    else
      predicts_ = has_classes(label(), survey_.rows) ? Prediction::Class : Prediction::Numbers;
    for (const SurveyedColumn* const label : labels_)
      if (predicts_ != Prediction::Class && !label->all_numbers())
        return invalid_argument(fmt::format(
            "{}: the label '{}' has {} different words in {} rows, {}; --label names another", facts_.path,
            label->name, label->values.size(), survey_.rows,
            labels_.size() > 1
                ? "but where there are several labels, all must be numbers"
                : "too many for classes, and not all are numbers, such as " + quoted(label->no_number)));
    return {};
  }

  /// Returns the only label.
  const SurveyedColumn& label() const { return *labels_.front(); }

  /// Returns the names of the labels, in the form of a run file.
  std::string names_of_labels() const {
    return labels_.size() == 1 ? quoted(label().name) : list_of_names(labels_);
  }
  /// Returns them as text, each in the form that a function gives it.
  std::string labels_as_text(std::string (*form_of)(const std::string&)) const {
    std::string text;
    for (const SurveyedColumn* const label : labels_)
      text.append(text.empty() ? "" : ", ").append(form_of(label->name));
    return text;
  }

  std::string head() const {
    return fmt::format(
        "# Predicts {} from {} of {}: {} rows. Written by `troupe init`; change what you know better.\n"
        "#   {:<28}  trains; results go to runs/{}/NNN/\n"
        "#   troupe help keys data         explains the keys\n"
        "run = {{ name = {}, seed = 1 }}\n\n",
        labels_as_text(quoted),
        is_series() ? fmt::format("the {} rows before", facts_.window) : "the other columns", facts_.path,
        survey_.rows, "troupe train " + facts_.file, facts_.name, quoted(facts_.name));
  }

  /// Returns [data] without its columns. `window` is the line about that, if the table is a series.
  std::string data(const std::string& window) const {
    std::string text = "[data]\nformat = \"csv\"\ntrain = [" + quoted(facts_.path) + "]\n";
    if (survey_.has_header) {
      text += fmt::format("{:<36} # {} the names of the columns\n", "header = true",
                          data::format_of_name(facts_.path) == "jsonl" ? "the members of the objects have"
                                                                       : "the first row has");
    } else {
      SurveyedColumns all;
      for (const SurveyedColumn& column : survey_.columns) all.push_back(&column);
      text += "names = " + list_of_names(all) + "   # the first row is a sample\n";
    }
    text += form() + (is_series() ? window : labels());
    const int64_t batch =
        std::clamp<int64_t>(int64_t{1} << static_cast<int>(
                                std::log2(static_cast<double>(std::max<int64_t>(survey_.rows / 16, 1)))),
                            8, 256);
    text += fmt::format("{:<36} # held out, to see what the model does with {} samples\nbatch = {}\n",
                        predicts_ == Prediction::Class ? "valid = { split = 0.2, stratify = true }"
                                                       : "valid = { split = 0.2 }",
                        is_series() ? "later" : "new", batch);
    if (predicts_ != Prediction::Class) text += "[data.inputs]\nlabel = { cast = \"float\" }\n";
    return text + '\n';
  }

  /// Returns the lines on the label of a row.
  std::string labels() const {
    std::string text = fmt::format("{:<36} # {}\n", "label = " + names_of_labels(), form_of_labels());
    if (predicts_ == Prediction::Class)
      text += "label_names = \"auto\"                 # the classes are those in the table\n";
    const int64_t missing = std::ranges::max(labels_, {}, &SurveyedColumn::missing)->missing;
    if (missing > 0)
      text += fmt::format("{:<36} # the {}{} rows without a label are left out\n", "unlabelled = \"skip\"",
                          labels_.size() > 1 ? "at least " : "", missing);
    return text;
  }

  /// Returns the lines on the label of a stretch of rows, whose column is added to the others.
  std::string window_line(FirstColumns& columns) const {
    const std::string label = columns.add_numbers(labels_);
    const std::string series = series_ ? ", series = " + quoted(columns.add_series(*series_)) : "";
    return fmt::format(
        "label = \"none\"                       # what is predicted is a column of a later row\n"
        "window = {{ length = {}, ahead = 1, label = {}{} }}   # a sample: so many rows; the label: of the "
        "next\n",
        facts_.window, quoted(label), series);
  }

  /// Says what the labels are.
  std::string form_of_labels() const {
    if (predicts_ == Prediction::Class) return fmt::format("{} classes", label().values.size());
    if (predicts_ == Prediction::Marks) return "each 0 or 1";
    if (labels_.size() > 1) return "numbers";
    return fmt::format("numbers from {:g} to {:g}", label().least, label().greatest);
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

  int64_t units() const { return survey_.rows < 1000 ? 16 : survey_.rows < 20'000 ? 64 : 128; }

  /// Returns the begin of [model.graph], which ends with what the result is made of, for stretches of a series.
  std::string hidden_of_series() const {
    return fmt::format(
        "[model.graph]\nhidden = \"nn.gru(features, units={})\"   # its state behind the last row\n",
        2 * units());
  }

  /// Returns it for rows.
  std::string hidden_of_rows(const FirstColumns& columns) const {
    std::string text = "[model.graph]\n", inputs = columns.has_features() ? "features" : "";
    for (const FirstColumns::Named& one : columns.texts()) {
      text += fmt::format(
          "{0}_vectors = \"nn.embedding({0}_words, rows={1}, units={2})\"   # the last row is that of all "
          "other words\n"
          "{0}_mean = \"nn.row_mean({0}_vectors, {0}_words_splits)\"\n",
          one.name, FirstColumns::most_words + 1, units());
      inputs.append(inputs.empty() ? "" : ", ").append(one.name).append("_mean");
    }
    if (inputs.find(',') != inputs.npos) inputs = "concat([" + inputs + "], 1)";
    return text + fmt::format("hidden = \"nn.dense({}, units={}, activation='relu')\"\n", inputs, units());
  }

  /// Returns the last line of [model.graph].
  std::string result() const {
    if (predicts_ != Prediction::Numbers)
      return fmt::format("logits = \"nn.dense(hidden, units={})\"      # one for each {}\n\n",
                         predicts_ == Prediction::Class ? label().values.size() : labels_.size(),
                         predicts_ == Prediction::Class ? "class" : "label");
    const std::string numbers = fmt::format("nn.dense(hidden, units={})", labels_.size());
    return fmt::format("output = \"{} * {} + {}\"   # in the size of the label\n\n",
                       labels_.size() == 1 ? "squeeze(" + numbers + ", [1])" : numbers, spreads(), means());
  }

  /// Returns what `number_of` says of the labels, as an expression.
  std::string of_labels(double (*number_of)(const SurveyedColumn&)) const {
    std::string text;
    for (const SurveyedColumn* const label : labels_)
      text += fmt::format("{}{:.6g}", text.empty() ? "" : ", ", number_of(*label));
    return labels_.size() == 1 ? text : '[' + text + ']';
  }
  static double spread(const SurveyedColumn& label) { return label.deviation > 0 ? label.deviation : 1; }
  std::string spreads() const { return of_labels(spread); }
  std::string means() const {
    return of_labels([](const SurveyedColumn& label) { return label.mean; });
  }

  std::string train() const { return "[train]\n" + loss() + training(); }

  /// Returns the loss and the metrics.
  std::string loss() const {
    if (predicts_ == Prediction::Class)
      return "loss = \"softmax_cross_entropy\"\n" + advice_on_rare_classes(label().values) +
             (label().values.size() == 2 ? "metrics = [\"accuracy\", \"f1\", \"auc\"]\n"
                                         : "metrics = [\"accuracy\", \"f1\"]\n");
    if (predicts_ == Prediction::Marks)
      return "loss = \"binary_cross_entropy\"         # each label has a probability of its own\n"
             "metrics.accuracy = \"mean(cast(equal(logits > 0, label > 0.5), 'float'))\"   # the share of "
             "right labels\n";
    const std::string errors =
        labels_.size() == 1
            ? fmt::format("nn.mean_squared_error(output, label) / {:.6g}", spread(label()) * spread(label()))
            : fmt::format("mean(square((output - label) / {}))", spreads());
    return fmt::format("loss = \"{}\"   # the share of the variance that is not predicted\n", errors) +
           "metrics = [\"r2\", \"mean_absolute_error\"]\n";
  }

  static std::string training() {
    return "optimizer = { type = \"adam\", lr = 5e-3 }\nmax_epochs = 200\n"
           "early_stop = { monitor = \"valid/loss\", mode = \"min\", patience = 20, keep_best = true }\n";
  }

  const TableSurvey& survey_;
  const TableFacts& facts_;
  SurveyedColumns labels_;
  const SurveyedColumn* series_ = nullptr;  ///< the column that tells series apart, if there is one
  Prediction predicts_ = Prediction::Class;
};

}  // namespace

Result<std::string> first_run_file(const TableSurvey& survey, const TableFacts& facts) {
  return Writer(survey, facts).write();
}

}  // namespace troupe::runs
