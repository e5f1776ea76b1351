// Writes values as TOML (document.h).
#include <fmt/format.h>
#include <cmath>

#include "apps/config/document.h"

namespace troupe::config {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (static_cast<uint8_t>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04x}", static_cast<uint8_t>(c));
    else
      out += c;
  }
  return out + '"';
}

std::string key_text(const std::string& key) {
  constexpr std::string_view bare = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  return !key.empty() && key.find_first_not_of(bare) == std::string::npos ? key : quoted(key);
}

/// Returns the shortest text that is read as the same double and not as an integer.
std::string number_text(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  std::string out = fmt::format("{}", number);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

struct Writer {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return number_text(value); }
  std::string operator()(const std::string& value) const { return quoted(value); }
  std::string operator()(const DateTime& value) const { return value.text; }
  std::string operator()(const List& list) const {
    std::string out = "[";
    for (const auto& element : list) out += (out.size() > 1 ? ", " : "") + to_toml(element);
    return out + ']';
  }
  std::string operator()(const Table& table) const {
    if (table.empty()) return "{}";
    std::string out = "{ ";
    for (const auto& [key, place, value] : table)
      out += (out.size() > 2 ? ", " : "") + key_text(key) + " = " + to_toml(value);
    return out + " }";
  }
};

bool holds_tables(const Table& table) {
  for (const auto& entry : table)
    if (entry.value.get_if<Table>()) return true;
  return false;
}

/// Writes tables of the first two levels with headers ([model], [model.variables]). Deeper and small tables are written on one
/// line.
void write(const Table& table, const std::string& path, size_t level, std::string& out) {
  const auto gets_header = [&](const Entry& entry) {
    const auto* child = entry.value.get_if<Table>();
    return child && (level == 0 || (level == 1 && holds_tables(*child)));
  };
  for (const auto& entry : table)
    if (!gets_header(entry)) out += key_text(entry.key) + " = " + to_toml(entry.value) + '\n';
  for (const auto& entry : table) {
    if (!gets_header(entry)) continue;
    const std::string child_path = path.empty() ? key_text(entry.key) : path + '.' + key_text(entry.key);
    out += (out.empty() ? "[" : "\n[") + child_path + "]\n";
    write(std::get<Table>(entry.value.data), child_path, level + 1, out);
  }
}

}  // namespace

std::string to_toml(const Value& value) { return std::visit(Writer{}, value.data); }

std::string to_toml(const Table& table) {
  std::string out;
  write(table, "", 0, out);
  return out;
}

}  // namespace troupe::config
