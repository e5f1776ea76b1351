#include "apps/serve/versions.h"

#include "actors/checkpoint/checkpoint_files.h"
#include "apps/inference/model_source.h"

namespace troupe::serve {
namespace {

/// Returns the checkpoints of a run, by their steps.
Result<std::vector<VersionPlace>> checkpoints_of(Disk& disk, const std::string& run) {
  const CheckpointFiles files(disk, inference::checkpoints_of_run(disk, run).folder);
  TROUPE_ASSIGN(const auto names, files.names());
  std::vector<VersionPlace> versions;
  Status damage;
  for (const std::string& name : names) {
    if (const auto manifest = files.manifest(name))
      versions.push_back({static_cast<int64_t>(manifest->round), files.path(name)});
    else  // it is damaged, or was deleted meanwhile
      damage = manifest.status();
  }
  if (versions.empty() && damage.code() == Code::DataLoss) return damage;
  if (versions.empty()) return inference::without_checkpoint(disk, run);
  return versions;
}

}  // namespace

Result<std::vector<VersionPlace>> find_versions(Disk& disk, const std::string& path) {
  const auto kind = inference::kind_of(disk, path);
  if (kind == inference::ModelKind::SavedModel) return std::vector{VersionPlace{1, path}};
  if (kind == inference::ModelKind::Run) return checkpoints_of(disk, path);
  TROUPE_ASSIGN(const auto models, inference::numbered_models(disk, path));
  std::vector<VersionPlace> versions;
  for (const auto& [number, folder] : models)
    if (inference::kind_of(disk, folder) != inference::ModelKind::Run || checkpoints_of(disk, folder).ok())
      versions.push_back({number, folder});
  if (versions.empty())
    return not_found(path + " is neither a run, nor a saved model, nor a folder with numbered ones");
  return versions;
}

}  // namespace troupe::serve
