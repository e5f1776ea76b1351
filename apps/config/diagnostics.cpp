#include "apps/config/diagnostics.h"

#include <algorithm>

#include "graph/ops/op_table.h"

namespace troupe::config {
namespace {

constexpr size_t max_line = 120;

/// Returns the line of a location with a caret under its column, or an empty string if the line is blank, missing or too long.
std::string quote(const std::string& text, SourceLocation place) {
  size_t begin = 0;
  for (uint32_t line = 1; line < place.line; ++line) {
    begin = text.find('\n', begin);
    if (begin++ == std::string::npos) return {};
  }
  std::string line = text.substr(begin, text.find('\n', begin) - begin);
  if (line.ends_with('\r')) line.pop_back();
  if (line.find_first_not_of(" \t") == std::string::npos || line.size() > max_line) return {};
  std::string caret;
  uint32_t column = 1;
  for (size_t i = 0; i < line.size() && column < place.column; ++i)
    if ((static_cast<uint8_t>(line[i]) & 0xc0) != 0x80) caret += line[i] == '\t' ? '\t' : ' ', ++column;
  return "\n  " + line + "\n  " + caret + '^';
}

}  // namespace

std::string Diagnostics::where(SourceLocation place) const {
  const Source& source = document_->source(place);
  if (!source.is_file) return source.name;
  return source.name + ':' + std::to_string(place.line) + ':' + std::to_string(place.column);
}

std::string Diagnostics::describe(const Mistake& mistake) const {
  const std::string& text = document_->source(mistake.place).text;
  return where(mistake.place) + ": " + mistake.text + quote(text, mistake.place);
}

std::string Diagnostics::text() const {
  auto sorted = errors_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.place < b.place; });
  const auto same = [](const Mistake& a, const Mistake& b) { return a.place == b.place && a.text == b.text; };
  sorted.erase(std::unique(sorted.begin(), sorted.end(), same), sorted.end());
  std::string out;
  for (size_t i = 0; i < std::min(sorted.size(), max_shown); ++i)
    out += (i ? "\n" : "") + describe(sorted[i]);
  if (sorted.size() > max_shown) out += "\nand " + std::to_string(sorted.size() - max_shown) + " more";
  return out;
}

Status Diagnostics::status() const { return empty() ? Status{} : invalid_argument(text()); }

std::string hint(std::string_view name, const std::vector<std::string_view>& known) {
  if (const auto near = nearest(name, known); !near.empty())
    return "; the nearest is '" + std::string(near) + "'";
  if (known.empty() || known.size() > 20) return {};
  std::string out = "; known: ";
  for (const auto candidate : known) out += (out.back() == ' ' ? "" : ", ") + std::string(candidate);
  return out;
}

}  // namespace troupe::config
