// The section of a report on predictions: confusion matrix and scores of classes, or what numbers differ by, and the worst ones.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "apps/report/chart.h"
#include "apps/report/class_scores.h"
#include "apps/report/html.h"
#include "apps/report/sections.h"
#include "apps/text/escaped.h"

namespace troupe::report {
namespace {

/// The most classes of which a matrix is drawn, classes in the table, pairs of classes, errors and points.
constexpr size_t most_in_matrix = 30, most_listed_classes = 100, most_pairs = 20, most_errors = 20,
                 most_predictions = 2000;

std::string name_of(const Comparison& comparison, int64_t label) {
  return html(escaped(comparison.class_name(label)));
}

std::string figure(std::string_view name, const std::string& value) {
  return fmt::format(R"(<div class="card"><div class="value">{}</div><div class="name">{}</div></div>)",
                     value, name);
}

/// Returns a table; its head and its rows are HTML, cell after cell.
std::string table(std::string_view heads, const std::string& rows) {
  return fmt::format("<div class=\"scroll\"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>",
                     heads, rows);
}

std::string matrix(const Comparison& comparison, const ClassScores& scores) {
  std::string heads = R"(<th class="corner">label \ predicted</th>)", rows;
  for (const ClassScore& one : scores.classes)
    heads += fmt::format("<th>{}</th>", name_of(comparison, one.label));
  for (const ClassScore& row : scores.classes) {
    rows += fmt::format("<tr><th>{}</th>", name_of(comparison, row.label));
    for (const ClassScore& column : scores.classes) {
      const auto found = scores.confusions.find({row.label, column.label});
      const int64_t count = found == scores.confusions.end() ? 0 : found->second;
      const double share =
          row.labelled == 0 ? 0 : static_cast<double>(count) / static_cast<double>(row.labelled);
      if (count == 0) {
        rows += "<td></td>";
        continue;
      }
      // The root makes rare confusions visible.
      rows += fmt::format(
          R"(<td class="{}" style="--share:{:.2f}" title="{} of {} with label {} predicted as {}">{}</td>)",
          row.label == column.label ? "right" : "wrong", std::sqrt(share), count, row.labelled,
          name_of(comparison, row.label), name_of(comparison, column.label), count);
    }
    rows += "</tr>";
  }
  return fmt::format(
      R"(<h3>Confusion matrix</h3><div class="scroll"><table class="matrix"><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>)",
      heads, rows);
}

std::string score_cell(double value) {
  return fmt::format(
      R"(<td class="number"><span class="meter"><span style="width:{:.1f}%"></span></span>{:.3f}</td>)",
      100 * value, value);
}

std::string class_table(const Comparison& comparison, const ClassScores& scores) {
  std::vector<ClassScore> classes = scores.classes;
  std::string note;
  if (classes.size() > most_listed_classes) {
    std::ranges::stable_sort(classes, std::ranges::greater(), &ClassScore::labelled);
    classes.resize(most_listed_classes);
    note = missing(
        fmt::format("The {} most frequent of {} classes.", most_listed_classes, scores.classes.size()));
  }
  std::string rows;
  for (const ClassScore& one : classes)
    rows += fmt::format(R"(<tr><th>{}</th>{}{}{}<td class="number">{}</td><td class="number">{}</td></tr>)",
                        name_of(comparison, one.label), score_cell(one.precision()), score_cell(one.recall()),
                        score_cell(one.f1()), one.labelled, one.predicted);
  return "<h3>Classes</h3>" + note +
         table(
             "<th>class</th><th class=\"number\">precision</th><th class=\"number\">recall</th><th "
             "class=\"number\">F1</th><th class=\"number\">labelled</th><th class=\"number\">predicted</th>",
             rows);
}

std::string confused_pairs(const Comparison& comparison, const ClassScores& scores) {
  std::vector<Confusion> mistakes = scores.mistakes();
  mistakes.resize(std::min(mistakes.size(), most_pairs));
  std::string rows;
  for (const Confusion& one : mistakes)
    rows += fmt::format(R"(<tr><td>{}</td><td>{}</td><td class="number">{}</td></tr>)",
                        name_of(comparison, one.label), name_of(comparison, one.predicted), one.samples);
  return "<h3>Most frequent confusions</h3>" +
         table("<th>label</th><th>predicted</th><th class=\"number\">samples</th>", rows);
}

std::string worst_classes(const Comparison& comparison, std::vector<ClassPrediction> all) {
  std::erase_if(all, [](const ClassPrediction& one) { return one.label == one.predicted; });
  const size_t shown = std::min(all.size(), most_errors);
  if (shown == 0) return "<h3>Worst errors</h3><p>Every prediction is right.</p>";
  // The loss of a sample is the negative logarithm of the probability of its label.
  std::ranges::stable_sort(
      all, {}, [](const ClassPrediction& one) { return std::isnan(one.of_label) ? 0 : one.of_label; });
  const bool has_loss = !std::isnan(all[0].of_label);
  std::string rows;
  for (const ClassPrediction& one : std::span(all).first(shown)) {
    rows += fmt::format(R"(<tr><td class="number">{}</td><td>{}</td><td>{}</td>)", one.sample,
                        name_of(comparison, one.label), name_of(comparison, one.predicted));
    if (has_loss)
      rows += fmt::format(R"(<td class="number">{:.3f}</td><td class="number">{:.3f}</td>)", one.of_predicted,
                          -std::log(one.of_label));
    rows += "</tr>";
  }
  return fmt::format(
             "<h3>Worst errors</h3><p>{} of {} errors. A sample's number is its position among the {} "
             "samples, from 0.</p>",
             shown, all.size(), html(comparison.part)) +
         table(
             std::string("<th class=\"number\">sample</th><th>label</th><th>predicted</th>") +
                 (has_loss ? "<th class=\"number\">its probability</th><th class=\"number\">loss</th>" : ""),
             rows);
}

std::string class_predictions(const Comparison& comparison, const std::vector<ClassPrediction>& all) {
  const ClassScores scores = score(all, comparison.classes);
  std::string text = R"(<div class="cards">)" +
                     figure("right", fmt::format("{:.2f} %", 100 * scores.accuracy())) +
                     figure("errors", std::to_string(scores.total - scores.right)) +
                     figure("mean F1 of the classes", fmt::format("{:.4f}", scores.mean_f1())) + "</div>";
  const bool is_small = scores.classes.size() <= most_in_matrix;
  text += R"(<div class="columns"><div>)" +
          (is_small ? matrix(comparison, scores) : confused_pairs(comparison, scores));
  text += "</div><div>" + class_table(comparison, scores) + "</div></div>";
  return text + worst_classes(comparison, all);
}

struct Errors {
  double absolute = 0, square = 0, variance = 0;  ///< means
};

Errors errors_of(const std::vector<NumberPrediction>& all) {
  Errors errors;
  double mean = 0;
  const auto count = static_cast<double>(all.size());
  for (const NumberPrediction& one : all) mean += one.label / count;
  for (const NumberPrediction& one : all) {
    const double error = one.predicted - one.label;
    errors.absolute += std::abs(error) / count;
    errors.square += error * error / count;
    errors.variance += (one.label - mean) * (one.label - mean) / count;
  }
  return errors;
}

std::string worst_numbers(const Comparison& comparison, std::vector<NumberPrediction> all) {
  const auto error = [](const NumberPrediction& one) {
    const double value = std::abs(one.predicted - one.label);
    return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
  };
  std::ranges::stable_sort(all, std::ranges::greater(), error);
  all.resize(std::min(all.size(), most_errors));
  std::string rows;
  for (const NumberPrediction& one : all)
    rows += fmt::format(
        R"(<tr><td class="number">{}</td><td class="number">{}</td><td class="number">{}</td><td class="number">{}</td></tr>)",
        one.sample, short_number(one.label), short_number(one.predicted),
        short_number(one.predicted - one.label));
  return fmt::format(
             "<h3>Largest errors</h3><p>A sample's number is its position among the {} samples, from 0.</p>",
             html(comparison.part)) +
         table(
             "<th class=\"number\">sample</th><th class=\"number\">label</th><th "
             "class=\"number\">predicted</th><th class=\"number\">error</th>",
             rows);
}

std::string number_predictions(const Comparison& comparison, const std::vector<NumberPrediction>& all) {
  const Errors errors = errors_of(all);
  std::string text =
      R"(<div class="cards">)" + figure("mean absolute error", short_number(errors.absolute)) +
      figure("root of the mean square error", short_number(std::sqrt(errors.square))) +
      figure("R²", errors.variance > 0 ? fmt::format("{:.4f}", 1 - errors.square / errors.variance) : "–") +
      R"(</div><div class="charts">)";
  const size_t stride = all.size() / most_predictions + 1;
  std::vector<Point> points;
  std::vector<double> residuals;
  for (size_t i = 0; i < all.size(); ++i) {
    const NumberPrediction& one = all[i];
    residuals.push_back(one.predicted - one.label);
    if (i % stride == 0)
      points.push_back({one.label, one.predicted,
                        fmt::format("sample {}\nlabel {}\npredicted {}", one.sample, short_number(one.label),
                                    short_number(one.predicted))});
  }
  text += scatter_chart({"Predictions and labels", "label", "predicted"}, points);
  text += histogram({"Errors", "predicted − label", "predictions"}, residuals);
  return text + "</div>" + worst_numbers(comparison, all);
}

}  // namespace

std::string predictions(const Comparison& comparison) {
  std::string text = fmt::format(
      "<p>{} of {} {} samples; output <code>{}</code> beside column <code>{}</code>; variables of "
      "<code>{}</code>.</p>",
      comparison.samples, comparison.of_samples, html(comparison.part), html(comparison.output),
      html(comparison.label), html(comparison.checkpoint));
  if (const auto* const classes = std::get_if<std::vector<ClassPrediction>>(&comparison.predictions))
    text += class_predictions(comparison, *classes);
  else
    text += number_predictions(comparison, std::get<std::vector<NumberPrediction>>(comparison.predictions));
  return section("Predictions", text);
}

}  // namespace troupe::report
