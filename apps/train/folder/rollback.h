// Rollback: takes a run back to a checkpoint after a loss that is not a finite number. One thread, that of the trainer.
#pragma once

#include <optional>
#include <string>

#include "actors/step/session.h"
#include "messages/env/disk.h"

namespace troupe::train {

class Rollback {
 public:
  /// Sets the variables of the session to their values in the newest checkpoint of the folder or, after rollbacks without a
  /// checkpoint since, in the next older one: the newer ones have not helped. Returns nothing if there is no such checkpoint.
  /// Throws Error.
  std::optional<RestoredCheckpoint> restore(Session& session, Disk& disk, const std::string& folder);
  /// Called when a checkpoint of a run whose last loss is finite is saved.
  void saved() { rollbacks_ = 0; }

 private:
  size_t rollbacks_ = 0;  ///< since the last checkpoint
};

}  // namespace troupe::train
