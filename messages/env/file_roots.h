// FileRoots: the folders in which all files named by requests and graphs must lie. Immutable; any thread may call check().
#pragma once

#include <string>
#include <vector>

#include "messages/values/status.h"

namespace troupe {

class FileRoots {
 public:
  /// Relative folders start at the current working folder. If there are no folders, files may lie anywhere. Throws Error:
  /// InvalidArgument, naming the folder, if it cannot be told where one of them lies.
  explicit FileRoots(const std::vector<std::string>& folders = {});

  /// Fails with InvalidArgument for a NUL byte, with PermissionDenied for "..", or if its symbolic links lead out of the folders.
  Status check(const std::string& path) const;

 private:
  std::vector<std::string> folders_;  ///< absolute, with symbolic links followed
};

}  // namespace troupe
