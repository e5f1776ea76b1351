// Reader spec: how a reader divides files into records, as the node that yields its handle says. A plain value.
#pragma once

#include <string>

#include "graph/build/graph.h"
#include "messages/records/record_stream.h"

namespace troupe {

enum class ReaderKind : uint8_t {
  Names,        ///< a record is the name that the queue yields
  WholeFile,    ///< a record is a file
  TextLines,    ///< a record is a line
  FixedLength,  ///< records have the same number of bytes
  TfRecords     ///< TensorFlow's records
};

struct ReaderSpec {
  std::string name;  ///< the name of its state
  ReaderKind kind = ReaderKind::Names;
  uint64_t skipped_lines = 0;  ///< of TextLines
  FixedLength length;          ///< of FixedLength
  Compression compression = Compression::None;

  /// Returns whether each unit is one record.
  bool has_one_record() const { return kind == ReaderKind::Names || kind == ReaderKind::WholeFile; }
  /// Returns "records of 3 bytes, header 1, footer 2, hop 3", for example.
  std::string text() const;
  friend bool operator==(const ReaderSpec&, const ReaderSpec&) = default;
};

/// Returns the spec of an IdentityReader, WholeFileReader, TextLineReader, FixedLengthRecordReader, TFRecordReader, or of their V2.
/// Fails with InvalidArgument if a number of bytes or lines is negative, a record has no bytes, or the compression is not known.
Result<ReaderSpec> reader_spec(const Node& handle);

/// Opens a file. Fails as the disk does. The reader must not be one of names.
Result<std::unique_ptr<RecordStream>> open_records(const ReaderSpec& spec, Disk& disk,
                                                   const std::string& path);

}  // namespace troupe
