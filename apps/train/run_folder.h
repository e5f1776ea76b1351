// RunFolder: the folder runs/NAME/NNN/ to which a run writes config.toml (the effective run file), metrics.jsonl (one record per
// line) and checkpoints/. An object holds a lock on the folder, so that one training at a time uses it. One thread.
#pragma once

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "messages/env/descriptor.h"
#include "messages/values/status.h"

namespace troupe::train {

class RunFolder {
 public:
  /// Creates the folder with the next free number under `directory`/`name`. Fails with Unavailable if the system refuses.
  static Result<RunFolder> create(const std::string& directory, const std::string& name,
                                  const std::string& effective_config);
  /// Opens an existing folder; metrics are appended. Fails with InvalidArgument if there is no such folder and with AlreadyExists
  /// while another training uses it.
  static Result<RunFolder> open(const std::string& path);
  /// Opens the folder with the highest number. Fails with NotFound if there is none, otherwise as open() does.
  static Result<RunFolder> newest(const std::string& directory, const std::string& name);

  const std::string& path() const { return path_; }
  /// Returns the absolute path of the folder for checkpoints. Other processes, with other working folders, save there, too.
  std::string checkpoints() const;
  /// Appends a line {"step": ..., "key": value, ...} to the metrics.
  void log(uint64_t step, const std::vector<std::pair<std::string, double>>& values);

 private:
  RunFolder(std::string path, Descriptor lock);
  /// Locks an existing folder.
  static Result<RunFolder> claim(const std::string& path);

  std::string path_;
  Descriptor lock_;
  std::ofstream metrics_;
};

}  // namespace troupe::train
