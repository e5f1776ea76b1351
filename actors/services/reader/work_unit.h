// WorkUnit: a file that a reader reads, or a name, and the records of it that were read and not yielded yet. Owned by the reader
// role; while work with files runs for the role, only that work uses the unit.
#pragma once

#include <utility>

#include "actors/services/reader/reader_spec.h"
#include "messages/values/tensor.h"

namespace troupe {

/// Adjacent records, as vectors of strings.
struct RecordBatch {
  Tensor keys, bytes;
};

class WorkUnit {
 public:
  /// `yielded` records of the unit were yielded before its reader was restored; they are passed over.
  WorkUnit(const ReaderSpec& spec, std::string name, uint64_t yielded = 0);

  const std::string& name() const { return name_; }
  /// Returns how many records were yielded.
  uint64_t yielded() const { return yielded_; }
  /// Returns how many records were read and not yielded.
  uint64_t waiting() const { return static_cast<uint64_t>(end_ - begin_); }
  /// Returns whether no record is left but those that wait.
  bool is_read() const { return is_read_; }

  /// Reads until `wanted` records wait, or all that remain or take much memory; if one is wanted, some that follow it are read,
  /// too. Blocks, so it runs on the file thread.
  void read(Disk& disk, uint64_t wanted);
  /// Returns why read() ended, Ok if not for a failure, and forgets it. A later read() tries again.
  Status take_failure() { return std::exchange(failure_, Status()); }
  bool has_failed() const { return !failure_.ok(); }
  /// Returns false after the file could not be opened.
  bool is_open() const { return spec_.kind == ReaderKind::Names || stream_ != nullptr; }

  /// Yields at most `most` of the records that wait.
  RecordBatch yield(uint64_t most);

 private:
  struct Strings;

  Status open(Disk& disk);
  Status read_to(Strings& strings, uint64_t wanted);
  Strings take_waiting();
  Status keep(Strings strings);
  std::string key() const;

  const ReaderSpec spec_;
  const std::string name_;
  uint64_t yielded_;
  std::unique_ptr<RecordStream> stream_;
  RecordBatch batch_;
  int64_t begin_ = 0, end_ = 0;  ///< of the records of `batch_` that wait
  bool is_read_ = false;
  Status failure_;
};

}  // namespace troupe
