// Trainer: carries out a run file for whoever started it: data, graph, session, epochs, evaluation, early stopping, checkpoints,
// logs (a worker's part in a cluster: apps/services/trainer.h). One per run, one thread. Everything it does is a function of the
// run file, the data and the step: a resumed run goes on bit by bit as an undisturbed one would have.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "actors/net/cluster.h"
#include "apps/config/run_config.h"
#include "apps/data/load.h"

namespace troupe::train {

struct TrainerOptions {
  std::string resume;         ///< "": a new run; "auto": the newest one of this name; or a run's folder
  int64_t dry_run_steps = 0;  ///< 0: a real run; else so many steps, and nothing is written
  size_t memory = 0;          ///< of this process, see RuntimeOptions
  std::optional<ClusterSpec> cluster =
      {};  ///< its tasks are those of config.cluster; none: all in this process
  /// Brings back the processes of the cluster that are lost, given the tasks that do not answer; empty: somebody else does.
  std::function<Status(const std::vector<std::string>& silent)> recover = {};
  /// Whether a process of the cluster is lost: then there is no use in waiting for all to be there. Empty: nobody knows.
  std::function<bool()> lost = {};
  const std::atomic<bool>* stop = nullptr;       ///< set by a signal: save and end after the step at hand
  std::function<void(const std::string&)> line;  ///< for people: one line each
  std::function<void(const std::string&)>
      progress;  ///< a line that replaces the one before it; empty: not on a terminal
};

enum class Ending : uint8_t { Completed, EarlyStopped, Stopped, Diverged };

struct TrainingResult {
  Ending ending = Ending::Completed;
  uint64_t steps = 0, epochs = 0;
  double seconds = 0;                                      ///< in training steps and evaluations
  double loss = 0;                                         ///< of the last step
  std::vector<std::pair<std::string, double>> evaluation;  ///< "valid/loss", "valid/accuracy", ... as kept
  std::string folder;                                      ///< of the run; empty for a dry run
  std::string checkpoint;                                  ///< the last one saved; empty: none
  uint64_t checkpoint_step = 0;                            ///< of which it is
};

/// A run that loses a process of its cluster goes on from its last checkpoint, as often as train.fault.max_restarts allows.
/// InvalidArgument for the run file, NotFound and DataLoss for checkpoints, else whatever a step failed with. `data` is what
/// data::load made of config.data.
Result<TrainingResult> train(const config::RunConfig& config, const data::TrainAndValid& data,
                             const TrainerOptions& options);

}  // namespace troupe::train
