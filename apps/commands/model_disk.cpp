#include "apps/commands/model_disk.h"

#include <memory>

#include "apps/commands/object_store.h"
#include "apps/inference/model_source.h"
#include "apps/runs/trained_run.h"
#include "messages/objects/s3_disk.h"

namespace troupe::commands {
namespace {

/// Returns the store to which the first of the paths leads.
Result<std::unique_ptr<ObjectDisk>> store_behind(Disk& disk, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (path.starts_with("s3://")) return make_s3_disk(object_store());
    const auto model = runs::find_model(disk, path);
    if (!model) continue;
    const auto location =
        inference::checkpoints_of_run(disk, runs::run_of_checkpoint(disk, *model).value_or(*model));
    if (location.folder.starts_with("s3://"))
      return make_s3_disk(object_store(location.endpoint, location.region));
  }
  return not_found("none of the given paths leads to a store");
}

}  // namespace

ModelDisk::ModelDisk(const std::vector<std::string>& paths) : places_(files_, store_behind(files_, paths)) {}

}  // namespace troupe::commands
