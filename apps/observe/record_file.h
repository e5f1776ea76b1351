// RecordFile: a file to which records are appended, each whole or not at all, also while the disk is full. Owned by who writes it,
// of whom there is one at a time; one thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "messages/env/descriptor.h"
#include "messages/values/status.h"

namespace troupe::observe {

class RecordFile {
 public:
  /// Opens a file, or makes it. Fails with Unavailable if the system refuses.
  static Result<RecordFile> open(std::string path);

  /// Appends a record. If the system refuses, the file stays as it was, and this fails with Unavailable, naming the file.
  Status append(std::string_view record);

 private:
  RecordFile(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  Descriptor file_;
};

}  // namespace troupe::observe
