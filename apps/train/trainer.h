// Trainer: trains the model of a run file: graph, session, epochs, evaluation, early stopping, checkpoints and logs. (The part of a
// worker of a cluster is in apps/services/trainer.h.) All results depend only on the run file, the data and the step, so a resumed
// run yields the same bits as an uninterrupted one. One thread per run.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "actors/cluster.h"
#include "apps/config/run_config.h"
#include "apps/data/load.h"
#include "apps/interop/meta_graph.h"
#include "apps/observe/run_control.h"
#include "apps/observe/run_monitor.h"
#include "messages/objects/s3_options.h"

namespace troupe::train {

struct TrainerOptions {
  /// Empty: a new run; "auto": the newest run of this name; otherwise the folder of a run, one that contains runs, of which the
  /// newest goes on, or that of its checkpoints in a store. A run that cannot go on keeps its files as they are.
  /// A run goes on from where its workers are if they have kept its training (live_training.h), otherwise from its last
  /// checkpoint.
  std::string resume;
  /// 0: a full run; otherwise the number of steps to run without writing anything.
  int64_t dry_run_steps = 0;
  size_t memory = 0;  ///< the limit of this process in bytes; see RuntimeOptions::memory
  /// The store of checkpoints whose folder is "s3://...".
  std::optional<S3Options> s3 = {};
  /// The cluster to use, whose tasks are those of config.cluster. Not set: all tasks are in this process.
  std::optional<ClusterSpec> cluster = {};
  /// Restarts the lost processes of the cluster and those of the tasks `silent`, which do not answer. Empty: the processes are
  /// restarted elsewhere, if at all.
  std::function<Status(const std::vector<std::string>& silent)> recover = {};
  /// Returns whether a process of the cluster has ended, so that waiting for the cluster is useless. Empty: unknown.
  std::function<bool()> lost = {};
  const std::atomic<bool>* stop = nullptr;  ///< if set to true, the run saves and ends after the current step
  std::function<void(const std::string&)> line;  ///< if not empty, receives lines of text for the user
  /// If not empty, receives in place of `line` what a user must know even if the other lines are not wanted: data are damaged.
  std::function<void(const std::string&)> warning = {};
  /// If not empty, receives lines that describe the progress, one per interval at most.
  std::function<void(const std::string&)> progress;
  std::chrono::nanoseconds progress_interval = std::chrono::milliseconds(200);
  /// If not empty, receives what each evaluation has yielded, at the end of an epoch or of the run.
  std::function<void(const observe::Scores&)> scored;
  observe::RunMonitor* monitor = nullptr;  ///< if set, learns what the run does
  observe::RunControl* control = nullptr;  ///< if set, says what the run is to do
  /// If not empty, is told the folder of the run and the model, as those use it who have it afterwards.
  std::function<void(const std::string& folder, const interop::MetaGraph& model)> opened = {};
};

enum class Ending : uint8_t { Completed, EarlyStopped, Stopped, Diverged };

struct TrainingResult {
  Ending ending = Ending::Completed;
  std::string reason;  ///< why the training diverged; otherwise empty
  uint64_t steps = 0, epochs = 0;
  double seconds = 0;        ///< the time of training steps and evaluations
  double step_seconds = 0;   ///< the time of training steps
  double input_seconds = 0;  ///< the part of it in which the steps waited for batches
  double loss = 0;           ///< the loss of the last step
  double epoch_loss = 0;     ///< the mean loss of the steps of the last epoch
  /// "valid/loss", "valid/accuracy" and so on, of the final variables.
  std::vector<std::pair<std::string, double>> evaluation;
  std::string folder;            ///< the folder of the run; empty for a dry run
  std::string checkpoint;        ///< the folder of the last checkpoint; empty: none
  uint64_t checkpoint_step = 0;  ///< the step of the last checkpoint
};

/// Trains. `data` is the result of data::load() for config.data. A run that loses a process of its cluster continues from its last
/// checkpoint, at most train.fault.max_restarts times. Fails with InvalidArgument if the run file is wrong, with NotFound or
/// DataLoss if checkpoints are missing or damaged, otherwise with the error of a step.
Result<TrainingResult> train(const config::RunConfig& config, const data::TrainAndValid& data,
                             const TrainerOptions& options);

}  // namespace troupe::train
