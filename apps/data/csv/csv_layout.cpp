#include "apps/data/csv/csv_layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <span>

#include "apps/data/csv/csv_row.h"
#include "apps/data/file_patterns.h"
#include "graph/ops/op_table.h"

namespace troupe::data {
namespace {

/// Returns the option for the column of the label or of text: "last", "first", "none", or a name. It may also be a number from 0.
std::string column_option(const FormatOptions& options, std::string_view role) {
  return option<std::string>(options, role, role == label_column ? "last" : "none");
}
bool is_word(const std::string& column) { return column == "last" || column == "first" || column == "none"; }
bool has_number(const FormatOptions& options, std::string_view role) {
  return option<int64_t>(options, role, -1) >= 0;
}

CsvUse use_of(ColumnType type) {
  switch (type) {
    case ColumnType::Number: return CsvUse::Number;
    case ColumnType::Timestamp: return CsvUse::Timestamp;
    case ColumnType::Image: return CsvUse::Image;
    default: return CsvUse::String;
  }
}

/// Makes the layout of one file.
class Maker {
 public:
  Maker(const SourceFile& source, const std::vector<std::string_view>& first_row)
      : source_(source), options_(source.options), width_(first_row.size()) {
    layout_.columns.resize(width_);
    if (has_csv_header(options_))
      layout_.names.assign(first_row.begin(), first_row.end());
    else
      layout_.names = option<std::vector<std::string>>(options_, "names", {});
  }

  Result<CsvLayout> make() && {
    if (!layout_.names.empty() && layout_.names.size() != width_)
      return invalid_argument(source_.path + ": data.names has " + std::to_string(layout_.names.size()) +
                              " names, but the first row has " + std::to_string(width_) + " columns");
    TROUPE_RETURN_IF_FAILED(check_names());
    TROUPE_RETURN_IF_FAILED(find_label());
    TROUPE_RETURN_IF_FAILED(source_.columns.empty() ? add_features_and_text() : add_columns());
    if (!label_.empty() && !ignores_csv_label(options_)) add_label();
    return std::move(layout_);
  }

 private:
  /// Fails if the names are those of no columns, but the numbers of a sample.
  Status check_names() const {
    const auto is_number = [](const std::string& name) { return CsvRow::number_of(name).has_value(); };
    const std::set<std::string> different(layout_.names.begin(), layout_.names.end());
    if (!has_csv_header(options_) || different.size() == layout_.names.size() ||
        !std::ranges::all_of(layout_.names, is_number))
      return {};
    return data_loss(
        source_.path +
        ": data.header = true takes the first row for the names of the columns, but it has only numbers, " +
        shown_field(layout_.names.front()) +
        ", ..., some of them twice; if it is a sample, write header = false");
  }

  /// Finds the columns of the label.
  Status find_label() {
    const auto parts = parts_of_label(options_);
    if (parts.empty()) {
      TROUPE_ASSIGN(const size_t label, find(label_column));
      if (label < width_) label_.push_back(label);
      return {};
    }
    for (const std::string& name : parts) {
      TROUPE_ASSIGN(const auto columns, named("data.label", name));
      if (columns.empty())
        return invalid_argument(source_.path + ": data.label: there is no column '" + name + "'" +
                                nearest_text(name));
      if (!is_pattern(name) && is_label(columns.front()))
        return invalid_argument(source_.path + ": data.label names the column '" +
                                layout_.names[columns.front()] + "' twice");
      for (const size_t column : is_pattern(name) ? std::span(columns) : std::span(columns).first(1))
        if (!is_label(column)) label_.push_back(column);
    }
    return {};
  }
  bool is_label(size_t column) const { return std::ranges::find(label_, column) != label_.end(); }

  /// Adds the label: a number or word, or a vector if data.label is a list.
  void add_label() {
    Field field{label_column, source_.label_type, {}};
    if (!parts_of_label(options_).empty()) {
      field.shape = {static_cast<int64_t>(label_.size())};
      for (const size_t column : label_) field.elements.push_back(layout_.names[column]);
    }
    add_fields(label_, CsvUse::Label, std::move(field), {});
  }

  /// All columns but the label and the text are features, or those that data.features names.
  Status add_features_and_text() {
    TROUPE_ASSIGN(const size_t text, find(text_column));
    if (is_label(text))
      return invalid_argument(
          source_.path + ": column " + std::to_string(text) +
          ", counted from 0, is the label and the text; data.label and data.text must differ");
    TROUPE_ASSIGN(const std::vector<size_t> numbers, features(text));
    if (numbers.empty() && text == width_)
      return data_loss(source_.path + ": there are no features, because " +
                       (label_.size() > 1 ? "all columns are parts of" : "the only column is") +
                       " the label");
    const double missing = option(options_, "missing", std::nan(""));
    Field field{feature_column, source_.feature_type, {static_cast<int64_t>(numbers.size())}};
    for (const size_t column : numbers)
      if (!layout_.names.empty()) field.elements.push_back(layout_.names[column]);
    if (!numbers.empty())
      add_fields(numbers, CsvUse::Number, std::move(field),
                 std::isnan(missing) ? std::nullopt : std::optional(missing));
    if (text < width_) add_fields({text}, CsvUse::String, {text_column, DType::String, {}}, {});
    return {};
  }

  /// Returns the columns that a name or pattern means, which stands in this key of the run file.
  Result<std::vector<size_t>> named(const std::string& key, const std::string& name) const {
    auto columns = columns_named(name, layout_.names);
    if (columns) return columns;
    return invalid_argument(source_.path + ": " + key + ": " + columns.status().text());
  }
  /// Does the same for a name of data.features, which is never a pattern.
  Result<std::vector<size_t>> feature_columns(const std::string& name) const {
    if (!is_pattern(name)) return named("data.features", name);
    const auto at = std::ranges::find(layout_.names, name);
    std::vector<size_t> columns;
    if (at != layout_.names.end()) columns.push_back(static_cast<size_t>(at - layout_.names.begin()));
    return columns;
  }

  /// Returns the columns of the features, in the order in which the model takes them.
  Result<std::vector<size_t>> features(size_t text) const {
    const auto names = option<std::vector<std::string>>(options_, features_option, {});
    std::vector<size_t> found;
    if (names.empty() || layout_.names.empty()) {
      for (size_t column = 0; column < width_; ++column)
        if (!is_label(column) && column != text) found.push_back(column);
      return found;
    }
    for (const std::string& name : names) {
      TROUPE_ASSIGN(const auto columns, feature_columns(name));
      if (columns.empty())
        return invalid_argument(source_.path + ": there is no column '" + name +
                                "', which is one of data.features" + nearest_text(name));
      const size_t column = columns.front();
      if (is_label(column) || column == text)
        return invalid_argument(source_.path + ": column '" + layout_.names[column] + "' is the " +
                                (is_label(column) ? "label" : "text") +
                                " and one of data.features; name the column of the " +
                                (is_label(column) ? "label: data.label" : "text: data.text") + " = \"NAME\"");
      found.push_back(column);
    }
    return found;
  }

  /// Adds a field whose elements are these columns.
  void add_fields(const std::vector<size_t>& columns, CsvUse use, Field field, std::optional<double> missing,
                  bool has_words = false) {
    for (size_t i = 0; i < columns.size(); ++i)
      layout_.columns[columns[i]] = {use, layout_.fields.size(), i, missing, has_words};
    layout_.fields.push_back(std::move(field));
  }

  /// A column of the file belongs to the first of [data.columns] that names it, or else to the first one whose pattern it matches.
  /// The elements of a vector are in the order of its names, those of one pattern in the order of the file.
  Status add_columns() {
    TROUPE_RETURN_IF_FAILED(find_sources());
    std::vector<std::vector<size_t>> found(source_.columns.size());
    for (size_t column = 0; column < width_; ++column) {
      if (is_label(column)) continue;
      const auto owner = owner_of(column);
      if (owner) found[*owner].push_back(column);
    }
    for (size_t i = 0; i < found.size(); ++i)
      std::ranges::stable_sort(found[i], {}, [&](size_t column) { return rank(i, column); });
    for (size_t i = 0; i < found.size(); ++i) {
      const TableColumn& one = source_.columns[i];
      TROUPE_RETURN_IF_FAILED(check_found(i, found[i]));
      std::vector<int64_t> shape;
      if (one.is_vector()) shape = {static_cast<int64_t>(found[i].size())};
      Field field{one.name, one.dtype(), shape};
      for (const size_t column : found[i]) field.elements.push_back(layout_.names[column]);
      const bool may_miss = one.missing != Missing::Error;
      add_fields(found[i], use_of(one.type), std::move(field),
                 may_miss ? std::optional(std::numeric_limits<double>::quiet_NaN()) : std::nullopt, true);
    }
    return {};
  }

  /// Finds the columns that the names and patterns of [data.columns] mean.
  Status find_sources() {
    for (const TableColumn& one : source_.columns) {
      auto& meant = meant_.emplace_back();
      for (const std::string& name : one.sources) {
        TROUPE_ASSIGN(meant.emplace_back(), named("data.columns." + one.name, name));
      }
    }
    return {};
  }

  /// Returns whether source `i` of [data.columns] number `one` means a column of the file.
  bool means(size_t one, size_t i, size_t column) const {
    return std::ranges::find(meant_[one][i], column) != meant_[one][i].end();
  }

  std::optional<size_t> owner_of(size_t column) const {
    for (const bool by_pattern : {false, true})
      for (size_t one = 0; one < source_.columns.size(); ++one)
        for (size_t i = 0; i < meant_[one].size(); ++i)
          if (is_pattern(source_.columns[one].sources[i]) == by_pattern && means(one, i, column)) return one;
    return {};
  }

  /// Returns which name or pattern of [data.columns] number `one` means a column.
  size_t rank(size_t one, size_t column) const {
    size_t i = 0;
    while (i < meant_[one].size() && !means(one, i, column)) ++i;
    return i;
  }

  Status check_found(size_t number, const std::vector<size_t>& found) const {
    const TableColumn& one = source_.columns[number];
    for (size_t i = 0; i < one.sources.size(); ++i) {
      const std::string& name = one.sources[i];
      if (std::ranges::any_of(found, [&](size_t column) { return means(number, i, column); })) continue;
      const auto& meant = meant_[number][i];
      if (const auto label = std::ranges::find_if(meant, [&](size_t column) { return is_label(column); });
          label != meant.end() && !is_pattern(name))
        return invalid_argument(source_.path + ": data.columns." + one.name + ": column '" +
                                layout_.names[*label] + "' is the label, which data.label names");
      if (!meant.empty() && !is_label(meant.front()))
        return invalid_argument(source_.path + ": data.columns." + one.name + ": column '" +
                                layout_.names[meant.front()] + "' belongs to data.columns." +
                                source_.columns[*owner_of(meant.front())].name);
      return invalid_argument(source_.path + ": data.columns." + one.name + ": there is no column '" + name +
                              "'" + nearest_text(name));
    }
    return {};
  }

  std::string nearest_text(const std::string& name) const {
    const std::vector<std::string_view> names(layout_.names.begin(), layout_.names.end());
    const auto near = nearest(name, names);
    if (!near.empty()) return "; the nearest is " + shown_field(near);
    constexpr size_t most_shown = 20;
    std::string all;
    for (size_t i = 0; i < std::min(names.size(), most_shown); ++i)
      all += (i == 0 ? "; there are " : ", ") + shown_field(names[i]);
    return all + (names.size() > most_shown ? ", ..." : "");
  }

  /// Returns the number of the column of the label or of text; width_: there is none.
  Result<size_t> find(std::string_view role) const {
    const std::string name = column_option(options_, role);
    if (has_number(options_, role)) {
      const auto column = static_cast<size_t>(option<int64_t>(options_, role, 0));
      if (column < width_) return column;
      return invalid_argument(source_.path + ": data." + std::string(role) + " = " + std::to_string(column) +
                              ", but the columns have the numbers 0 to " + std::to_string(width_ - 1));
    }
    if (is_word(name)) return name == "first" ? 0 : name == "last" ? width_ - 1 : width_;
    TROUPE_ASSIGN(const auto columns, named("data." + std::string(role), name));
    if (!columns.empty()) return columns.front();
    return invalid_argument(source_.path + ": there is no column '" + name + "'" + nearest_text(name));
  }

  const SourceFile& source_;
  const FormatOptions& options_;
  const size_t width_;
  CsvLayout layout_;
  std::vector<size_t> label_;  ///< the columns of the label, in the order of its elements
  /// For each of [data.columns], and each of its sources, the columns of the file that it means.
  std::vector<std::vector<std::vector<size_t>>> meant_;
};

}  // namespace

std::string CsvLayout::name_of(size_t column) const {
  return "column " + std::to_string(column + 1) +
         (column < names.size() ? " (" + shown_field(names[column]) + ")" : "");
}

Result<CsvLayout> csv_layout(const SourceFile& source, const std::vector<std::string_view>& first_row) {
  return Maker(source, first_row).make();
}

bool has_csv_header(const FormatOptions& options) { return option(options, "header", false); }
bool ignores_csv_label(const FormatOptions& options) { return option(options, ignore_label_option, false); }
bool has_csv_column(const FormatOptions& options, std::string_view role) {
  return has_number(options, role) || column_option(options, role) != "none";
}
bool names_csv_column(const FormatOptions& options, std::string_view role) {
  return (role == label_column && !parts_of_label(options).empty()) ||
         (!has_number(options, role) && !is_word(column_option(options, role)));
}

bool is_word_for_missing(std::string_view field) {
  constexpr std::string_view words[] = {"",     "?",   "NA",  "N/A",  "n/a",  "#N/A",
                                        "<NA>", "NaN", "nan", "null", "NULL", "None"};
  return std::ranges::find(words, field) != std::end(words);
}

std::string shown_field(std::string_view field) {
  std::string out = "'";
  for (const char c : field.substr(0, 40)) out += static_cast<uint8_t>(c) < 0x20 || c == 0x7f ? '?' : c;
  return out + (field.size() > 40 ? "...'" : "'");
}

}  // namespace troupe::data
