// RecordReader: the samples of a file, one batch after the other, in memory that a batch bounds. What each format is a class of
// (apps/data/format.h). A position can be saved, and restored in another reader of the same file. One thread at a time.
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
  std::vector<int64_t> shape;  ///< of one record
};

/// Which record of which file comes next. Plain values, the same on every machine.
struct ReaderPosition {
  uint64_t fingerprint = 0;  ///< of format and files
  uint64_t record = 0;       ///< from 0
  uint64_t offset = 0;       ///< of formats whose records vary in length: in bytes
  uint64_t row = 0;          ///< of formats of text: rows before it

  friend bool operator==(const ReaderPosition&, const ReaderPosition&) = default;
};

std::string to_text(const ReaderPosition& position);
/// InvalidArgument for what to_text() has not made.
Result<ReaderPosition> parse_position(std::string_view text);

class RecordReader {
 public:
  virtual ~RecordReader() = default;

  /// The columns of each batch, in order.
  const std::vector<Field>& schema() const { return schema_; }
  /// How many records the file has, if it says so.
  virtual std::optional<int64_t> records() const { return {}; }
  /// The next records, `most` or fewer; none at the end. DataLoss names file, and row or byte.
  virtual Result<Dataset> next(int64_t most) = 0;

  /// Where next() goes on. Reads parts of the file, the first time.
  Result<ReaderPosition> position();
  /// next() goes on there. FailedPrecondition for a position of another file, or of this one before it changed; InvalidArgument for
  /// one that is not within the file. What is compared are sizes and 64 samples of each file: of a file of 1 MiB and more, a change
  /// of few bytes may go unnoticed.
  Status restore(const ReaderPosition& position);

 protected:
  RecordReader(std::string_view format, std::vector<std::shared_ptr<InputFile>> files)
      : format_(format), files_(std::move(files)) {}

  /// The position without fingerprint, and its counterpart.
  virtual ReaderPosition tell() const = 0;
  virtual Status seek(const ReaderPosition& position) = 0;

  std::vector<Field> schema_;

 private:
  Result<uint64_t> fingerprint();

  std::string format_;
  std::vector<std::shared_ptr<InputFile>> files_;
  std::optional<uint64_t> fingerprint_;
};

}  // namespace troupe::data
