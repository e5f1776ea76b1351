#include "apps/train/open_run_folder.h"

#include "apps/runs/trained_run.h"

namespace troupe::train {
namespace {

/// Returns the highest number of a run of this name whose checkpoints are in the store; 0 if there is none.
Result<int> newest_stored(const config::RunConfig& config, Disk& disk) {
  const std::string& store = config.train.checkpoint.dir;
  if (store.empty()) return 0;
  TROUPE_ASSIGN(const auto entries, disk.list(store + '/' + config.run.name));
  int highest = 0;
  for (const auto& entry : entries) highest = std::max(highest, run_number(entry.name));
  return highest;
}

/// Opens the folder of the run whose checkpoints are at this path of the store.
Result<RunFolder> open_stored(const config::RunConfig& config, const std::string& resume) {
  const std::string runs = config.train.checkpoint.dir + '/' + config.run.name + '/';
  const int number = resume.starts_with(runs) ? run_number(std::string_view(resume).substr(runs.size())) : 0;
  if (config.train.checkpoint.dir.empty() || number == 0)
    return invalid_argument("'" + resume + "' is not a run of this name in train.checkpoint.dir, such as '" +
                            runs + "001'");
  return RunFolder::require(config.run.directory, config.run.name, config.effective_toml(), number);
}

/// Opens the folder of a run that the user names.
Result<RunFolder> open_named(const std::string& resume, Disk& disk) {
  TROUPE_RETURN_IF_FAILED(runs::check_is_folder(disk, resume));
  if (const auto run = runs::run_of_checkpoint(disk, resume))
    return invalid_argument(resume + " is a checkpoint; a run is resumed by its folder, " + *run +
                            ", and goes on from its newest checkpoint");
  return RunFolder::open(resume);
}

}  // namespace

Result<RunFolder> open_run_folder(const config::RunConfig& config, const std::string& resume, Disk& disk) {
  const auto& run = config.run;
  if (resume.starts_with("s3://")) return open_stored(config, resume);
  if (!resume.empty() && resume != "auto") return open_named(resume, disk);
  TROUPE_ASSIGN(const int stored, newest_stored(config, disk));
  if (resume == "auto") {
    auto newest = RunFolder::newest(run.directory, run.name, stored);
    if (newest.status().code() != Code::NotFound) return newest;
    if (stored > 0) return RunFolder::require(run.directory, run.name, config.effective_toml(), stored);
    // There is nothing to resume yet.
  }
  return RunFolder::create(run.directory, run.name, config.effective_toml(), stored);
}

}  // namespace troupe::train
