#include "apps/text/prometheus.h"

#include <fmt/format.h>
#include <cmath>
#include <iterator>

namespace troupe {
namespace {

/// Returns the shortest text of a number, as Prometheus reads it.
std::string text_of(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

}  // namespace

std::string quoted_label(std::string_view value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c == '\n' ? ' ' : c;
  }
  return text + '"';
}

void append_kind(std::string& text, std::string_view name, std::string_view kind, std::string_view help) {
  fmt::format_to(std::back_inserter(text), "# HELP {0} {2}\n# TYPE {0} {1}\n", name, kind, help);
}

void append_sample(std::string& text, std::string_view name, double value, std::string_view labels) {
  text += name;
  if (!labels.empty()) fmt::format_to(std::back_inserter(text), "{{{}}}", labels);
  text += ' ' + text_of(value) + '\n';
}

void append_metric(std::string& text, std::string_view name, std::string_view kind, std::string_view help,
                   double value) {
  append_kind(text, name, kind, help);
  append_sample(text, name, value);
}

}  // namespace troupe
