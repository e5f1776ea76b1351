#include "apps/text/score_text.h"

#include <fmt/format.h>
#include <cmath>

namespace troupe {

std::string score_text(double score) {
  if (std::isnan(score)) return "nan";  // whatever its sign
  const double size = std::abs(score);
  const bool has_decimals = size == 0 || (size >= 0.01 && size < 10'000);
  return has_decimals ? fmt::format("{:.4f}", score) : fmt::format("{:.5g}", score);
}

std::string score_texts(std::span<const std::pair<std::string, double>> scores) {
  std::string text;
  for (const auto& [name, score] : scores) text += "  " + name + ' ' + score_text(score);
  return text;
}

std::string count_text(uint64_t count, std::string_view thing) {
  const char* const ending = count == 1 ? "" : thing.ends_with("tch") ? "es" : "s";
  return fmt::format("{} {}{}", count, thing, ending);
}

}  // namespace troupe
