// RunFolder: where a run writes: runs/NAME/NNN/ with config.toml (as it was run), metrics.jsonl (one record a line) and
// checkpoints/. It belongs to one training at a time, which holds a lock on it as long as this lives. One thread.
#pragma once

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "apps/cluster/descriptor.h"
#include "messages/values/status.h"

namespace troupe::train {

class RunFolder {
 public:
  /// The next free number under `directory`/`name`.
  static Result<RunFolder> create(const std::string& directory, const std::string& name,
                                  const std::string& effective_config);
  /// An existing one; its metrics are appended to. InvalidArgument when there is no such folder, AlreadyExists while another
  /// training writes there.
  static Result<RunFolder> open(const std::string& path);
  /// The one with the highest number, or NotFound; else as open().
  static Result<RunFolder> newest(const std::string& directory, const std::string& name);

  const std::string& path() const { return path_; }
  /// Absolute: other processes, which have working folders of their own, save there too.
  std::string checkpoints() const;
  /// Appends {"step": ..., "key": value, ...}, on one line.
  void log(uint64_t step, const std::vector<std::pair<std::string, double>>& values);

 private:
  RunFolder(std::string path, cluster::Descriptor lock);
  /// Locks the folder, which exists.
  static Result<RunFolder> claim(const std::string& path);

  std::string path_;
  cluster::Descriptor lock_;
  std::ofstream metrics_;
};

}  // namespace troupe::train
