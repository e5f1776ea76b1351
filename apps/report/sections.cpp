#include "apps/report/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "apps/report/chart.h"
#include "apps/report/html.h"

namespace troupe::report {
namespace {

/// Returns the ending of a training as people say it, and a class of the style sheet.
std::pair<std::string, std::string> badge_of(const RunRecords& records) {
  const auto ending =
      std::ranges::find(records.result, "ending", &std::pair<std::string, std::string>::first);
  if (ending == records.result.end()) return {"has not ended", "open"};
  std::string text = ending->second;
  std::ranges::replace(text, '_', ' ');
  return {text, text == "diverged" ? "bad" : text == "stopped" ? "open" : "good"};
}

std::string card(std::string_view name, std::string_view value) {
  return fmt::format(R"(<div class="card"><div class="value">{}</div><div class="name">{}</div></div>)",
                     html(value), html(name));
}

/// Returns the text for people of a member of result.json.
std::pair<std::string, std::string> figure_of(const std::string& key, const std::string& value) {
  if (key == "seconds") return {"time of training", short_duration(std::atof(value.c_str()))};
  if (key == "input_share")
    return {"share of it waiting for data", fmt::format("{:.1f} %", 100 * std::atof(value.c_str()))};
  return {key, value};
}

}  // namespace

std::string section(std::string_view heading, std::string_view content) {
  return fmt::format("<section><h2>{}</h2>{}</section>\n", html(heading), content);
}

std::string missing(std::string_view why) { return fmt::format(R"(<p class="missing">{}</p>)", html(why)); }

std::string summary(const RunRecords& records) {
  const auto [ending, kind] = badge_of(records);
  std::string text =
      fmt::format(R"(<header><h1>{}</h1><span class="badge {}">{}</span><p class="path">{}</p></header>)",
                  html(records.name), kind, html(ending), html(records.folder));
  if (records.result.empty())
    return text + missing(
                      "The folder has no result.json: the training has not ended in order, or it is still "
                      "going on.");
  const std::set<std::string, std::less<>> elsewhere = {"ending", "folder", "checkpoint", "checkpoint_step",
                                                        "time"};
  text += R"(<div class="cards">)";
  for (const auto& [key, value] : records.result) {
    if (elsewhere.contains(key)) continue;
    const auto [name, shown] = figure_of(key, value);
    text += card(name, shown);
  }
  return text + "</div>\n";
}

std::string curves(const RunRecords& records) {
  std::string text;
  if (records.curves.empty())
    text = missing("The folder has no metrics.jsonl with metrics: the run has not ended an epoch.");
  if (records.damaged_lines > 0)
    text += missing(
        fmt::format("{} lines of metrics.jsonl are no JSON and are left out.", records.damaged_lines));
  std::vector<std::string> names;
  for (const auto& [name, curve] : records.curves) names.push_back(name);
  std::stable_partition(names.begin(), names.end(), [](const std::string& name) { return name == "loss"; });
  text += R"(<div class="charts">)";
  for (const std::string& name : names) text += line_chart({name, "step", name}, records.curves.at(name));
  return section("Training", text + "</div>");
}

std::string facts(const Facts& facts) {
  std::string text = R"(<table class="facts">)";
  for (const auto& [name, value] : facts)
    text += fmt::format("<tr><th>{}</th><td>{}</td></tr>", html(name), html(value));
  return text + "</table>";
}

}  // namespace troupe::report
