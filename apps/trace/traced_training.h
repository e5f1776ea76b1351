// Traces steps of the training of a run file: one graph over all tasks, in this process or in processes of this machine. Blocks
// while the steps run. One thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "apps/trace/trace_json.h"
#include "messages/env/disk.h"

namespace troupe::trace {

struct TrainingTrace {
  std::string file;
  std::vector<std::string> set;  ///< values of --set
  /// Processes to start: "ps" -> 1; empty: those of the run file, in this process.
  std::map<std::string, int> tasks;
  std::string program;  ///< the path of this program, to start processes with
  size_t memory = 0;
  int64_t steps = 10, warmup = 3;  ///< the steps that are traced, and those before them
};

/// Fails as reading the run file and its data does, with Unavailable if processes cannot be started, and as steps do.
Result<std::vector<TracedStep>> trace_training(Disk& disk, const TrainingTrace& options);

}  // namespace troupe::trace
