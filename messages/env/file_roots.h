// FileRoots: the folders under which the files that a request or a graph names must lie. Immutable; any thread.
#pragma once

#include <string>
#include <vector>

#include "messages/values/status.h"

namespace troupe {

class FileRoots {
 public:
  /// Relative ones start at the working folder of now. None: files may lie anywhere.
  explicit FileRoots(const std::vector<std::string>& folders = {});

  /// PermissionDenied when the path, its symbolic links followed, leads out of the roots, or has a "..".
  Status check(const std::string& path) const;

 private:
  std::vector<std::string> folders_;  ///< absolute, without links
};

}  // namespace troupe
