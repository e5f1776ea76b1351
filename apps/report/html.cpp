#include "apps/report/html.h"

#include <fmt/format.h>

#include <cmath>

namespace troupe::report {

std::string html(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default:
        if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == '\x7f')
          result += "\xef\xbf\xbd";
        else
          result += c;
    }
  }
  return result;
}

std::string short_number(double value) {
  if (std::isnan(value)) return "–";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  constexpr double exact = 1e6;
  if (value == std::floor(value) && std::abs(value) < exact) return fmt::format("{:.0f}", value);
  return fmt::format("{:.4g}", value);
}

std::string short_duration(double seconds) {
  constexpr double minute = 60, hour = 3600, most_hours = 1e9;
  if (!(seconds < most_hours)) return short_number(seconds) + " s";
  if (seconds < 0.1) return short_number(1e3 * seconds) + " ms";
  if (seconds < minute) return fmt::format("{:.3g} s", seconds);
  const auto whole = static_cast<int64_t>(seconds);
  if (seconds < hour) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace troupe::report
