#include "apps/data/csv/json_rows.h"

#include <simdjson.h>

#include <algorithm>
#include <utility>

#include "apps/data/table_column.h"
#include "graph/ops/op_table.h"

namespace troupe::data {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

/// Appends a text in quotes, unless it consists of what numbers do.
void append_field(std::string_view text, std::string& to) {
  if (!text.empty() && text.find_first_not_of("0123456789+-.eE") == text.npos) {
    to += text;
    return;
  }
  to += '"';
  for (const char c : text) {
    to += c;
    if (c == '"') to += c;
  }
  to += '"';
}

/// Appends a number, a text or a truth value as a word. Returns false if the value is another one.
bool append_word(element value, std::string& to) {
  switch (value.type()) {
    case element_type::STRING: to += std::string_view(value); return true;
    case element_type::BOOL:
    case element_type::INT64:
    case element_type::UINT64:
    case element_type::DOUBLE: to += simdjson::minify(value); return true;
    default: return false;
  }
}

/// Reads the text of a field. Returns false if the value cannot be one.
bool read_field(element value, std::string& field) {
  field.clear();
  if (value.is_null()) return true;
  simdjson::dom::array list;
  if (value.get(list) != simdjson::SUCCESS) return append_word(value, field);
  for (const element item : list) {
    if (!field.empty()) field += ' ';
    if (!append_word(item, field)) return false;
  }
  return true;
}

/// Says that two members of an object are the same column.
std::string same_column(std::string_view first, std::string_view second, const std::string& column) {
  if (first == second) return "the member '" + std::string(first) + "' is there twice";
  return "the members '" + std::string(first) + "' and '" + std::string(second) +
         "' may both be the column '" + column + "'; write its name as the file has it";
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

struct JsonRows::Parser {
  simdjson::dom::parser parser;
};

JsonRows::JsonRows(char delimiter, std::vector<std::string> names, bool takes_more)
    : delimiter_(delimiter), names_(std::move(names)), given_(names_.size()), takes_more_(takes_more),
      parser_(std::make_unique<Parser>()) {}
JsonRows::~JsonRows() = default;

/// Makes columns of the members of the first line.
Status JsonRows::add_names(const std::vector<std::string_view>& members) {
  for (const std::string_view member : members)
    if (const auto at = std::ranges::find(names_, member); at != names_.end())
      exact_.insert(static_cast<size_t>(at - names_.begin()));
  std::set<size_t> found;  // columns
  for (const std::string_view member : members) {
    if (!column_of(member)) names_.emplace_back(member);
    found.insert(*column_of(member));
  }
  std::vector<std::string_view> lacking;
  for (size_t i = 0; i < given_; ++i)
    if (!found.contains(i)) lacking.emplace_back(names_[i]);
  for (size_t i = given_; i < names_.size(); ++i)
    if (const auto near = nearest(names_[i], lacking); !near.empty())
      return data_loss("the member '" + names_[i] + "' is not one of the columns that are needed, but '" +
                       std::string(near) + "' is, which is missing; if it is meant to be missing, write \"" +
                       std::string(near) + "\": null");
  return {};
}

std::optional<size_t> JsonRows::column_of(std::string_view member) const {
  const auto column = std::ranges::find(names_, member);
  return column == names_.end() ? other_spelling(member) : static_cast<size_t>(column - names_.begin());
}

std::optional<size_t> JsonRows::other_spelling(std::string_view member) const {
  for (size_t i = 0; i < given_; ++i)
    if (!exact_.contains(i) && names_column(names_[i], member)) return i;
  return {};
}

Result<std::string_view> JsonRows::row(std::string_view line) {
  simdjson::dom::object object;
  element root;
  if (const auto error = parser_->parser.parse(line.data(), line.size()).get(root))
    return data_loss(std::string("the line is not JSON: ") + simdjson::error_message(error));
  if (root.get(object) != simdjson::SUCCESS) return data_loss("the line is no JSON object");
  if (std::exchange(takes_more_, false)) {
    std::vector<std::string_view> members;
    for (const auto& [name, value] : object) members.push_back(name);
    TROUPE_RETURN_IF_FAILED(add_names(members));
  }
  if (names_.empty()) return data_loss("the first object has no members");
  fields_.assign(names_.size(), {});
  members_.assign(names_.size(), {});
  for (const auto& [name, value] : object) {
    const auto column = column_of(name);
    if (!column)
      return data_loss("the member '" + std::string(name) + "' is no column; the columns are " +
                       joined(names_));
    std::string_view& member = members_[*column];
    if (member.data()) return data_loss(same_column(member, name, names_[*column]));
    member = name;
    if (value.is_array() && !may_be_list_.empty() && !may_be_list_[*column])
      return data_loss("the member '" + std::string(name) +
                       "' is a list; only a text may be a list, of its words");
    if (!read_field(value, fields_[*column]))
      return data_loss(
          "the member '" + std::string(name) +
          "' is no number, text, truth value, null or list of these: " + simdjson::minify(value));
  }
  row_.clear();
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (i != 0) row_ += delimiter_;
    append_field(fields_[i], row_);
  }
  return std::string_view(row_);
}

}  // namespace troupe::data
