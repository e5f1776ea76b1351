#include "apps/train/folder/rollback.h"

#include "actors/checkpoint/checkpoint_files.h"

namespace troupe::train {

std::optional<RestoredCheckpoint> Rollback::restore(Session& session, Disk& disk, const std::string& folder) {
  const auto names = value_or_throw(CheckpointFiles(disk, folder).names());
  if (rollbacks_ >= names.size()) return std::nullopt;
  ++rollbacks_;
  return session.restore(folder, names[names.size() - rollbacks_]);
}

}  // namespace troupe::train
