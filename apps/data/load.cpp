#include "apps/data/load.h"

#include <algorithm>
#include <cmath>

#include "apps/data/column_builder.h"

namespace troupe::data {
namespace {

constexpr uint64_t split_stream = 2;      // the stream of permutation() for the split
constexpr int64_t batch_bytes = 1 << 20;  // the size of a batch of floats, which fits the caches of a core

/// Returns the type as which labels are read: float if an input casts labels to a floating type, so that fractions are not lost
/// before.
DType label_type(const Options& options) {
  const bool floating = std::any_of(options.inputs.begin(), options.inputs.end(), [](const Input& input) {
    return input.from == label_column && is_floating(input.cast);
  });
  return floating ? DType::Float : DType::Int32;
}

int64_t elements(const Field& field) {
  int64_t count = 1;
  for (const int64_t dim : field.shape) count *= dim;
  return count;
}

/// The files of one data set, each opened.
struct Sources {
  std::span<const std::string> files;
  std::vector<std::unique_ptr<RecordReader>> readers;

  static Result<Sources> open(Disk& disk, const Options& options, std::span<const std::string> files,
                              std::span<const std::string> label_files) {
    const auto format = find_format(options.format);
    if (!format)
      return invalid_argument("format '" + options.format + "' is unknown; allowed: " + format_names());
    Sources sources{files, {}};
    for (size_t i = 0; i < files.size(); ++i) {
      const std::string labels = i < label_files.size() ? label_files[i] : std::string();
      TROUPE_ASSIGN(sources.readers.emplace_back(),
                    format->open(disk, {files[i], labels, label_type(options), options.format_options}));
      TROUPE_RETURN_IF_FAILED(sources.check_width(i));
    }
    return sources;
  }

  int64_t width(size_t i) const { return elements(readers[i]->schema().front()); }

  Status check_width(size_t i) const {
    if (width(i) == width(0)) return {};
    return data_loss(files[i] + ": " + std::to_string(width(i)) + " features per sample, but " + files[0] +
                     " has " + std::to_string(width(0)));
  }

  /// Returns the number of records of all files together, if all readers know theirs.
  std::optional<int64_t> records() const {
    int64_t sum = 0;
    for (const auto& reader : readers) {
      if (!reader->records()) return {};
      sum += *reader->records();
    }
    return sum;
  }
};

Result<std::vector<ColumnBuilder>> make_builders(const Options& options, const Sources& sources) {
  std::vector<ColumnBuilder> builders;
  const auto& schema = sources.readers.front()->schema();
  for (const Input& input : all_inputs(options)) {
    const auto field = std::ranges::find(schema, input.from, &Field::name);
    if (field == schema.end())
      return invalid_argument("input " + input.name + ": the data has no column '" + input.from + "'");
    TROUPE_ASSIGN(builders.emplace_back(),
                  ColumnBuilder::make(input, *field, input.from == feature_column ? options.scale : 1,
                                      sources.records()));
  }
  return builders;
}

Status read_all(Sources& sources, std::vector<ColumnBuilder>& builders) {
  const int64_t sample_bytes = std::max<int64_t>(1, sources.width(0)) * static_cast<int64_t>(sizeof(float));
  const int64_t batch = std::max<int64_t>(1, batch_bytes / sample_bytes);
  for (size_t i = 0; i < sources.readers.size(); ++i) {
    int64_t samples = 0;
    for (;;) {
      TROUPE_ASSIGN(const Dataset records, sources.readers[i]->next(batch));
      if (records.samples() == 0) break;
      samples += records.samples();
      for (ColumnBuilder& builder : builders) TROUPE_RETURN_IF_FAILED(builder.add(records));
    }
    if (samples == 0) return data_loss(sources.files[i] + ": the file has no samples");
  }
  return {};
}

Result<Dataset> make_dataset(Disk& disk, const Options& options, std::span<const std::string> files,
                             std::span<const std::string> label_files) {
  TROUPE_ASSIGN(Sources sources, Sources::open(disk, options, files, label_files));
  TROUPE_ASSIGN(auto builders, make_builders(options, sources));
  TROUPE_RETURN_IF_FAILED(read_all(sources, builders));
  std::vector<Column> columns;
  for (ColumnBuilder& builder : builders) {
    TROUPE_ASSIGN(Tensor values, builder.finish());
    columns.push_back({builder.name(), std::move(values)});
  }
  return Dataset(std::move(columns));
}

/// Splits off round(samples * fraction) samples for validation, at least one but not all. Both parts keep the order of the files.
Result<TrainAndValid> split(const Dataset& all, double fraction, uint64_t seed) {
  const int64_t samples = all.samples();
  if (samples < 2)
    return invalid_argument("data.valid.split needs at least two samples, found " + std::to_string(samples));
  const int64_t held_out =
      std::clamp<int64_t>(std::llround(static_cast<double>(samples) * fraction), 1, samples - 1);
  auto order = permutation(samples, seed, split_stream, 0);
  std::sort(order.begin(), order.begin() + held_out);
  std::sort(order.begin() + held_out, order.end());
  TROUPE_ASSIGN(Dataset valid, all.select(std::span(order).first(static_cast<size_t>(held_out))));
  TROUPE_ASSIGN(Dataset train, all.select(std::span(order).subspan(static_cast<size_t>(held_out))));
  return TrainAndValid{std::move(train), std::move(valid)};
}

}  // namespace

Result<TrainAndValid> load(Disk& disk, const Options& options, uint64_t seed) {
  TROUPE_ASSIGN(Dataset train, make_dataset(disk, options, options.train, options.train_labels));
  if (options.valid_split > 0) return split(train, options.valid_split, seed);
  if (options.valid.empty()) return TrainAndValid{std::move(train), {}};
  TROUPE_ASSIGN(Dataset valid, make_dataset(disk, options, options.valid, options.valid_labels));
  for (size_t i = 0; i < valid.columns().size(); ++i) {
    const Tensor &to_train = train.columns()[i].values, &to_validate = valid.columns()[i].values;
    if (!std::ranges::equal(to_train.shape().dims().subspan(1), to_validate.shape().dims().subspan(1)))
      return data_loss(options.valid.front() + ": validation samples are " + to_validate.signature() +
                       ", but training samples are " + to_train.signature());
  }
  return TrainAndValid{std::move(train), std::move(valid)};
}

}  // namespace troupe::data
