#include "apps/config/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "apps/config/foreign_names.h"
#include "graph/ops/op_table.h"

namespace troupe::config {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool contains(std::string_view choices, std::string_view choice) {
  for (const auto one : split(choices, '|'))
    if (one == choice) return true;
  return false;
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('.') + 1); }
std::string_view parent(std::string_view path) {
  const size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot);
}
std::string join(std::string_view path, std::string_view name) {
  return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
}

/// Splits a condition: "type=adam" becomes ("type", "adam").
std::pair<std::string_view, std::string_view> condition(std::string_view when) {
  const size_t equals = when.find('=');
  return {when.substr(0, equals), when.substr(equals + 1)};
}

std::string choices_text(std::string_view choices) {
  std::string out;
  for (const auto one : split(choices, '|'))
    out += fmt::format("{}\"{}\"", out.empty() ? "" : ", ", one == "\t" ? "\\t" : one);
  return out;
}

std::string choices_of(const Key& key) {
  return key.rules.listed_choices ? key.rules.listed_choices() : std::string(key.rules.choices);
}

/// Describes the values of a key: "an integer, at least 1".
std::string expectation(const Key& key) {
  std::string range = key.rules.range.text(key.kind == Kind::Duration ? " s" : "");
  if (!range.empty()) range = ", " + range;
  switch (key.kind) {
    case Kind::Section: return "a table";
    case Kind::Sections: return "a list of tables";
    case Kind::Boolean: return "true or false";
    case Kind::Integer: return "an integer" + range;
    case Kind::Number: return "a number" + range;
    case Kind::String: return "a string that is not empty";
    case Kind::Strings:
      return choices_of(key).empty() ? "a string or a list of strings"
                                     : "one or several of " + choices_text(choices_of(key));
    case Kind::StringLists: return "a list of lists of strings";
    case Kind::Name: return "a name of letters, digits and '_' that does not start with a digit";
    case Kind::FolderName:
      return "the name of a folder, without '/' and control characters, not \".\" or \"..\"";
    case Kind::Choice: return "one of " + choices_text(choices_of(key));
    case Kind::Expression: return "an expression in a string";
    case Kind::Duration: return "a time such as \"60s\", \"200ms\", \"5m\" or \"1h\"" + range;
    case Kind::Period: return "a time such as \"60s\", or \"500 steps\", or \"never\"";
    case Kind::Column: return "a column: \"last\", \"first\", a name, or a number from 0";
    case Kind::Columns:
      return "a column: \"last\", \"first\", a name, or a number from 0; or a list of names";
    case Kind::Paths: return "a path or a list of paths";
    case Kind::Endpoints: return "\"host:port\", with a port from 0 to 65535, or a list of them";
    case Kind::IntegerPair:
      return "an integer or a list of two" + (range.empty() ? "" : range.insert(1, " each"));
    case Kind::Dimensions: return "a list of integers" + (range.empty() ? "" : range.insert(1, " each"));
    case Kind::Numbers: {
      const std::string numbers = "a list of numbers" + (range.empty() ? "" : range.insert(1, " each"));
      return choices_of(key).empty() ? numbers : choices_text(choices_of(key)) + " or " + numbers;
    }
  }
  return {};
}

std::vector<std::string_view> paths_of(std::span<const Key> schema) {
  std::vector<std::string_view> paths;
  for (const Key& key : schema) paths.push_back(key.path);
  return paths;
}

bool is_infinite(const Value& value) {
  const auto* const number = value.get_if<double>();
  const auto* const list = value.get_if<List>();
  return (number && std::isinf(*number)) || (list && std::ranges::any_of(*list, is_infinite));
}

/// Says how a value of another kind is written: a number without quotes, a table of a type.
std::string advice_on_value(const Key& key, const Value& value) {
  const auto* const text = value.get_if<std::string>();
  const auto* const number = value.get_if<double>();
  const bool is_numeric = key.kind == Kind::Integer || key.kind == Kind::Number;
  if ((is_numeric || key.kind == Kind::Numbers) && is_infinite(value)) return "; it must be finite";
  if (number && key.kind == Kind::Integer && std::trunc(*number) == *number && std::abs(*number) < 1e15)
    return fmt::format("; write {}", static_cast<int64_t>(*number));
  if (text && is_numeric)
    if (const auto parsed = parse_value(*text);
        parsed && (parsed->get_if<int64_t>() || parsed->get_if<double>()))
      return fmt::format("; write {}, without quotes", *text);
  if (text && key.path == "train.optimizer")
    return fmt::format(
        "; write {{ type = \"{}\", lr = 1e-3 }}{}", *text,
        value.place.source == 0 ? "" : fmt::format(", or --set train.optimizer.type={}", *text));
  if (text && key.rules.by_type) return fmt::format("; write {{ type = \"{}\" }}", *text);
  if (key.path == "model.layers" && value.get_if<Table>())
    return "; write [[model.layers]] above each layer, and its name below, as in name = \"hidden\"";
  if (text && key.kind == Kind::Boolean) return "; without quotes";
  if (number && key.path == "data.valid") return fmt::format("; write {{ split = {} }}", *number);
  const auto* const choice = value.get_if<bool>();
  if (choice && key.path == "train.early_stop")
    return *choice ? "; write { monitor = \"valid/loss\", mode = \"min\", patience = 5 }"
                   : "; leave the key out";
  return {};
}

class Checker {
 public:
  Checker(std::span<const Key> schema, std::string folder, Diagnostics& diagnostics)
      : schema_(schema), folder_(std::move(folder)), diagnostics_(diagnostics) {}

  void check_table(Table& table, SourceLocation place, std::string_view pattern, const std::string& path);
  std::set<std::string> take_refused() && { return std::move(refused_); }

 private:
  std::vector<const Key*> children(std::string_view pattern) const {
    std::vector<const Key*> keys;
    for (const auto& key : schema_)
      if (parent(key.path) == pattern) keys.push_back(&key);
    return keys;
  }
  void check_section(const Key& section, Table& table, SourceLocation place, const std::string& path);
  void check_typed_table(const Key& section, Table& table, SourceLocation place, const std::string& path);
  std::vector<const Key*> keys_of_all_types(const Key& section) const;
  void check_any_names(const Key& key, Table& table, const std::string& path);
  void refuse_unknown(const std::vector<const Key*>& keys, Table& table, const std::string& path);
  void check_key(const Key& key, Table& table, SourceLocation place, const std::string& path);
  /// Reports a mistake and returns false if the value is rejected.
  bool check_value(const Key& key, Value& value, const std::string& path);
  bool check_strings(const Key& key, Value& value, const std::string& path);
  bool check_string_lists(const Key& key, Value& value, const std::string& path);
  bool check_tables(const Key& key, Value& value, const std::string& path);
  bool check_string(const Key& key, const Value& value, const std::string& path);
  bool check_number(const Key& key, Value& value, const std::string& path);
  bool check_integers(const Key& key, const Value& value, const std::string& path);
  bool check_numbers(const Key& key, Value& value, const std::string& path);
  bool refuse(const Key& key, const Value& value, const std::string& path);
  bool is_active(const Key& key, const Table& table) const;
  std::string absolute(const std::string& path) const {
    return (std::filesystem::path(folder_) / path).lexically_normal().string();
  }

  std::span<const Key> schema_;
  std::string folder_;
  Diagnostics& diagnostics_;
  std::set<std::string> refused_;
};

void Checker::check_table(Table& table, SourceLocation place, std::string_view pattern,
                          const std::string& path) {
  const auto keys = children(pattern);
  if (keys.size() == 1 && last_part(keys.front()->path) == "*")
    return check_any_names(*keys.front(), table, path);
  refuse_unknown(keys, table, path);
  for (const Key* key : keys) check_key(*key, table, place, path);
}

void Checker::check_section(const Key& section, Table& table, SourceLocation place, const std::string& path) {
  if (section.rules.by_type) return check_typed_table(section, table, place, path);
  check_table(table, place, section.path, path);
}

std::vector<const Key*> Checker::keys_of_all_types(const Key& section) const {
  std::vector<const Key*> keys;
  for (const Key& key : schema_)
    if (parent(parent(key.path)) == section.path) keys.push_back(&key);
  return keys;
}

/// Checks a table some of whose keys depend on its type. If the type is rejected, those that some type has pass.
void Checker::check_typed_table(const Key& section, Table& table, SourceLocation place,
                                const std::string& path) {
  const auto keys = children(section.path);
  const Key* const type_key = *std::ranges::find(keys, join(section.path, "type"), &Key::path);
  check_key(*type_key, table, place, path);
  const Value* const type = find(table, "type");
  const auto own =
      type ? children(join(section.path, std::get<std::string>(type->data))) : keys_of_all_types(section);
  auto known = keys;
  known.insert(known.end(), own.begin(), own.end());
  refuse_unknown(known, table, path);
  for (const Key* key : type ? known : keys)
    if (key != type_key) check_key(*key, table, place, path);
}

void Checker::check_any_names(const Key& key, Table& table, const std::string& path) {
  std::erase_if(table, [&](Entry& entry) {
    if (!key.rules.patterns && !is_identifier(entry.key)) {
      diagnostics_.error(
          entry.place,
          fmt::format("{}: a name consists of letters, digits and '_', and does not start with a digit",
                      join(path, entry.key)));
      refused_.insert(path);
      return true;
    }
    if (check_value(key, entry.value, join(path, entry.key))) return false;
    entry.value.data = key.kind == Kind::Expression ? decltype(Value::data)(std::string()) : Table{};
    return key.kind != Kind::Expression && key.kind != Kind::Section;
  });
}

void Checker::refuse_unknown(const std::vector<const Key*>& keys, Table& table, const std::string& path) {
  std::erase_if(table, [&](const Entry& entry) {
    std::vector<std::string_view> known;
    for (const Key* key : keys) known.push_back(last_part(key->path));
    if (std::find(known.begin(), known.end(), std::string_view(entry.key)) != known.end()) return false;
    const std::string advice = advice_on_key(entry.key, paths_of(schema_));
    diagnostics_.error(entry.place, fmt::format("{}: unknown key{}", join(path, entry.key),
                                                advice.empty() ? hint(entry.key, known) : advice));
    refused_.insert(path);
    return true;
  });
}

bool Checker::is_active(const Key& key, const Table& table) const {
  if (key.rules.when.empty()) return true;
  const auto [sibling, values] = condition(key.rules.when);
  const Value* value = find(table, sibling);
  return value && value->get_if<std::string>() && contains(values, *value->get_if<std::string>());
}

void Checker::check_key(const Key& key, Table& table, SourceLocation place, const std::string& path) {
  const auto name = std::string(last_part(key.path));
  const auto entry =
      std::find_if(table.begin(), table.end(), [&](const Entry& one) { return one.key == name; });
  if (!is_active(key, table)) {
    if (entry == table.end()) return;
    const auto [sibling, values] = condition(key.rules.when);
    if (find(table, sibling))  // otherwise the sibling was rejected, so it is unknown which keys belong to it
      diagnostics_.error(entry->place, fmt::format("{}: allowed only with {} = {}", join(path, name), sibling,
                                                   choices_text(values)));
    table.erase(entry);
  } else if (entry != table.end()) {
    if (check_value(key, entry->value, join(path, name))) return;
    refused_.insert(join(path, name));
    if (key.kind == Kind::Expression)
      entry->value.data = std::string();
    else
      table.erase(entry);
  } else if (key.rules.required) {
    diagnostics_.error(place,
                       fmt::format("{}: missing: {} ({})", join(path, name), key.meaning, expectation(key)));
  } else if (!key.rules.initial.empty()) {
    table.push_back({name, place, *parse_value(key.rules.initial)});
    table.back().value.place = place;
    check_value(key, table.back().value, join(path, name));
  }
}

bool Checker::refuse(const Key& key, const Value& value, const std::string& path) {
  std::string found = to_toml(value);
  if (found.size() > 60) found = found.substr(0, 57) + "...";
  diagnostics_.error(value.place, fmt::format("{}: expected {}; found {}{}", path, expectation(key), found,
                                              advice_on_value(key, value)));
  return false;
}

bool Checker::check_value(const Key& key, Value& value, const std::string& path) {
  switch (key.kind) {
    case Kind::Section:
      if (!value.get_if<Table>()) return refuse(key, value, path);
      check_section(key, *value.get_if<Table>(), value.place, path);
      return true;
    case Kind::Sections: return check_tables(key, value, path);
    case Kind::Boolean: return value.get_if<bool>() || refuse(key, value, path);
    case Kind::Integer:
    case Kind::Number: return check_number(key, value, path);
    case Kind::Strings:
    case Kind::Paths:
    case Kind::Endpoints: return check_strings(key, value, path);
    case Kind::StringLists: return check_string_lists(key, value, path);
    case Kind::Columns:
      if (value.get_if<List>()) return check_strings(key, value, path);
      [[fallthrough]];
    case Kind::Column:
      if (const auto* number = value.get_if<int64_t>()) return *number >= 0 || refuse(key, value, path);
      return check_string(key, value, path);
    case Kind::IntegerPair:
      if (value.get_if<int64_t>()) return check_number(key, value, path);
      if (const auto* list = value.get_if<List>(); list && list->size() != 2) return refuse(key, value, path);
      return check_integers(key, value, path);
    case Kind::Dimensions: return check_integers(key, value, path);
    case Kind::Numbers: return check_numbers(key, value, path);
    default: return check_string(key, value, path);
  }
}

bool Checker::check_integers(const Key& key, const Value& value, const std::string& path) {
  const auto* list = value.get_if<List>();
  if (!list) return refuse(key, value, path);
  for (const auto& element : *list)
    if (!element.get_if<int64_t>() ||
        !key.rules.range.contains(static_cast<double>(*element.get_if<int64_t>())))
      return refuse(key, value, path);
  return true;
}

bool Checker::check_numbers(const Key& key, Value& value, const std::string& path) {
  if (const auto* const text = value.get_if<std::string>())
    return contains(key.rules.choices, *text) || refuse(key, value, path);
  auto* list = value.get_if<List>();
  if (!list) return refuse(key, value, path);
  for (auto& element : *list) {
    if (const auto* integer = element.get_if<int64_t>()) element.data = static_cast<double>(*integer);
    if (!element.get_if<double>() || !key.rules.range.contains(*element.get_if<double>()))
      return refuse(key, value, path);
  }
  return true;
}

bool Checker::check_number(const Key& key, Value& value, const std::string& path) {
  const auto* integer = value.get_if<int64_t>();
  if (integer && key.kind == Kind::Number) value.data = static_cast<double>(*integer);
  const auto* number = value.get_if<double>();
  if (key.kind == Kind::Number ? !number : !integer) return refuse(key, value, path);
  return key.rules.range.contains(number ? *number : static_cast<double>(*integer)) ||
         refuse(key, value, path);
}

bool Checker::check_string(const Key& key, const Value& value, const std::string& path) {
  const auto* text = value.get_if<std::string>();
  if (!text || text->empty()) return refuse(key, value, path);
  if (key.kind == Kind::Duration) {
    const auto seconds = parse_duration(*text);
    return (seconds && key.rules.range.contains(*seconds)) || refuse(key, value, path);
  }
  if (key.kind == Kind::Endpoints) return is_endpoint(*text) || refuse(key, value, path);
  if (key.kind == Kind::Name) return is_identifier(*text) || refuse(key, value, path);
  if (key.kind == Kind::FolderName) return is_folder_name(*text) || refuse(key, value, path);
  if (key.kind == Kind::Period) return parse_period(*text) || refuse(key, value, path);
  const std::string allowed = choices_of(key);
  if (allowed.empty()) return true;
  if (contains(allowed, *text)) return true;
  const auto choices = split(allowed, '|');
  const auto near = nearest(*text, choices);
  std::string advice = advice_on_choice(*text, choices);
  if (advice.empty() && !near.empty()) advice = fmt::format("; the nearest is '{}'", near);
  constexpr size_t long_list = 16;
  if (choices.size() <= long_list || advice.empty())
    advice.insert(0, fmt::format("; allowed: {}", choices_text(allowed)));
  diagnostics_.error(value.place, fmt::format("{}: \"{}\" is unknown{}", path, *text, advice));
  return false;
}

bool Checker::check_strings(const Key& key, Value& value, const std::string& path) {
  if (value.get_if<std::string>()) value.data = List{Value{value.data, value.place}};
  auto* list = value.get_if<List>();
  if (!list || list->empty()) return refuse(key, value, path);
  for (auto& element : *list) {
    if (!check_string(key, element, path)) return false;
    if (key.kind == Kind::Paths) element.data = absolute(*element.get_if<std::string>());
  }
  return true;
}

bool Checker::check_string_lists(const Key& key, Value& value, const std::string& path) {
  auto* list = value.get_if<List>();
  if (!list || list->empty()) return refuse(key, value, path);
  for (auto& element : *list)
    if (!check_strings(key, element, path)) return false;
  return true;
}

bool Checker::check_tables(const Key& key, Value& value, const std::string& path) {
  auto* list = value.get_if<List>();
  if (!list) return refuse(key, value, path);
  for (size_t i = 0; i < list->size(); ++i) {
    auto* table = (*list)[i].get_if<Table>();
    if (!table) return refuse(key, value, path);
    check_section(key, *table, (*list)[i].place, fmt::format("{}.{}", path, i));
  }
  return true;
}

}  // namespace

std::string Range::text(std::string_view unit) const {
  std::string out;
  if (low > -std::numeric_limits<double>::infinity())
    out = fmt::format("{} {}{}", above ? "above" : "at least", low, unit);
  if (high < std::numeric_limits<double>::infinity())
    out += fmt::format("{}{} {}{}", out.empty() ? "" : " and ", below ? "below" : "at most", high, unit);
  return out;
}

std::set<std::string> check(Document& document, std::span<const Key> schema, const std::string& folder,
                            Diagnostics& diagnostics) {
  Checker checker(schema, folder, diagnostics);
  checker.check_table(document.root(), SourceLocation{}, "", "");
  return std::move(checker).take_refused();
}

bool is_refused(const std::set<std::string>& refused_paths, const std::string& path) {
  return std::ranges::any_of(refused_paths, [&](const std::string& refused) {
    return refused == path || refused.starts_with(path + '.');
  });
}

std::string reference(std::span<const Key> schema) {
  std::string out;
  for (const auto& key : schema) {
    out += fmt::format("{}: {}", key.path, expectation(key));
    if (key.rules.required) out += "; required";
    if (!key.rules.initial.empty()) out += fmt::format("; default {}", key.rules.initial);
    if (!key.rules.when.empty()) {
      const auto [sibling, values] = condition(key.rules.when);
      out += fmt::format("; only with {} = {}", sibling, choices_text(values));
    }
    if (!key.meaning.empty()) out += fmt::format("\n    {}", key.meaning);
    out += '\n';
  }
  return out;
}

std::optional<double> parse_duration(std::string_view text) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !(number > 0) || number > 1e9) return {};
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  if (unit == "ms") return number / 1000;
  if (unit == "s") return number;
  if (unit == "m") return number * 60;
  if (unit == "h") return number * 3600;
  return {};
}

std::optional<std::chrono::nanoseconds> parse_nanoseconds(std::string_view text) {
  const auto seconds = parse_duration(text);
  if (!seconds) return {};
  return std::chrono::nanoseconds(static_cast<int64_t>(1e9 * *seconds));
}

std::optional<Period> parse_period(std::string_view text) {
  if (text == "never") return Period{};
  if (const auto seconds = parse_duration(text)) return Period{*seconds, 0};
  int64_t steps = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), steps);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  if (error != std::errc() || steps < 1 || (unit != " steps" && unit != " step")) return {};
  return Period{0, steps};
}

bool is_endpoint(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  int port = -1;
  const auto [end, error] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port >= 0 && port < 65536;
}

bool is_folder_name(std::string_view name) {
  constexpr size_t max_length = 255;  // of a name in the file systems of Linux
  const auto is_allowed = [](char c) { return c != '/' && static_cast<uint8_t>(c) >= 0x20 && c != 0x7f; };
  return !name.empty() && name.size() <= max_length && name != "." && name != ".." &&
         std::all_of(name.begin(), name.end(), is_allowed);
}

bool is_identifier(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || !is_letter(name.front())) return false;
  return std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace troupe::config
