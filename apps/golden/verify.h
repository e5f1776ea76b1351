// Verify: golden cases run one after another, in this process or over processes of this machine, and what came of each. One thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "messages/env/disk.h"

namespace troupe::golden {

struct Verdict {
  std::string name;  ///< the folder of the case
  std::vector<std::string>
      failures;       ///< one for each step that failed, or why none could run; none: it passed
  std::string lacks;  ///< why it was not run, as the case says itself; empty: it was
  double seconds = 0;
};

struct VerifyOptions {
  std::vector<std::string> paths;    ///< folders of cases, or with such below them
  std::map<std::string, int> tasks;  ///< "ps" -> 1: processes to be started; none: all in this one
  std::string program;               ///< what those are started from
  size_t memory = 0;                 ///< of each process, see RuntimeOptions
};

/// Calls `told` after each case. NotFound when there is none; what starting the processes fails with.
Status verify(Disk& disk, const VerifyOptions& options, const std::function<void(const Verdict&)>& told);

}  // namespace troupe::golden
