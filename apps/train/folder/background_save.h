// BackgroundSave: the checkpoint of a run that is written while its training goes on. One thread, that of the trainer.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "actors/step/session.h"
#include "apps/observe/run_monitor.h"

namespace troupe::train {

class BackgroundSave {
 public:
  /// `print` receives lines for the user.
  BackgroundSave(observe::RunMonitor& monitor, std::function<void(const std::string&)> print)
      : monitor_(monitor), print_(std::move(print)) {}

  /// Begins with a checkpoint of this step. The one before must have ended.
  void begin(PendingSave save, uint64_t step);
  /// Returns whether a checkpoint has been written whose end nobody has waited for.
  bool done() const { return saving_ && saving_->done(); }
  /// Returns whether the last checkpoint on disk is of this step.
  bool has_saved(uint64_t step) const { return !folder_.empty() && step_ == step; }
  /// Waits until the checkpoint is on disk, if there is one. Returns why it was not saved.
  Status wait();

  const std::string& folder() const { return folder_; }  ///< of the last checkpoint on disk; empty: none
  uint64_t step() const { return step_; }                ///< its step

 private:
  observe::RunMonitor& monitor_;
  const std::function<void(const std::string&)> print_;
  std::optional<PendingSave> saving_;
  uint64_t saving_step_ = 0;
  std::string folder_;
  uint64_t step_ = 0;
  /// Whether the last checkpoint was not saved. Of a row of failures only the first one is printed.
  bool fails_ = false;
};

}  // namespace troupe::train
