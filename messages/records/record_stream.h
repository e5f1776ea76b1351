// RecordStream: the records of a file, in order. Bytes of files are checked: whatever they are, a stream ends with its records or
// with a Status. Reading may block, so it is done on file threads. One thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "messages/records/byte_source.h"

namespace troupe {

class RecordStream {
 public:
  /// The most bytes of one record.
  static constexpr size_t max_record_bytes = size_t{1} << 30;

  virtual ~RecordStream() = default;
  /// Returns the next record, or nothing at the end of the file. The record is valid until the next call. Fails with DataLoss,
  /// naming the record and the byte where it begins, if the file is damaged or cut off or the record is too long; a later call
  /// fails again.
  virtual Result<std::optional<std::string_view>> next() = 0;
  /// Returns the number that names the record that next() returned last: that of a line, counted from 1; that of a record of fixed
  /// length, counted from 0; the byte at which a record of TensorFlow begins.
  virtual uint64_t number() const = 0;
};

/// The lines of a text, after the first `skipped_lines`. A line ends with "\n", "\r\n" or the file.
std::unique_ptr<RecordStream> text_lines(std::unique_ptr<ByteSource> source, uint64_t skipped_lines);

/// Where records of fixed length stand: the first behind a header, each of the others `hop` bytes behind the beginning of the one
/// before. As in TensorFlow, bytes at the end that are too few for a record and the footer belong to no record.
struct FixedLength {
  uint64_t header = 0;
  uint64_t record = 1;  ///< at least 1
  uint64_t footer = 0;
  uint64_t hop = 1;  ///< at least 1

  friend bool operator==(const FixedLength&, const FixedLength&) = default;
};
std::unique_ptr<RecordStream> fixed_length_records(std::unique_ptr<ByteSource> source,
                                                   const FixedLength& length);

/// TensorFlow's records: of each, its length (64 bits), the checksum of the length, its bytes, and their checksum (masked CRC-32C,
/// 32 bits). Source: tensorflow.org, "TFRecord and tf.train.Example".
std::unique_ptr<RecordStream> tf_records(std::unique_ptr<ByteSource> source);

/// The whole file as one record.
std::unique_ptr<RecordStream> whole_file(std::unique_ptr<ByteSource> source);

}  // namespace troupe
