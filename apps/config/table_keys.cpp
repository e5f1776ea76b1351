#include "apps/config/table_keys.h"

namespace troupe::config {
namespace {

// One row per key.
// clang-format off
constexpr Key keys[] = {
    {"data.columns", Kind::Section,
     "the columns of a table that become samples, each with its type; the others are not read. `age = \"number\"` is short for `age = { type = \"number\" }`",
     {.initial = "{}", .when = "format=csv"}},
    {"data.columns.*", Kind::Section, "a column", {.by_type = true, .short_form = true}},
    {"data.columns.*.type", Kind::Choice,
     "number; category: one of a set of values; text: a string; timestamp: a time of ISO 8601, which is in UTC unless an offset such as +02:00 follows, a date as YYYYMMDD, or seconds since 1970; image: the bytes of a file whose path is relative to the table",
     {.required = true, .choices = "number|category|text|timestamp|image"}},
    {"data.columns.*.columns", Kind::Strings,
     "names of columns of the table, or patterns with *, ? and [...]; several are a vector. Default: the column of the same name, apart from case and from characters that are neither letters nor digits"},
    {"data.columns.*.input", Kind::Name,
     "the input of the model of which the column is a part. Default: features, in which numbers, categories and times are joined; for texts, images and indices the name of the column"},
    {"data.columns.*.number.missing", Kind::Choice,
     "what stands for a field that is empty or \"NA\", \"?\" and the like: the mean or median of the samples to train on, or fill. Default: such a field is an error",
     {.initial = "\"error\"", .choices = "error|mean|median|value"}},
    {"data.columns.*.number.fill", Kind::Numbers, "the numbers for missing ones; with mean and median they are computed"},
    {"data.columns.*.number.normalize", Kind::Choice,
     "standard: subtract the mean and divide by the standard deviation; range: to 0 to 1",
     {.initial = "\"none\"", .choices = "none|standard|range"}},
    {"data.columns.*.number.center", Kind::Numbers, "what normalize subtracts; default: computed from the samples to train on"},
    {"data.columns.*.number.spread", Kind::Numbers, "by what normalize divides; default: computed from the samples to train on"},
    {"data.columns.*.category.values", Kind::Strings,
     "the values; default: those in the samples to train on. Other values, and empty fields, are unknown"},
    {"data.columns.*.category.max_values", Kind::Integer, "how many values are kept by default: the most frequent ones",
     {.initial = "1000", .range = {.low = 1, .high = 10'000}}},
    {"data.columns.*.category.encode", Kind::Choice,
     "what the model gets: a vector with a one at the place of the value, zeros if it is unknown, or the index of the value, which is the number of values if it is unknown",
     {.initial = "\"one_hot\"", .choices = "one_hot|index"}},
    {"data.columns.*.timestamp.parts", Kind::Strings,
     "what the model gets: hour, weekday and yearday as sine and cosine of the time of the day, the week and the year, in UTC; time as a number of seconds, normalized",
     {.initial = "[\"hour\", \"weekday\", \"yearday\"]", .choices = "hour|weekday|yearday|time"}},
    {"data.columns.*.timestamp.missing", Kind::Choice, "zeros for a missing time; default: it is an error",
     {.initial = "\"error\"", .choices = "error|zero"}},
    {"data.columns.*.timestamp.center", Kind::Numbers, "what is subtracted from time; default: the mean of the samples to train on"},
    {"data.columns.*.timestamp.spread", Kind::Numbers, "by what time is divided; default: the standard deviation of the samples to train on"},
};
// clang-format on

data::ColumnType read_type(const std::string& type) {
  if (type == "category") return data::ColumnType::Category;
  if (type == "text") return data::ColumnType::Text;
  if (type == "timestamp") return data::ColumnType::Timestamp;
  return type == "image" ? data::ColumnType::Image : data::ColumnType::Number;
}

data::Missing read_missing(const std::string& missing) {
  if (missing == "mean") return data::Missing::Mean;
  if (missing == "median") return data::Missing::Median;
  return missing == "value" || missing == "zero" ? data::Missing::Value : data::Missing::Error;
}

data::Normalization read_normalization(const std::string& normalize) {
  if (normalize == "standard") return data::Normalization::Standard;
  return normalize == "range" ? data::Normalization::Range : data::Normalization::None;
}

data::TableColumn read_column(const std::string& name, const Reader& column) {
  data::TableColumn out;
  out.name = name;
  out.type = read_type(column.string("type"));
  out.sources = column.list<std::string>("columns");
  if (out.sources.empty()) out.sources = {name};
  out.missing = read_missing(column.string("missing"));
  out.normalization = read_normalization(column.string("normalize"));
  out.fill = column.list<double>("fill");
  out.center = column.list<double>("center");
  out.spread = column.list<double>("spread");
  out.parts = column.list<std::string>("parts");
  out.values = column.list<std::string>("values");
  out.max_values = column.get<int64_t>("max_values");
  out.is_index = column.string("encode") == "index";
  out.input = column.string("input");
  if (out.input.empty()) out.input = out.is_feature() ? table_features : name;
  return out;
}

}  // namespace

std::vector<Key> table_keys() { return {std::begin(keys), std::end(keys)}; }

void expand_column_types(Table& root) {
  Value* const columns = find(root, "data", "columns");
  if (!columns || !columns->get_if<Table>()) return;
  for (Entry& entry : *columns->get_if<Table>()) expand_type_name(entry.value);
}

std::vector<data::TableColumn> read_columns(const Reader& table) {
  std::vector<data::TableColumn> out;
  table.each([&](const std::string& name, SourceLocation, const Value& value) {
    const Reader column(value.get_if<Table>());
    if (column.has("type")) out.push_back(read_column(name, column));
  });
  return out;
}

}  // namespace troupe::config
