// RunFolder: where a run writes: runs/NAME/NNN/ with config.toml (as it was run), metrics.jsonl (one record a line) and
// checkpoints/. One thread.
#pragma once

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "messages/status.h"

namespace troupe::train {

class RunFolder {
 public:
  /// The next free number under `directory`/`name`.
  static Result<RunFolder> create(const std::string& directory, const std::string& name,
                                  const std::string& effective_config);
  /// An existing one; its metrics are appended to.
  static Result<RunFolder> open(const std::string& path);
  /// The one with the highest number, or NotFound.
  static Result<RunFolder> newest(const std::string& directory, const std::string& name);

  const std::string& path() const { return path_; }
  /// Absolute: other processes, which have working folders of their own, save there too.
  std::string checkpoints() const;
  /// Appends {"step": ..., "key": value, ...}; numbers that JSON lacks (NaN, infinities) are written as null.
  void log(uint64_t step, const std::vector<std::pair<std::string, double>>& values);

 private:
  explicit RunFolder(std::string path);
  std::string path_;
  std::ofstream metrics_;
};

}  // namespace troupe::train
