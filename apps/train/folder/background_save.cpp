#include "apps/train/folder/background_save.h"

#include <utility>

namespace troupe::train {

void BackgroundSave::begin(PendingSave save, uint64_t step) {
  saving_ = std::move(save);
  saving_step_ = step;
}

Status BackgroundSave::wait() {
  if (!saving_) return {};
  const observe::PhaseScope saving(monitor_, observe::Phase::Saving);
  try {
    const SavedCheckpoint saved = std::exchange(saving_, {})->wait();
    if (!saved.problem.empty()) print_("old checkpoints could not be deleted: " + saved.problem);
    folder_ = saved.folder;
    step_ = saving_step_;
    monitor_.saved(folder_, step_);
    if (std::exchange(fails_, false))
      print_("checkpoints are written again: that of step " + std::to_string(step_) + " is saved");
    return {};
  } catch (const Error& error) {
    if (!std::exchange(fails_, true))
      print_("the checkpoint of step " + std::to_string(saving_step_) +
             " was not saved: " + error.status().message());
    return error.status();
  }
}

}  // namespace troupe::train
