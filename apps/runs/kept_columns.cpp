#include "apps/runs/kept_columns.h"

#include <algorithm>

#include "apps/data/convert/convert.h"
#include "apps/data/csv/csv_layout.h"
#include "apps/data/file_patterns.h"
#include "apps/data/formats/class_folders.h"
#include "apps/data/load.h"
#include "apps/data/windows.h"

namespace troupe::runs {
namespace {

constexpr const char* file_column = "file";

Result<data::Dataset> paths_of_files(Disk& disk, const data::FileKind& kind, data::Options options,
                                     const std::vector<std::string>& names) {
  if (names != std::vector<std::string>{file_column})
    return invalid_argument("there is no column '" + names.front() + "' to keep: " +
                            std::string(kind.format) + " have the column 'file' alone, their paths");
  options.format_options[data::label_column] = std::string("none");
  TROUPE_ASSIGN(options, data::with_matching_files(disk, std::move(options)));
  TROUPE_ASSIGN(const auto paths, data::files_without_labels(disk, kind, options.train));
  return data::Dataset({{file_column, Tensor::vector(std::span(paths))}});
}

/// Returns options with which a table is read as these columns, each of them text.
data::Options as_texts(data::Options options, const std::vector<std::string>& names) {
  data::FormatOptions read;
  for (const char* const kept : {"header", "names", "delimiter", "quotes"})
    if (const auto option = options.format_options.find(kept); option != options.format_options.end())
      read.insert(*option);
  read[data::label_column] = std::string("none");
  options.format_options = std::move(read);
  options.columns.clear();
  for (const std::string& name : names)
    options.columns.push_back({.name = name, .type = data::ColumnType::Text, .sources = {name}});
  options.inputs.clear();
  options.stream = false;
  return options;
}

Result<data::Dataset> texts_of_table(Disk& disk, const data::Options& options) {
  TROUPE_ASSIGN(const auto samples, data::load(disk, options, 0));
  const auto batches = samples.train->batches(samples.train->samples(), 0, false);
  return batches->at(0);
}

/// Returns the column of a table that tells series apart; empty: there is one series.
std::string column_of_series(const data::Options& options) {
  const auto column = std::ranges::find(options.columns, options.window->series, &data::TableColumn::name);
  return column == options.columns.end() ? std::string() : column->sources.front();
}

/// Returns these columns of the last row of each stretch of a series, as texts.
Result<data::Dataset> texts_of_stretches(Disk& disk, data::Options options,
                                         const std::vector<std::string>& names) {
  std::vector<std::string> read = names;
  data::Window window = *options.window;
  if (const std::string series = column_of_series(options); !series.empty()) {
    const auto kept = std::ranges::find_if(
        names, [&](const std::string& name) { return data::names_column(name, series); });
    window.series = kept == names.end() ? series : *kept;
    if (kept == names.end()) read.push_back(series);
  }
  options.window.reset();
  TROUPE_ASSIGN(const data::Dataset rows, texts_of_table(disk, as_texts(std::move(options), read)));
  TROUPE_ASSIGN(const auto all, data::series_of(rows, window));
  std::vector<int64_t> last;
  for (const data::SampleRange& series : all)
    for (int64_t row = series.begin + window.length - 1; row < series.end; ++row) last.push_back(row);
  TROUPE_ASSIGN(const data::Dataset of_stretches, rows.select(last));
  std::vector<data::Column> columns;
  for (const std::string& name : names) columns.push_back({name, *of_stretches.find(name)});
  return data::Dataset(std::move(columns));
}

/// Returns the columns of labels that have one size for all samples.
data::Dataset labels_of(const TrainedRun& run, const data::Dataset& columns) {
  std::vector<data::Column> labels;
  for (const data::Input& input : data::all_inputs(run.config->data)) {
    const Tensor* const values = input.from == data::label_column ? columns.find(input.name) : nullptr;
    if (!values || columns.find(data::splits_name(input.name))) continue;
    const auto dims = values->shape().dims().subspan(1);
    if (std::ranges::count(dims, 0) == 0) labels.push_back({input.name, *values});
  }
  return data::Dataset(std::move(labels));
}

/// Returns the names of classes in place of their numbers, if they have names.
Tensor with_names_of_classes(const Tensor& labels, const std::vector<std::string>& classes) {
  if (labels.dtype() != DType::Int32 || labels.shape().rank() != 1) return labels;
  std::vector<std::string> names;
  for (const int32_t label : labels.as<int32_t>()) {
    if (label < 0 || static_cast<size_t>(label) >= classes.size()) return labels;
    names.push_back(classes[static_cast<size_t>(label)]);
  }
  return Tensor::vector(std::span<const std::string>(names));
}

}  // namespace

Result<data::Dataset> kept_columns(Disk& disk, const TrainedRun& run, const std::vector<std::string>& files,
                                   const std::vector<std::string>& names) {
  if (!run.config)
    return invalid_argument("the model in " + run.folder +
                            " has no run file that says how files are read, so that no column can be kept");
  data::Options options = run.config->data;
  options.train = files;
  options.train_labels.clear();
  options.valid.clear();
  options.valid_labels.clear();
  options.valid_split = 0;
  if (const data::FileKind* const kind = data::file_kind(options.format))
    return paths_of_files(disk, *kind, std::move(options), names);
  const bool is_json =
      std::ranges::all_of(files, [](const auto& file) { return data::format_of_name(file) == "jsonl"; });
  if (options.format != "csv" && !is_json)
    return invalid_argument("no column can be kept of files of format " + options.format +
                            "; allowed: csv, images, sounds");
  if (is_json) {
    options.format = "csv";
    options.format_options = {{"header", true}};
  } else if (!data::has_csv_header(options.format_options) && !options.format_options.contains("names")) {
    return invalid_argument(
        "no column can be kept: the columns have no names; data.header or data.names gives them");
  }
  if (options.window) return texts_of_stretches(disk, std::move(options), names);
  return texts_of_table(disk, as_texts(std::move(options), names));
}

Result<data::Dataset> kept_labels(const TrainedRun& run, const data::SampleSet& samples) {
  constexpr int64_t rows_at_once = 256;
  TROUPE_ASSIGN(data::Dataset labels,
                data::allocate_like(labels_of(run, samples.columns()), samples.samples()));
  const auto batches = samples.batches(rows_at_once, 0, false);
  for (int64_t i = 0; i < batches->per_epoch(); ++i) {
    TROUPE_ASSIGN(const data::Dataset batch, batches->at(static_cast<uint64_t>(i)));
    for (data::Column& column : labels.mutable_columns())
      data::copy_rows(*batch.find(column.name), column.values, i * rows_at_once);
  }
  for (data::Column& column : labels.mutable_columns())
    column.values = with_names_of_classes(column.values, run.classes());
  return labels;
}

}  // namespace troupe::runs
