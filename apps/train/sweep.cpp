#include "apps/train/sweep.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <random>
#include <string_view>

namespace troupe::train {
namespace {

constexpr size_t max_trials = 10'000;

/// Splits at the commas that are in no quotes or brackets.
std::vector<std::string> split_values(std::string_view text) {
  std::vector<std::string> values(1);
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{' || c == '(') {
      ++depth;
    } else if (c == ']' || c == '}' || c == ')') {
      --depth;
    } else if (c == ',' && depth == 0) {
      values.emplace_back();
      continue;
    }
    values.back() += c;
  }
  return values;
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool is_whole(std::string_view text) { return text.find_first_of(".eE") == std::string_view::npos; }

Result<SweepKey> parse_range(SweepKey key, std::string_view text, size_t dots) {
  constexpr std::string_view log = "log:";
  std::string_view from = text.substr(0, dots);
  const std::string_view to = text.substr(dots + 2);
  key.logarithmic = from.starts_with(log);
  if (key.logarithmic) from.remove_prefix(log.size());
  const auto low = number(from), high = number(to);
  if (!low || !high || *low >= *high || (key.logarithmic && *low <= 0))
    return invalid_argument(
        "the range '" + std::string(text) + "' of " + key.key +
        " must be LOW..HIGH or log:LOW..HIGH, two numbers with LOW < HIGH, above 0 with log");
  key.low = *low;
  key.high = *high;
  key.whole = is_whole(from) && is_whole(to);
  return key;
}

/// Returns a number from 0 to 1 without 1, the same on every machine.
double unit(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

std::string draw(const SweepKey& key, std::mt19937_64& random) {
  if (!key.values.empty())
    return key.values[static_cast<size_t>(unit(random) * static_cast<double>(key.values.size()))];
  const double low = key.logarithmic ? std::log(key.low) : key.low;
  const double high = key.logarithmic ? std::log(key.high) : key.high;
  const double drawn = low + (high - low + (key.whole && !key.logarithmic ? 1 : 0)) * unit(random);
  const double value = key.logarithmic ? std::exp(drawn) : drawn;
  if (key.whole)
    return std::to_string(std::clamp(static_cast<int64_t>(std::floor(value)), static_cast<int64_t>(key.low),
                                     static_cast<int64_t>(key.high)));
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  const std::string result = text;
  return is_whole(result) ? result + ".0" : result;
}

}  // namespace

Result<SweepKey> parse_sweep_key(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
    return invalid_argument("'" + text + "' must be KEY=VALUE,VALUE,... or KEY=LOW..HIGH");
  SweepKey key;
  key.key = text.substr(0, equals);
  const std::string_view values = std::string_view(text).substr(equals + 1);
  const size_t dots = values.find("..");
  const bool is_text = values.find_first_of("\"'[{") != std::string_view::npos;
  if (dots != std::string_view::npos && !is_text) return parse_range(std::move(key), values, dots);
  key.values = split_values(values);
  if (std::ranges::count(key.values, std::string()) != 0)
    return invalid_argument("one of the values of " + key.key + " in '" + text + "' is empty");
  return key;
}

Result<std::vector<TrialSettings>> grid(const std::vector<SweepKey>& keys) {
  std::vector<TrialSettings> trials(1);
  for (const SweepKey& key : keys) {
    if (key.values.empty())
      return invalid_argument(key.key +
                              " has a range, from which values can only be drawn at random: --random N");
    if (trials.size() * key.values.size() > max_trials)
      return resource_exhausted("there are more than " + std::to_string(max_trials) +
                                " combinations of values");
    std::vector<TrialSettings> more;
    for (const TrialSettings& trial : trials)
      for (const std::string& value : key.values) {
        more.push_back(trial);
        more.back().push_back(key.key + "=" + value);
      }
    trials = std::move(more);
  }
  return trials;
}

Status check_draws(const std::vector<SweepKey>& keys, int64_t count) {
  const bool varies = std::ranges::any_of(keys, [](const SweepKey& key) { return key.values.size() != 1; });
  if (varies || keys.empty() || count < 2) return {};
  const std::string& name = keys.front().key;
  return invalid_argument(name + '=' + keys.front().values.front() + " is one value, so that the " +
                          std::to_string(count) +
                          " trials of --random would all be the same; write a range, " + name +
                          "=LOW..HIGH or " + name + "=log:LOW..HIGH, or several values, " + name + "=A,B,C");
}

std::vector<TrialSettings> draw_trials(const std::vector<SweepKey>& keys, int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<TrialSettings> trials(static_cast<size_t>(count));
  for (TrialSettings& trial : trials)
    for (const SweepKey& key : keys) trial.push_back(key.key + "=" + draw(key, random));
  return trials;
}

std::vector<Trial> sweep(const std::vector<TrialSettings>& trials, const SweepOptions& options,
                         const RunTrial& run) {
  std::vector<Trial> all;
  for (const TrialSettings& settings : trials) all.push_back({settings, {}, 0, 0, 0, {}, {}});
  const auto is_better = [&](const Trial& one, const Trial& other) {
    if (one.score.has_value() != other.score.has_value()) return one.score.has_value();
    if (!one.score) return false;
    return options.higher_is_better ? *one.score > *other.score : *one.score < *other.score;
  };
  const bool halves = options.halving >= 2;
  int64_t epochs = halves ? std::min(options.first_epochs, options.max_epochs) : options.max_epochs;
  for (size_t left = all.size();;) {
    for (size_t i = 0; i < left; ++i)
      if (!run(all[i], epochs)) return all;
    std::stable_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(left), is_better);
    if (epochs == options.max_epochs) return all;
    left = static_cast<size_t>(std::count_if(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(left),
                                             [](const Trial& trial) { return trial.score.has_value(); }));
    if (left == 0) return all;
    const auto factor = static_cast<size_t>(options.halving);
    left = std::max<size_t>(1, (left + factor - 1) / factor);
    epochs = std::min(epochs * options.halving, options.max_epochs);
  }
}

}  // namespace troupe::train
