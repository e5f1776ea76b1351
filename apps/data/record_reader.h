// RecordReader: the interface of classes that read the samples of a file batch by batch, so that memory for one batch suffices.
// Each format has a subclass (apps/data/format.h). The position can be saved and restored in another reader of the same file. One
// thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/data/dataset.h"
#include "apps/data/input_file.h"

namespace troupe::data {

/// One column of the records of a file.
struct Field {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;              ///< the shape of one record
  std::vector<std::string> elements = {};  ///< for a vector made of columns of a table: their names
};

/// The position of the next record. Plain values that are valid on every machine.
struct ReaderPosition {
  uint64_t fingerprint = 0;  ///< the fingerprint of format and files
  uint64_t record = 0;       ///< the number of the record, counted from 0
  uint64_t offset = 0;       ///< for formats whose records vary in length: the offset in bytes
  uint64_t row = 0;          ///< for text formats: the number of lines before the record

  friend bool operator==(const ReaderPosition&, const ReaderPosition&) = default;
};

std::string to_text(const ReaderPosition& position);
/// Fails with InvalidArgument if the text was not made by to_text().
Result<ReaderPosition> parse_position(std::string_view text);

class RecordReader {
 public:
  virtual ~RecordReader() = default;

  /// Returns the columns of each batch, in order.
  const std::vector<Field>& schema() const { return schema_; }
  /// Returns the number of records, if it is known without reading the file.
  virtual std::optional<int64_t> records() const { return {}; }
  /// Returns whether a file is compressed, so that going back to an earlier position takes reading from the beginning.
  bool is_compressed() const;
  /// Reads at most `max_records` records; returns an empty data set at the end. Fails with DataLoss, naming the file and the
  /// row or byte, if the file is damaged.
  virtual Result<Dataset> next(int64_t max_records) = 0;
  /// Passes over at most `max_records` records; returns over how many, 0 at the end. Fails as next() does, but may overlook
  /// damage inside a record.
  virtual Result<int64_t> skip(int64_t max_records);

  /// Returns the position at which next() continues. The first call reads parts of the file.
  Result<ReaderPosition> position();
  /// Makes next() continue at a position. Fails with FailedPrecondition if the position belongs to another file or the file has
  /// changed, and with InvalidArgument if it lies outside the file, unless that is compressed; then next() finds no record.
  /// Only the sizes and 64 parts of each file are compared, so in a file larger than 1 MiB a change of a few bytes may not be
  /// noticed.
  Status restore(const ReaderPosition& position);

 protected:
  RecordReader(std::string_view format, std::vector<std::shared_ptr<InputFile>> files)
      : format_(format), files_(std::move(files)) {}

  /// Returns the position without the fingerprint.
  virtual ReaderPosition tell() const = 0;
  /// Moves to a position whose fingerprint has been checked.
  virtual Status seek(const ReaderPosition& position) = 0;

  /// Fails with InvalidArgument if the offset of a position lies outside a file whose size is known.
  static Status check_offset(const ReaderPosition& position, const InputFile& file);

  std::vector<Field> schema_;

 private:
  Result<uint64_t> fingerprint();

  std::string format_;
  std::vector<std::shared_ptr<InputFile>> files_;
  std::optional<uint64_t> fingerprint_;
};

}  // namespace troupe::data
