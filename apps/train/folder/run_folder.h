// RunFolder: the folder runs/NAME/NNN/ to which a run writes config.toml (the effective run file), metrics.jsonl (one record per
// line), event files of TensorBoard, checkpoints/, model/ (apps/runs/run_model.h) and, while it trains on workers of a cluster,
// live. An object holds a lock on the folder, so that one training at a time uses it. One thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/config/run_config.h"
#include "apps/observe/event_file.h"
#include "apps/observe/record_file.h"
#include "apps/train/folder/progress.h"
#include "messages/env/descriptor.h"
#include "messages/values/status.h"

namespace troupe::train {

/// Returns the number that is the name of a run's folder, or 0 if the name is not a number.
int run_number(std::string_view name);

class RunFolder {
 public:
  /// What a trainer that was started anew needs in order to go on with a training that workers have kept.
  struct Live {
    uint64_t run = 0;   ///< the number by which the workers know the training
    Progress progress;  ///< at the end of the last epoch
  };
  /// Creates the folder with the next free number above `after` under `directory`/`name`. Fails with Unavailable if the system
  /// refuses.
  static Result<RunFolder> create(const std::string& directory, const std::string& name, int after = 0);
  /// Opens the folder with this number, or creates it. Fails as create() and open() do.
  static Result<RunFolder> require(const std::string& directory, const std::string& name, int number);
  /// Opens an existing folder. Fails with AlreadyExists while another training uses it.
  static Result<RunFolder> open(const std::string& path);
  /// Opens the folder with the highest number. Fails with NotFound if there is none of at least `at_least`, otherwise as open()
  /// does.
  static Result<RunFolder> newest(const std::string& directory, const std::string& name, int at_least = 0);

  const std::string& path() const { return path_; }
  /// Returns the absolute path of the folder for checkpoints, or STORE/NAME/NNN if `store` is not empty. Other processes, with
  /// other working folders, save there, too.
  std::string checkpoints(const std::string& store) const;
  /// Begins to write: `effective_config` takes the place of the run file of the folder, metrics are appended, and the result of a
  /// training that now goes on is removed. Until then the folder stays as it is. Fails with Unavailable if the system refuses.
  Status begin(const std::string& effective_config);
  /// Says in a file of the folder where the checkpoints are, if that is a store; otherwise there is no such file. Fails with
  /// Unavailable if the system refuses.
  Status keep_location(const config::Checkpoint& checkpoint) const;
  /// Keeps this in a file of the folder, in place of what was kept before. Fails with Unavailable if the system refuses.
  Status keep(const Live& live) const;
  /// Returns nothing if nothing is kept.
  std::optional<Live> kept() const;
  /// Removes what is kept.
  void forget() const;
  /// Writes the metrics to a file of TensorBoard, too, and the graph of the model (a GraphDef) and the hyperparameters. Fails with
  /// Unavailable if the system refuses.
  Status write_events(std::string_view graph_def, const observe::Hyperparameters& hyperparameters);
  /// Writes to that file, if there is one, how the elements of tensors are distributed.
  void log_histograms(uint64_t step, std::span<const std::pair<std::string, Tensor>> values);
  /// Writes to that file, if there is one, a Summary of TensorFlow.
  void log_summary(uint64_t step, std::string_view summary);
  /// Has a function told, once until metrics are written again, that a record of the metrics or of that file could not be written.
  void report_to(std::function<void(const std::string&)> report) { report_ = std::move(report); }
  /// Appends a line {"step": ..., "time": seconds since 1970, "key": value, ...} to the metrics.
  void log(uint64_t step, const std::vector<std::pair<std::string, double>>& values);
  /// Removes the lines of later steps from the metrics, because the run goes on from this one.
  Status forget_metrics_after(uint64_t step);

 private:
  /// Writes a file of the folder anew, whole or not at all.
  Status replace(const std::string& name, const std::string& text) const;
  RunFolder(std::string path, Descriptor lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  Status append_metrics();
  /// Reports a failure, unless one has been reported since the metrics were last written.
  void note(const Status& status);

  std::string path_;
  Descriptor lock_;
  std::optional<observe::RecordFile> metrics_;  ///< from begin() on
  std::optional<observe::EventFile> events_;
  std::function<void(const std::string&)> report_;
  bool has_failed_ = false;  ///< a record could not be written, which was reported
};

}  // namespace troupe::train
