// RunRecords: what the folder of a run says of its training: metrics.jsonl, result.json and config.toml. Read once; plain values.
// Blocks as the disk does.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apps/report/chart.h"
#include "messages/env/disk.h"

namespace troupe::report {

struct RunRecords {
  std::string folder;
  std::string name;    ///< as the run file says it, or that of the folder
  std::string config;  ///< the text of config.toml; empty: it is missing
  /// The series of each metric by its name, such as "loss", whose series are "train" and "valid".
  std::map<std::string, std::vector<Series>> curves;
  size_t damaged_lines = 0;  ///< of metrics.jsonl, which are left out
  /// The members of result.json as text, in order; empty: the training has not ended.
  std::vector<std::pair<std::string, std::string>> result;
};

/// Returns the folder of a run: the path itself, that of the run to which a checkpoint belongs, or the newest run in a folder of
/// runs. The run needs no model and no checkpoint. Fails with NotFound if the path is none of these.
Result<std::string> find_run(Disk& disk, const std::string& path);

/// Reads what is there. Fails as the disk does for files that exist.
Result<RunRecords> read_records(Disk& disk, const std::string& folder);

}  // namespace troupe::report
