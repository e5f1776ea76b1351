// The formats tfrecord and fixed: files of records, which are the samples. A sample is the bytes of a record, which an
// expression of data.map takes apart. Files of tfrecord are TensorFlow's; those of fixed are records of data.record_bytes bytes
// each, after a header of data.header_bytes, as CIFAR-10's are.
#include <algorithm>

#include "apps/data/format.h"
#include "messages/records/record_stream.h"

namespace troupe::data {
namespace {

using config::Kind;

// One row per option.
// clang-format off
constexpr config::Key fixed_keys[] = {
    {"data.record_bytes", Kind::Integer, "bytes of a record", {.required = true, .range = {.low = 1}, .when = "format=fixed"}},
    {"data.header_bytes", Kind::Integer, "bytes before the first record", {.initial = "0", .range = {.low = 0}, .when = "format=fixed"}},
};
// clang-format on

/// Reads records of a stream. The position of a record is its number and the byte, in the file without compression, where it
/// begins.
class RecordFileReader : public RecordReader {
 public:
  RecordFileReader(std::string_view format, std::shared_ptr<InputFile> file)
      : RecordReader(format, {file}), file_(std::move(file)) {
    schema_ = {{feature_column, DType::String, {}}};
  }

  Result<Dataset> next(int64_t max_records) override {
    std::vector<std::string> records;
    while (static_cast<int64_t>(records.size()) < max_records) {
      TROUPE_ASSIGN(const auto record, next_record());
      if (!record) break;
      records.emplace_back(*record);
    }
    TROUPE_ASSIGN(Tensor images,
                  Tensor::allocate(DType::String, Shape::vector(static_cast<int64_t>(records.size()))));
    std::ranges::move(records, images.write<std::string>().begin());
    return Dataset({{feature_column, std::move(images)}});
  }

  Result<int64_t> skip(int64_t max_records) override {
    int64_t passed = 0;
    for (; passed < max_records; ++passed) {
      TROUPE_ASSIGN(const auto record, next_record());
      if (!record) break;
    }
    return passed;
  }

 protected:
  /// Returns a stream of the records of a source, which begins at a record.
  virtual std::unique_ptr<RecordStream> stream_of(std::unique_ptr<ByteSource> source) const = 0;
  /// Returns how many bytes of the file a record takes.
  virtual uint64_t bytes_of(std::string_view record) const = 0;
  uint64_t offset_ = 0;  ///< of the next record

 private:
  Result<std::optional<std::string_view>> next_record() {
    if (!stream_) {
      stream_ = stream_of(source_from(file_, offset_));
      first_ = record_;
      begin_ = offset_;
    }
    auto record = stream_->next();
    if (!record)
      return Status(record.status().code(), file_->path() + ", from record " + std::to_string(first_) +
                                                " at byte " + std::to_string(begin_) +
                                                " on: " + record.status().text());
    if (*record) {
      offset_ += bytes_of(**record);
      ++record_;
    }
    return record;
  }

  /// Passes over the records before an offset, unless the stream is behind it.
  Status read_up_to(uint64_t offset) {
    while (stream_ && offset_ < offset) {
      TROUPE_ASSIGN(const auto record, next_record());
      if (!record) break;
    }
    return {};
  }

  ReaderPosition tell() const override { return {.record = record_, .offset = offset_}; }
  Status seek(const ReaderPosition& position) override {
    if (file_->is_compressed()) TROUPE_RETURN_IF_FAILED(read_up_to(position.offset));
    if (position.offset == offset_ && stream_) return {};
    record_ = position.record;
    offset_ = position.offset;
    stream_.reset();
    return {};
  }

  std::shared_ptr<InputFile> file_;
  std::unique_ptr<RecordStream> stream_;  ///< null: it must be opened at offset_
  uint64_t record_ = 0;                   ///< the number of the next record
  uint64_t first_ = 0, begin_ = 0;        ///< the number and the byte of the first record of the stream
};

class TfRecordReader final : public RecordFileReader {
 public:
  explicit TfRecordReader(std::shared_ptr<InputFile> file) : RecordFileReader("tfrecord", std::move(file)) {}

 private:
  std::unique_ptr<RecordStream> stream_of(std::unique_ptr<ByteSource> source) const override {
    return tf_records(std::move(source));
  }
  uint64_t bytes_of(std::string_view record) const override {
    constexpr uint64_t length_and_checksums = 16;
    return record.size() + length_and_checksums;
  }
};

class FixedReader final : public RecordFileReader {
 public:
  FixedReader(std::shared_ptr<InputFile> file, uint64_t header, uint64_t record)
      : RecordFileReader("fixed", std::move(file)), record_bytes_(record) {
    offset_ = header;
  }

 private:
  std::unique_ptr<RecordStream> stream_of(std::unique_ptr<ByteSource> source) const override {
    return fixed_length_records(std::move(source), {.record = record_bytes_, .hop = record_bytes_});
  }
  uint64_t bytes_of(std::string_view record) const override { return record.size(); }

  uint64_t record_bytes_;
};

Result<std::unique_ptr<RecordReader>> open_tfrecord(Disk& disk, const SourceFile& file) {
  TROUPE_ASSIGN(auto input, InputFile::open(disk, file.path, file.compression));
  return std::unique_ptr<RecordReader>(std::make_unique<TfRecordReader>(std::move(input)));
}

Result<std::unique_ptr<RecordReader>> open_fixed(Disk& disk, const SourceFile& file) {
  TROUPE_ASSIGN(auto input, InputFile::open(disk, file.path, file.compression));
  TROUPE_ASSIGN(const uint64_t size, input->size());
  const auto header = static_cast<uint64_t>(option<int64_t>(file.options, "header_bytes", 0)),
             record = static_cast<uint64_t>(option<int64_t>(file.options, "record_bytes", 1));
  if (size < header || (size - header) % record != 0)
    return data_loss(file.path + ": its " + std::to_string(size) + " bytes are not a header of " +
                     std::to_string(header) + " bytes and records of " + std::to_string(record));
  return std::unique_ptr<RecordReader>(std::make_unique<FixedReader>(std::move(input), header, record));
}

bool is_unlabelled(const FormatOptions&) { return false; }

}  // namespace

Format tfrecord_format() {
  return {.name = "tfrecord", .open = open_tfrecord, .features = DType::String, .labelled = is_unlabelled};
}

Format fixed_format() {
  return {.name = "fixed",
          .open = open_fixed,
          .features = DType::String,
          .keys = fixed_keys,
          .labelled = is_unlabelled};
}

}  // namespace troupe::data
