#include "apps/commands/class_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "apps/report/class_scores.h"
#include "apps/text/escaped.h"

namespace troupe::commands {
namespace {

using report::ClassScore;
using report::ClassScores;
using report::Comparison;
using report::Confusion;

constexpr size_t most_confusions = 10;  ///< in a table

Result<ClassScores> scores_of(const Comparison& comparison) {
  const auto* const predictions = std::get_if<std::vector<report::ClassPrediction>>(&comparison.predictions);
  if (!predictions)
    return invalid_argument("the model predicts numbers, in its output '" + comparison.output +
                            "'; only a model that predicts classes has scores of classes");
  ClassScores scores = report::score(*predictions, comparison.classes);
  std::erase_if(scores.classes, [](const ClassScore& one) { return one.labelled + one.predicted == 0; });
  return scores;
}

}  // namespace

Result<std::string> class_table(const Comparison& comparison) {
  TROUPE_ASSIGN(const ClassScores scores, scores_of(comparison));
  const auto name = [&](int64_t label) { return escaped(comparison.class_name(label)); };
  size_t width = std::string_view("class").size();
  for (const ClassScore& one : scores.classes) width = std::max(width, name(one.label).size());
  std::string text = fmt::format("{:<{}}  precision  recall      F1  labelled  predicted\n", "class", width);
  for (const ClassScore& one : scores.classes)
    text += fmt::format("{:<{}}     {:.4f}  {:.4f}  {:.4f}  {:8}  {:9}\n", name(one.label), width,
                        one.precision(), one.recall(), one.f1(), one.labelled, one.predicted);
  text += fmt::format("mean F1 {:.4f}, {} of {} right\n", scores.mean_f1(), scores.right, scores.total);
  const auto confusions = scores.mistakes();
  for (const Confusion& one : std::span(confusions).first(std::min(confusions.size(), most_confusions)))
    text += fmt::format("{} taken for {}: {}\n", name(one.label), name(one.predicted), one.samples);
  if (confusions.size() > most_confusions)
    text += fmt::format("and {} rarer confusions\n", confusions.size() - most_confusions);
  return text;
}

Status add_classes(const Comparison& comparison, nlohmann::ordered_json& object) {
  TROUPE_ASSIGN(const ClassScores scores, scores_of(comparison));
  auto classes = nlohmann::ordered_json::array(), confusions = nlohmann::ordered_json::array();
  for (const ClassScore& one : scores.classes)
    classes.push_back({{"class", comparison.class_name(one.label)},
                       {"precision", one.precision()},
                       {"recall", one.recall()},
                       {"f1", one.f1()},
                       {"labelled", one.labelled},
                       {"predicted", one.predicted}});
  for (const Confusion& one : scores.mistakes())
    confusions.push_back({{"label", comparison.class_name(one.label)},
                          {"predicted", comparison.class_name(one.predicted)},
                          {"samples", one.samples}});
  object["mean_f1"] = scores.mean_f1();
  object["classes"] = std::move(classes);
  object["confusions"] = std::move(confusions);
  return {};
}

}  // namespace troupe::commands
