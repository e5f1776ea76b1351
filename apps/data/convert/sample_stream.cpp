#include "apps/data/convert/sample_stream.h"

#include <algorithm>
#include <optional>

#include "apps/data/convert/examples.h"
#include "apps/data/sources.h"

namespace troupe::data {
namespace {

class SetSamples final : public SampleStream {
 public:
  explicit SetSamples(std::shared_ptr<const SampleSet> set)
      : set_(std::move(set)), batches_(set_->batches(at_once, 0, false)) {}

  const Dataset& columns() const override { return set_->columns(); }
  int64_t samples() const override { return set_->samples(); }
  Result<Dataset> next() override {
    if (next_ == static_cast<uint64_t>(batches_->per_epoch())) return Dataset();
    return batches_->at(next_++);
  }
  Status restart() override {
    next_ = 0;
    return {};
  }

 private:
  static constexpr int64_t at_once = 256;

  std::shared_ptr<const SampleSet> set_;
  std::unique_ptr<Batches> batches_;
  uint64_t next_ = 0;
};

class FileSamples final : public SampleStream {
 public:
  FileSamples(Disk& disk, const Options& options) : disk_(disk), options_(options) {}

  /// Determines the columns and the number of samples.
  Status begin() {
    for (size_t i = 0; i < options_.train.size(); ++i) {
      TROUPE_ASSIGN(const auto reader, open_source(disk_, options_, train_files(options_), i));
      if (i == 0) TROUPE_RETURN_IF_FAILED(find_columns(*reader));
      TROUPE_RETURN_IF_FAILED(check_columns(*reader, i));
      TROUPE_RETURN_IF_FAILED(count(*reader));
    }
    return restart();
  }

  const Dataset& columns() const override { return columns_; }
  int64_t samples() const override { return samples_; }
  Result<Dataset> next() override {
    for (; file_ < options_.train.size(); ++file_, reader_.reset()) {
      if (!reader_) {
        TROUPE_ASSIGN(reader_, open_source(disk_, options_, train_files(options_), file_));
      }
      TROUPE_ASSIGN(const ReaderPosition begin, reader_->position());
      TROUPE_ASSIGN(Dataset records, reader_->next(records_at_once(width(*reader_))));
      if (records.samples() == 0) continue;
      if (!is_example()) return records;
      auto parsed = parse_examples(records.columns()[0].values.as<std::string>(), columns_);
      if (!parsed)
        return data_loss(options_.train[file_] + ", from record " + std::to_string(begin.record) +
                         " on: " + parsed.status().text());
      return parsed;
    }
    return Dataset();
  }
  Status restart() override {
    file_ = 0;
    reader_.reset();
    return {};
  }

 private:
  bool is_example() const { return options_.format == "tfrecord"; }

  Status find_columns(RecordReader& reader) {
    if (is_example()) {
      TROUPE_ASSIGN(const Dataset first, reader.next(1));
      if (first.samples() == 0) return no_samples(options_.train[0]);
      auto columns = columns_of_example(first.columns()[0].values.as<std::string>()[0]);
      if (!columns) return data_loss(options_.train[0] + ", record 0: " + columns.status().text());
      columns_ = std::move(*columns);
      samples_ = 1;
      return {};
    }
    std::vector<Column> columns;
    for (const Field& field : reader.schema()) {
      std::vector<int64_t> dims = {0};
      dims.insert(dims.end(), field.shape.begin(), field.shape.end());
      TROUPE_ASSIGN(const Shape shape, Shape::make(dims, field.dtype));
      TROUPE_ASSIGN(Tensor values, Tensor::allocate(field.dtype, shape));
      columns.push_back({field.name, std::move(values)});
    }
    columns_ = Dataset(std::move(columns));
    return {};
  }

  /// Fails with DataLoss if a file has other columns than the first one.
  Status check_columns(const RecordReader& reader, size_t file) const {
    if (is_example()) return {};
    for (size_t i = 0; i < reader.schema().size(); ++i) {
      const Field& field = reader.schema()[i];
      const Tensor& first = columns_.columns()[i].values;
      if (field.dtype != first.dtype() || !std::ranges::equal(field.shape, first.shape().dims().subspan(1)))
        return data_loss(options_.train[file] + ": samples of " + field.name + " have type " +
                         std::string(name(field.dtype)) + " and shape " + text_of(field.shape) +
                         ", but those of " + options_.train[0] + " are " + first.signature());
    }
    return {};
  }

  Status count(RecordReader& reader) {
    constexpr int64_t many = 1024;
    if (const auto known = reader.records()) {
      samples_ += *known;
      return {};
    }
    for (;;) {
      TROUPE_ASSIGN(const int64_t passed, reader.skip(many));
      if (passed == 0) return {};
      samples_ += passed;
    }
  }

  Disk& disk_;
  Options options_;
  Dataset columns_;
  int64_t samples_ = 0;
  size_t file_ = 0;  ///< the file that is read
  std::unique_ptr<RecordReader> reader_;
};

}  // namespace

Result<std::unique_ptr<SampleStream>> samples_of(std::shared_ptr<const SampleSet> set) {
  for (const Column& column : set->columns().columns()) {
    const auto dims = column.values.shape().dims().subspan(1);
    if (column.is_ragged() || std::ranges::find(dims, 0) != dims.end())
      return invalid_argument("column '" + column.name +
                              "' has rows of different lengths, which are not converted");
  }
  return std::unique_ptr<SampleStream>(std::make_unique<SetSamples>(std::move(set)));
}

Result<std::unique_ptr<SampleStream>> samples_of(Disk& disk, const Options& options) {
  auto stream = std::make_unique<FileSamples>(disk, options);
  TROUPE_RETURN_IF_FAILED(stream->begin());
  if (stream->samples() == 0) return no_samples(options.train.front());
  return std::unique_ptr<SampleStream>(std::move(stream));
}

}  // namespace troupe::data
