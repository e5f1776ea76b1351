// Verify: runs golden cases one after another, in this process or on several processes of this machine, and reports the results.
// One thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "messages/env/disk.h"

namespace troupe::golden {

struct Verdict {
  std::string name;  ///< the folder of the case
  /// A text for each step that failed, or the reason why no step could run; empty if the case passed.
  std::vector<std::string> failures;
  std::string lacks;  ///< which ops Troupe lacks, if that is why the case was not run; otherwise empty
  double seconds = 0;
};

struct VerifyOptions {
  std::vector<std::string> paths;    ///< folders that are cases or contain cases
  std::map<std::string, int> tasks;  ///< processes to start, such as "ps" -> 1; empty: run in this process
  std::string program;               ///< the program that the processes run
  size_t memory = 0;                 ///< the limit of each process in bytes; see RuntimeOptions::memory
};

/// Runs all cases and calls `report` after each. Fails with NotFound if a path contains no case, and with the error of
/// Processes::start() if the processes cannot be started.
Status verify(Disk& disk, const VerifyOptions& options, const std::function<void(const Verdict&)>& report);

}  // namespace troupe::golden
