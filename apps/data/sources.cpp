#include "apps/data/sources.h"

#include <algorithm>

namespace troupe::data {
namespace {

/// Returns the number of elements of a record.
int64_t elements(const Field& field) {
  int64_t count = 1;
  for (const int64_t dim : field.shape) count *= dim;
  return count;
}

}  // namespace

SourceFile source_file(const Options& options, const SourceFiles& files, size_t i) {
  return {.path = files.files[i],
          .labels = i < files.labels.size() ? files.labels[i] : std::string(),
          .label_type = read_type(options, label_column, DType::Int32),
          .options = options.format_options,
          .compression = options.compression,
          .columns = options.columns,
          .feature_type = read_type(options, feature_column, DType::Float)};
}

Result<std::unique_ptr<RecordReader>> open_source(Disk& disk, const Options& options,
                                                  const SourceFiles& files, size_t i) {
  const auto format = find_format(options.format);
  if (!format)
    return invalid_argument("format '" + options.format + "' is unknown; allowed: " + format_names());
  return format->open(disk, source_file(options, files, i));
}

Result<std::string> fingerprints(Disk& disk, const Options& options) {
  std::string text;
  for (const SourceFiles& files : {train_files(options), valid_files(options)})
    for (size_t i = 0; i < files.files.size(); ++i) {
      TROUPE_ASSIGN(const auto reader, open_source(disk, options, files, i));
      TROUPE_ASSIGN(const ReaderPosition begin, reader->position());
      text += files.files[i] + ' ' + std::to_string(begin.fingerprint) + '\n';
    }
  return text;
}

int64_t width(const RecordReader& reader) { return elements(reader.schema().front()); }

Status check_alike(const SourceFiles& files, size_t i, const std::vector<Field>& schema,
                   const std::vector<Field>& first) {
  for (size_t k = 0; k < std::min(schema.size(), first.size()); ++k) {
    const int64_t found = elements(schema[k]), expected = elements(first[k]);
    if (found == expected) continue;
    const std::string what = schema[k].name == feature_column ? "features" : "values of " + schema[k].name;
    return data_loss(files.files[i] + ": " + std::to_string(found) + ' ' + what + " per sample, but " +
                     files.files[0] + " has " + std::to_string(expected));
  }
  return {};
}

Result<std::vector<ColumnBuilder>> make_builders(const Options& options, const std::vector<Field>& schema,
                                                 std::optional<int64_t> samples) {
  std::vector<ColumnBuilder> builders;
  for (const Input& input : all_inputs(options)) {
    const auto field = std::ranges::find(schema, input.from, &Field::name);
    if (field == schema.end())
      return invalid_argument("input " + input.name + ": the data has no column '" + input.from + "'");
    TROUPE_ASSIGN(
        builders.emplace_back(),
        ColumnBuilder::make(input, *field, input.from == feature_column ? options.scale : 1, samples));
  }
  return builders;
}

Result<Dataset> finish(std::vector<ColumnBuilder>& builders) {
  std::vector<Column> columns;
  for (ColumnBuilder& builder : builders) {
    TROUPE_ASSIGN(Tensor values, builder.finish());
    columns.push_back({builder.name(), std::move(values)});
  }
  return Dataset(std::move(columns));
}

Status no_samples(const std::string& file) { return data_loss(file + ": the file has no samples"); }

int64_t records_at_once(int64_t width) {
  constexpr int64_t bytes = 1 << 20;
  return std::max<int64_t>(1, bytes / (std::max<int64_t>(1, width) * static_cast<int64_t>(sizeof(float))));
}

}  // namespace troupe::data
