#include "apps/observe/status_text.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "apps/text/escaped.h"
#include "apps/text/score_text.h"

namespace troupe::observe {
namespace {

using Json = nlohmann::ordered_json;

double number(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_number() ? at->get<double>() : 0;
}
std::string string(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_string() ? escaped(at->get<std::string>()) : std::string();
}
const Json* find(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at == json.end() || at->is_null() ? nullptr : &*at;
}

std::string duration(double seconds) {
  const int64_t all = std::llround(seconds);
  return all >= 3600 ? fmt::format("{}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60)
                     : fmt::format("{}:{:02}", all / 60, all % 60);
}

std::string progress(const Json& state) {
  std::string text = fmt::format("epoch {:.0f}", number(state, "epoch"));
  if (find(state, "max_epochs")) text += fmt::format(" of {:.0f}", number(state, "max_epochs"));
  text += fmt::format("   step {:.0f}", number(state, "step"));
  if (const double last = number(state, "last_step"); last > 0)
    text += fmt::format(" of {:.0f} ({:.0f} %)", last, std::floor(100 * number(state, "step") / last));
  if (find(state, "seconds_left")) text += "   ETA " + duration(number(state, "seconds_left"));
  return text;
}

/// Returns names and numbers, except for those that `left_out` names.
std::string figures(const Json& json, const std::vector<std::string>& left_out) {
  std::string text;
  for (const auto& [name, value] : json.items())
    if (value.is_number() && std::ranges::count(left_out, name) == 0)
      text += fmt::format("{}{} {:.4g}", text.empty() ? "" : "   ", escaped(name), value.get<double>());
  return text;
}

std::string shares(const Json& spent) {
  double all = 0;
  for (const auto& [what, seconds] : spent.items()) all += number(spent, what.c_str());
  std::string text = "time:";
  for (const auto& [what, seconds] : spent.items())
    text +=
        fmt::format("   {} {:.1f} %", escaped(what), all > 0 ? 100 * number(spent, what.c_str()) / all : 0);
  return text;
}

void add_devices(const Json& state, std::vector<std::string>& lines) {
  constexpr size_t shown = 4;
  const Json* const devices = find(state, "devices");
  if (!devices || !devices->is_array() || devices->empty()) return;
  lines.emplace_back("steps:");
  for (const Json& device : *devices) {
    std::string line = fmt::format("  {:<32}", string(device, "device"));
    if (const Json* const ops = find(device, "ops"); ops && ops->is_array())
      for (size_t i = 0; i < std::min(ops->size(), shown); ++i)
        line += fmt::format(" {} {:.0f} %,", string((*ops)[i], "op"), 100 * number((*ops)[i], "share"));
    const double step = number(device, "step_us");
    const double idle = number(device, "waiting_us") + number(device, "outside_us");
    lines.push_back(line + fmt::format(" waiting for others {:.0f} %", step > 0 ? 100 * idle / step : 0));
  }
}

void append_nodes(const Json& state, std::vector<std::string>& lines) {
  const Json* const nodes = find(state, "nodes");
  if (!nodes || nodes->empty()) return;
  lines.emplace_back("nodes:");
  for (const Json& node : *nodes) {
    const Json* const linked = find(node, "linked");
    const bool is_up = linked && linked->is_boolean() && linked->get<bool>();
    std::string line = fmt::format("  {:<32} {}  {}", string(node, "task"), is_up ? "linked " : "missing",
                                   string(node, is_up ? "transport" : "problem"));
    if (is_up)
      line += fmt::format("   uses {:.2f} cores, sends {:.3g} MB/s, receives {:.3g} MB/s",
                          number(node, "cores"), number(node, "sent_bytes_per_second") / 1e6,
                          number(node, "received_bytes_per_second") / 1e6);
    if (const double unsent = number(node, "unsent_bytes"); unsent > 0)
      line += fmt::format(", {:.3g} MB wait to be sent", unsent / 1e6);
    if (const double restarts = number(node, "restarts"); restarts > 0)
      line += fmt::format("  started anew {:.0f} times", restarts);
    lines.push_back(std::move(line));
  }
}

void add_notes(const Json& state, std::vector<std::string>& lines) {
  constexpr size_t shown = 5;
  const Json* const notes = find(state, "notes");
  if (!notes || !notes->is_array() || notes->empty()) return;
  lines.emplace_back("messages:");
  for (size_t i = notes->size() - std::min(notes->size(), shown); i < notes->size(); ++i) {
    const auto time = static_cast<time_t>(number((*notes)[i], "time"));
    tm local{};
    ::localtime_r(&time, &local);
    lines.push_back(fmt::format("  {:02}:{:02}:{:02}  {}", local.tm_hour, local.tm_min, local.tm_sec,
                                string((*notes)[i], "text")));
  }
}

/// Returns the lines of a run that has ended, as its result says.
std::vector<std::string> result_lines(const Json& state) {
  std::vector<std::string> lines = {
      fmt::format("ended: {}   {}", string(state, "ending"), string(state, "folder")),
      fmt::format("{:.0f} steps, {:.0f} epochs in {}", number(state, "steps"), number(state, "epochs"),
                  duration(number(state, "seconds")))};
  if (const auto scores =
          figures(state, {"steps", "epochs", "seconds", "time", "exit_code", "checkpoint_step"});
      !scores.empty())
    lines.push_back(scores);
  for (const char* key : {"error", "checkpoint"})
    if (const auto text = string(state, key); !text.empty())
      lines.push_back(fmt::format("{}: {}", key, text));
  return lines;
}

}  // namespace

std::vector<std::string> status_lines(const Json& state) {
  if (!find(state, "step")) return result_lines(state);
  const std::string ending = string(state, "ending");
  std::vector<std::string> lines = {
      fmt::format("{}: {}   {}", string(state, "name"), ending.empty() ? string(state, "phase") : ending,
                  string(state, "folder")),
      progress(state),
      fmt::format("loss of the epoch {}   {:.4g} steps/s   {:.4g} examples/s   running for {}",
                  score_text(number(state, "epoch_loss")), number(state, "steps_per_second"),
                  number(state, "samples_per_second"),
                  duration(number(state, "time") - number(state, "started")))};
  if (const Json* scores = find(state, "scores"); scores && scores->is_array() && !scores->empty())
    lines.push_back(fmt::format("last scores (step {:.0f}):   ", number(scores->back(), "step")) +
                    figures(scores->back(), {"step", "epoch", "time"}));
  if (const Json* gradients = find(state, "gradients"))
    lines.push_back("gradients:   " + figures(*gradients, {}));
  if (const Json* saved = find(state, "checkpoint"); saved && saved->is_object())
    lines.push_back(
        fmt::format("last checkpoint: step {:.0f}   {}", number(*saved, "step"), string(*saved, "folder")));
  if (const Json* spent = find(state, "spent")) lines.push_back(shares(*spent));
  add_devices(state, lines);
  append_nodes(state, lines);
  add_notes(state, lines);
  return lines;
}

}  // namespace troupe::observe
