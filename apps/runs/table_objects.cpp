#include "apps/runs/table_objects.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/data/csv/csv_layout.h"
#include "apps/data/csv/csv_objects.h"
#include "apps/data/file_patterns.h"
#include "apps/data/sources.h"

namespace troupe::runs {
namespace {

using data::ColumnType;
using data::CsvUse;
using data::TableColumn;

/// Returns the names and those of the label, if it has any.
std::vector<std::string> with_label(const data::Options& options, std::vector<std::string> names) {
  if (!data::names_csv_column(options.format_options, data::label_column)) return names;
  auto label = data::parts_of_label(options.format_options);
  if (label.empty()) label = {data::option<std::string>(options.format_options, data::label_column, "")};
  for (std::string& part : label)
    if (!part.empty() && std::ranges::find(names, part) == names.end()) names.push_back(std::move(part));
  return names;
}

/// Returns the names of the columns that the model takes and of the label, if it has a name; none if they have none.
std::vector<std::string> names_of(const data::Options& options) {
  std::vector<std::string> names;
  for (const TableColumn& column : options.columns)
    names.insert(names.end(), column.sources.begin(), column.sources.end());
  if (std::ranges::any_of(names, data::is_pattern)) return {};  // what they stand for has not been found
  return with_label(options, std::move(names));
}

/// Returns the names in the first row of the files for training; none if they cannot be read.
std::vector<std::string> names_in_header(Disk& disk, const data::Options& given) {
  const auto options = data::with_matching_files(disk, given);
  if (!options || options->train.empty()) return {};
  auto names = data::csv_column_names(disk, data::source_file(*options, data::train_files(*options), 0));
  return names ? std::move(*names) : std::vector<std::string>();
}

/// Returns whether the only column that the model takes is that of a text.
bool has_only_text(const data::Options& options) {
  const auto is_number = [](const data::Input& input) { return input.from == data::feature_column; };
  return data::has_csv_column(options.format_options, data::text_column) &&
         std::ranges::none_of(data::all_inputs(options), is_number);
}

std::string type_of(const data::Options& options, const data::Field& field) {
  const auto column = std::ranges::find(options.columns, field.name, &TableColumn::name);
  if (column == options.columns.end()) return field.dtype == DType::String ? "text" : "number";
  switch (column->type) {
    case ColumnType::Number: return "number";
    case ColumnType::Category: return "category";
    case ColumnType::Timestamp: return "timestamp";
    case ColumnType::Image: return "image";
    default: return "text";
  }
}

/// Says why there are no gaps in a column.
std::string advice_on(const data::Options& options, const std::string& field) {
  return "its run file has no " +
         (options.columns.empty() ? std::string("data.missing") : "missing in data.columns." + field);
}

TableInput input_of(const data::Options& options, const data::Field& field, const data::CsvColumn& column) {
  TableInput input;
  input.takes_gaps = column.use == CsvUse::String || column.missing;
  input.gap = column.missing.value_or(0);
  if (!input.takes_gaps) input.advice = advice_on(options, field.name);
  return input;
}

}  // namespace

std::optional<data::Options> options_for_objects(Disk& disk, const data::Options& options) {
  if (options.format != "csv") return {};
  data::Options result = options;
  const bool has_header = data::has_csv_header(options.format_options);
  auto names = data::option<std::vector<std::string>>(options.format_options, "names", {});
  if (!options.columns.empty()) {
    names = names_of(options);
    result.format_options[data::label_column] = std::string("none");
  } else if (const auto features =
                 data::option<std::vector<std::string>>(options.format_options, data::features_option, {});
             !features.empty() && !data::has_csv_column(options.format_options, data::text_column)) {
    names = with_label(options, features);
    result.format_options[data::label_column] = std::string("none");
  } else if (has_header) {
    names = names_in_header(disk, options);
  } else if (names.empty() && has_only_text(options)) {
    names = {data::text_column};
    result.format_options[data::label_column] = std::string("none");
    result.format_options[data::text_column] = std::string("last");
  }
  if (names.empty()) return {};
  result.format_options["names"] = std::move(names);
  result.format_options["header"] = false;
  result.format_options[data::ignore_label_option] = true;
  result.format_options.erase("unlabelled");  // each object is a sample
  std::erase_if(result.inputs, [](const data::Input& input) { return input.from == data::label_column; });
  return result;
}

std::shared_ptr<const TableObjects> TableObjects::make(Disk& disk, const TrainedRun& run) {
  if (!run.config || run.config->data.format != "csv" || run.config->data.window) return nullptr;
  const ModelSignature* const signature = predict_signature(run.model);
  if (!signature) return nullptr;
  const config::RunConfig& config = *run.config;
  std::shared_ptr<TableObjects> table(new TableObjects);
  table->signature_ = *signature;
  const bool has_images = std::ranges::find(config.data.columns, ColumnType::Image, &TableColumn::type) !=
                          config.data.columns.end();
  if (auto options = has_images ? std::nullopt : options_for_objects(disk, config.data)) {
    keep_columns_to_predict(run, *options);
    table->options_ = std::move(*options);
    if (table->add_columns(run).ok()) return table;
  }
  table->columns_.clear();
  table->add_features_without_names(config.data);
  return table;
}

/// Finds what the columns are for. Fails if the names do not fit the options.
Status TableObjects::add_columns(const TrainedRun& run) {
  const std::string path = run.folder;
  source_ = data::source_file(options_, {std::span(&path, 1), {}}, 0);
  for (TableColumn& column : source_.columns) column.values.clear();  // the reader needs none
  const auto names = data::option<std::vector<std::string>>(options_.format_options, "names", {});
  TROUPE_ASSIGN(const data::CsvLayout layout, data::csv_layout(source_, {names.begin(), names.end()}));
  for (size_t i = 0; i < names.size(); ++i) {
    const data::CsvColumn& column = layout.columns[i];
    if (column.use == CsvUse::Skipped) continue;
    const data::Field& field = layout.fields[column.field];
    const TableInput input = input_of(options_, field, column);
    const auto of = std::ranges::find(options_.columns, field.name, &TableColumn::name);
    columns_.push_back({names[i], type_of(options_, field), input.takes_gaps,
                        of == options_.columns.end() ? std::vector<std::string>() : of->values});
    for (const data::Input& made : data::all_inputs(options_)) {
      if (made.from != field.name) continue;
      TableInput& known = inputs_.emplace(made.name, input).first->second;
      known.columns.resize(std::max(known.columns.size(), column.element + 1));
      known.columns[column.element] = names[i];
    }
  }
  for (const ModelTensor& input : signature_.inputs)
    if (std::ranges::none_of(names,
                             [&](const std::string& name) { return data::names_column(name, input.name); }))
      only_inputs_.insert(input.name);
  return {};
}

void TableObjects::add_features_without_names(const data::Options& options) {
  if (!options.columns.empty()) return;
  const double missing = data::option(options.format_options, "missing", std::nan(""));
  TableInput input;
  input.takes_gaps = !std::isnan(missing);
  input.gap = missing;
  input.advice = advice_on(options, data::feature_column);
  for (const data::Input& made : data::all_inputs(options))
    if (made.from == data::feature_column) inputs_.emplace(made.name, input);
}

const TableInput* TableObjects::find_input(const std::string& name) const {
  const auto found = inputs_.find(name);
  return found == inputs_.end() ? nullptr : &found->second;
}

Result<data::Dataset> TableObjects::rows_of(std::string_view lines, int64_t objects,
                                            const std::string& place) const {
  data::SourceFile source = source_;
  source.path = place;
  TROUPE_ASSIGN(const auto reader, data::open_csv_objects(lines, source));
  TROUPE_ASSIGN(auto builders, data::make_builders(options_, reader->schema(), objects));
  for (int64_t left = objects; left > 0;) {
    TROUPE_ASSIGN(const data::Dataset batch, reader->next(left));
    if (batch.samples() == 0) return data::no_samples(place);
    for (data::ColumnBuilder& builder : builders) TROUPE_RETURN_IF_FAILED(builder.add(batch));
    left -= batch.samples();
  }
  return data::finish(builders);
}

Result<std::vector<Tensor>> TableObjects::read(std::string_view lines, int64_t objects,
                                               const std::string& place) const {
  constexpr uint64_t always_allowed = 1 << 20;  // elements
  if (static_cast<uint64_t>(objects) * columns_.size() > lines.size() + always_allowed)
    return invalid_argument(place + ": " + std::to_string(objects) + " objects of " +
                            std::to_string(columns_.size()) +
                            " columns, most of which are missing, are too many for one request");
  const auto rows = rows_of(lines, objects, place);
  if (!rows && rows.status().code() == Code::DataLoss) return invalid_argument(rows.status().text());
  if (!rows) return rows.status();
  return inputs_of(signature_, *rows);
}

}  // namespace troupe::runs
