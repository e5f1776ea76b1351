#include "apps/config/document.h"

#include <toml++/toml.h>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <sstream>

#include "apps/config/diagnostics.h"
#include "apps/config/foreign_names.h"
#include "graph/ops/op_table.h"

namespace troupe::config {
namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

/// Converts nodes of toml++ to values. `shift` columns of the first line precede the text that the user wrote.
class Converter {
 public:
  Converter(uint32_t source, uint32_t shift) : source_(source), shift_(shift) {}

  Value convert(const toml::node& node) const {
    Value value{{}, place(node.source())};
    node.visit([&](const auto& typed) { assign(value, typed); });
    return value;
  }

 private:
  SourceLocation place(const toml::source_region& region) const {
    return {source_, region.begin.line, region.begin.column - (region.begin.line == 1 ? shift_ : 0)};
  }
  void assign(Value& value, const toml::value<std::string>& text) const { value.data = text.get(); }
  void assign(Value& value, const toml::value<int64_t>& number) const { value.data = number.get(); }
  void assign(Value& value, const toml::value<double>& number) const { value.data = number.get(); }
  void assign(Value& value, const toml::value<bool>& truth) const { value.data = truth.get(); }
  void assign(Value& value, const toml::array& array) const {
    List list;
    for (const toml::node& element : array) list.push_back(convert(element));
    value.data = std::move(list);
  }
  void assign(Value& value, const toml::table& map) const {
    Table table;
    for (const auto& [key, element] : map)
      table.push_back({std::string(key.str()), place(key.source()), convert(element)});
    std::stable_sort(table.begin(), table.end(),
                     [](const Entry& a, const Entry& b) { return a.place < b.place; });
    value.data = std::move(table);
  }
  template <class DateOrTime>
  void assign(Value& value, const DateOrTime& date_or_time) const {
    std::ostringstream text;
    text << date_or_time;
    value.data = DateTime{text.str()};
  }

  uint32_t source_, shift_;
};

/// Returns the position after the string or comment that begins at `at`, or after one character of anything else.
size_t skip_token(std::string_view text, size_t at) {
  const char c = text[at];
  if (c == '#') return std::min(text.find('\n', at), text.size());
  if (c != '"' && c != '\'') return at + 1;
  const size_t quotes = text.substr(at, 3) == std::string(3, c) ? 3 : 1;
  for (at += quotes; at < text.size(); ++at) {
    if (c == '"' && text[at] == '\\')
      ++at;
    else if (text.substr(at, quotes) == std::string_view("\"\"\"'''").substr(c == '"' ? 0 : 3, quotes))
      return at + quotes;
  }
  return text.size();
}

struct TooDeep {
  size_t offset = 0;
  std::string text;
};

/// Finds a key with too many parts, or a value that is nested too deeply. The parser bounds only the nesting of values, so one long
/// key would become a tree that is too deep for functions that recurse over it.
std::optional<TooDeep> find_too_deep(std::string_view text) {
  size_t dots = 0;
  int brackets = 0;
  for (size_t at = 0; at < text.size(); at = skip_token(text, at)) {
    const char c = text[at];
    if (c == '.' && ++dots >= Document::max_key_parts)
      return TooDeep{at, "a key has more than " + std::to_string(Document::max_key_parts) + " parts"};
    if (std::string_view(",=[]{}\n").find(c) != std::string_view::npos) dots = 0;
    brackets += (c == '[' || c == '{') - (c == ']' || c == '}');
    if (brackets > Document::max_nesting)
      return TooDeep{at,
                     "values are nested deeper than " + std::to_string(Document::max_nesting) + " levels"};
  }
  return {};
}

SourceLocation place_at(std::string_view text, size_t byte, uint32_t source) {
  SourceLocation place{source};
  for (size_t i = 0; i < std::min(byte, text.size()); ++i) {
    if (text[i] == '\n')
      ++place.line, place.column = 1;
    else if ((static_cast<uint8_t>(text[i]) & 0xc0) != 0x80)
      ++place.column;
  }
  return place;
}

size_t byte_at(std::string_view text, SourceLocation place) {
  size_t at = 0;
  for (uint32_t line = 1; line < place.line && at < text.size(); ++line) at = text.find('\n', at) + 1;
  for (uint32_t column = 1; column < place.column && at < text.size(); ++column) do
      ++at;
    while (at < text.size() && (static_cast<uint8_t>(text[at]) & 0xc0) == 0x80);
  return at;
}

size_t utf8_length(uint32_t code_point) {
  return code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
}

/// Advances `at` from the backslash to the end of an escape in a basic string. Returns how many bytes the escape stands for.
size_t skip_escape(std::string_view raw, size_t& at) {
  const char kind = at + 1 < raw.size() ? raw[at + 1] : '\0';
  if (kind == 'u' || kind == 'U') {
    const size_t digits = kind == 'u' ? 4 : 8;
    const auto hex = std::string(raw.substr(at + 2, digits));
    at += 2 + digits;
    return utf8_length(static_cast<uint32_t>(std::strtoul(hex.c_str(), nullptr, 16)));
  }
  if (kind == ' ' || kind == '\t' || kind == '\r' || kind == '\n') {
    at = std::min(raw.find_first_not_of(" \t\r\n", at + 1), raw.size());
    return 0;
  }
  at += 2;
  return 1;
}

/// What is wrong with the syntax of a file, and where.
struct SyntaxMistake {
  SourceLocation place;
  std::string text;
};

std::string_view line_at(std::string_view text, size_t byte) {
  const size_t begin = byte == 0 ? 0 : text.rfind('\n', byte - 1) + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

/// Returns what comes before the value of a line, without blanks: a key or, of a line without '=', all of it.
std::string_view key_of_line(std::string_view line) {
  line = line.substr(0, line.find('='));
  const size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  const size_t end = line.find_last_not_of(" \t\r");
  return begin >= line.size() ? std::string_view() : line.substr(begin, end + 1 - begin);
}

/// Returns the mistake that the key or the table of a line stands in an earlier line, too, if there is such a line.
std::optional<SyntaxMistake> given_twice(std::string_view text, size_t byte) {
  const std::string_view key = key_of_line(line_at(text, byte));
  const bool is_table = key.starts_with('[');
  size_t begin = static_cast<size_t>(line_at(text, byte).data() - text.data());
  const size_t second = begin;
  while (begin > 0 && !key.empty()) {
    const std::string_view line = line_at(text, begin - 1);
    begin = static_cast<size_t>(line.data() - text.data());
    if (key_of_line(line) == key) {
      const SourceLocation first = place_at(text, begin, 0);
      return SyntaxMistake{place_at(text, second, 0), std::string(key) + " is given twice, first in line " +
                                                          std::to_string(first.line) +
                                                          "; remove one of the two"};
    }
    if (!is_table && key_of_line(line).starts_with('[')) break;  // a key of another table
  }
  return {};
}

/// Returns the mistake that a bracket of an earlier line is not closed, if a new key or table begins at a position.
std::optional<SyntaxMistake> not_closed(std::string_view text, size_t byte) {
  const std::string_view line = line_at(text, byte), key = key_of_line(line);
  const auto is_letter = [](char c) { return std::isalnum(static_cast<uint8_t>(c)) != 0 || c == '_'; };
  const bool is_key = !key.empty() && std::ranges::all_of(key, is_letter) && key.size() < line.size();
  const bool is_table =
      key.size() > 2 && key[0] == '[' && (is_letter(key[1]) || key[1] == '[') && key.back() == ']';
  if (!is_key && !is_table) return {};
  const size_t end = static_cast<size_t>(line.data() - text.data());
  std::vector<size_t> open;
  for (size_t at = 0; at < end; at = skip_token(text, at)) {
    if (text[at] == '[' || text[at] == '{') open.push_back(at);
    if ((text[at] == ']' || text[at] == '}') && !open.empty()) open.pop_back();
  }
  if (open.empty()) return {};
  return SyntaxMistake{place_at(text, open.back(), 0),
                       std::string("the bracket that begins here is not closed: '") +
                           (text[open.back()] == '[' ? ']' : '}') + "' is missing before line " +
                           std::to_string(place_at(text, end, 0).line)};
}

/// Returns what the parser's error means.
SyntaxMistake explained(std::string_view text, const toml::parse_error& error) {
  const auto at = error.source().begin;
  const SourceLocation place{0, std::max(at.line, 1u), std::max(at.column, 1u)};
  const size_t byte = byte_at(text, place);
  const std::string_view description = error.description();
  if (description.find("redefine") != std::string_view::npos)
    if (const auto twice = given_twice(text, byte)) return *twice;
  if (description.find("utf-8") != std::string_view::npos)
    return {place, "the bytes here are no text in UTF-8, which run files (TOML) are"};
  if (const auto open = not_closed(text, byte)) return *open;
  return {place, std::string(description) + advice_on_line(line_at(text, byte))};
}

/// Returns the value of a key of a table, which is added if it does not exist, or the element of a list.
Result<Value*> child(Value& parent, const std::string& part, SourceLocation place) {
  if (part.empty()) return invalid_argument("a part of the key is empty");
  if (auto* table = parent.get_if<Table>()) {
    if (!find(*table, part)) table->push_back({part, place, {Table{}, place}});
    return find(*table, part);
  }
  auto* list = parent.get_if<List>();
  if (!list) return invalid_argument("the value before '" + part + "' in the key is not a table or list");
  size_t index = list->size();
  std::from_chars(part.data(), part.data() + part.size(), index);
  if (index >= list->size())
    return invalid_argument("'" + part + "' is not an index of a list of " + std::to_string(list->size()) +
                            " elements, counted from 0");
  return &(*list)[index];
}

}  // namespace

Value* find(Table& table, std::string_view key) {
  for (auto& entry : table)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

const Value* find(const Table& table, std::string_view key) { return find(const_cast<Table&>(table), key); }

Value* find(Table& table, std::string_view inner, std::string_view key) {
  Value* const found = find(table, inner);
  return found && found->get_if<Table>() ? find(*found->get_if<Table>(), key) : nullptr;
}

void expand_type_name(Value& value) {
  if (!value.get_if<std::string>()) return;
  Value type = value;
  value.data = Table{{"type", value.place, std::move(type)}};
}

Result<Document> Document::parse(std::string file, std::string text) {
  Document document;
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  document.sources_.push_back({std::move(file), std::move(text), true});
  const std::string& raw = document.sources_.front().text;
  const auto fail = [&](SourceLocation place, std::string_view what) {
    Diagnostics diagnostics(document);
    diagnostics.error(place, std::string(what));
    return diagnostics.status();
  };
  if (raw.size() > max_bytes)
    return fail({}, "the file is larger than " + std::to_string(max_bytes) + " bytes");
  if (const auto deep = find_too_deep(raw)) return fail(place_at(raw, deep->offset, 0), deep->text);
  try {
    document.root_ = Converter(0, 0).convert(toml::parse(std::string_view(raw)));
  } catch (const toml::parse_error& error) {
    const SyntaxMistake mistake = explained(raw, error);
    return fail(mistake.place, mistake.text);
  }
  return document;
}

Result<std::string> read_document(Disk& disk, const std::string& path) {
  auto text = read_file(disk, path, Document::max_bytes);
  if (text) return text;
  return invalid_argument(text.status().text() + (disk.info(path) ? "" : nearest_beside(disk, path)));
}

std::string nearest_beside(Disk& disk, const std::string& path) {
  const auto entries = disk.list(folder_of(path));
  if (!entries) return "; there is no folder '" + folder_of(path) + "'";
  std::vector<std::string_view> names;
  for (const auto& entry : *entries) names.push_back(entry.name);
  const auto near = nearest(std::string_view(path).substr(path.rfind('/') + 1), names);
  return near.empty() ? std::string() : "; the nearest in its folder is '" + std::string(near) + "'";
}

Result<Value> parse_value(std::string_view toml, uint32_t source) {
  constexpr std::string_view prefix = "value = ";
  const auto text = std::string(prefix) + std::string(toml);
  if (text.size() > Document::max_bytes || find_too_deep(text))
    return invalid_argument("the value is too long or nested too deeply");
  try {
    const toml::table parsed = toml::parse(text);
    if (parsed.size() == 1) return Converter(source, prefix.size()).convert(*parsed.get("value"));
    return invalid_argument("expected one value, found several");
  } catch (const toml::parse_error& error) {
    return invalid_argument(std::string(error.description()));
  }
}

void Document::set(std::string_view option, Diagnostics& diagnostics) {
  const size_t equals = std::min(option.find('='), option.size());
  const std::string_view path = option.substr(0, equals);
  const SourceLocation place{static_cast<uint32_t>(sources_.size())};
  sources_.push_back(
      {"--set " + std::string(path), std::string(option.substr(std::min(equals + 1, option.size()))), false});
  const std::string& raw = sources_.back().text;
  if (equals == option.size()) return diagnostics.error(place, "expected KEY=VALUE");
  if (std::count(path.begin(), path.end(), '.') >= static_cast<std::ptrdiff_t>(max_key_parts))
    return diagnostics.error(place, "the key has more than " + std::to_string(max_key_parts) + " parts");

  Value value{raw, place};
  if (auto parsed = parse_value(raw, place.source))
    value = std::move(*parsed);
  else if (raw.find_first_of("[{\"'") == 0)
    return diagnostics.error(place, parsed.status().text());

  Value* at = &root_;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    const auto part = std::string(path.substr(begin, end - begin));
    begin = end + 1;
    auto below = child(*at, part, place);
    if (!below) return diagnostics.error(place, below.status().text());
    at = *below;
  }
  *at = std::move(value);
}

SourceLocation Document::place_in(const Text& text, size_t offset) const {
  if (text.generated) return text.place;
  const std::string& raw = sources_[text.place.source].text;
  size_t at = byte_at(raw, text.place);
  const char quote = at < raw.size() ? raw[at] : '\0';
  if (quote == '"' || quote == '\'') {
    const bool multi_line = raw.compare(at, 3, std::string(3, quote)) == 0;
    at += multi_line ? 3 : 1;
    if (multi_line && raw.compare(at, 2, "\r\n") == 0)
      at += 2;
    else if (multi_line && raw.compare(at, 1, "\n") == 0)
      at += 1;
  }
  const auto continues = [&] {  // a backslash at the end of a line joins it with the next
    return quote == '"' && raw[at] == '\\' && at + 1 < raw.size() &&
           std::isspace(static_cast<uint8_t>(raw[at + 1]));
  };
  for (size_t value = 0; at < raw.size() && (value < offset || continues());) {
    if (quote == '"' && raw[at] == '\\')
      value += skip_escape(raw, at);
    else
      ++value, ++at;
  }
  return place_at(raw, at, text.place.source);
}

}  // namespace troupe::config
