#include "apps/runs/first_file_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/config/document.h"

namespace troupe::runs {
namespace {

/// A class is rare if another one has so many times as many samples.
constexpr int64_t most_times = 4;

}  // namespace

std::string quoted(const std::string& text) { return config::to_toml(config::Value{text, {}}); }

std::string advice_on_rare_classes(const ClassCounts& classes) {
  if (classes.size() < 2) return {};
  const auto [rarest, commonest] = std::ranges::minmax_element(classes, {}, &ClassCounts::value_type::second);
  if (commonest->second < most_times * rarest->second) return {};
  int64_t all = 0;
  for (const auto& [name, count] : classes) all += count;
  return fmt::format(
      "# class_weights = \"balanced\"         # makes rare classes count more: {} is {:.2g} % of the "
      "samples\n",
      quoted(rarest->first), 100.0 * static_cast<double>(rarest->second) / static_cast<double>(all));
}

}  // namespace troupe::runs
