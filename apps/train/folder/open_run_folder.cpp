#include "apps/train/folder/open_run_folder.h"

#include <filesystem>

#include "apps/interop/write_graph.h"
#include "apps/runs/run_model.h"
#include "apps/runs/trained_run.h"
#include "apps/train/folder/hyperparameters.h"
#include "messages/env/random_id.h"

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

/// Claims the number of a new run, whose checkpoints are to be at this path of the store. Returns false if another run claims it,
/// too. Of several that do so at the same time at most one gets it.
Result<bool> claim(const std::string& run, Disk& disk) {
  const std::string claims = run + "/claims", own = claims + '/' + std::to_string(random_id());
  TROUPE_ASSIGN(NewFile file, NewFile::create(disk, own));
  TROUPE_RETURN_IF_FAILED(file.commit());
  TROUPE_ASSIGN(const auto all, disk.list(claims));
  if (all.size() == 1) return true;
  (void)disk.remove(own);
  return false;
}

/// Creates the folder of a new run. With a store, its number is claimed there.
Result<RunFolder> create_folder(const config::RunConfig& config, int after, Disk& disk) {
  const std::string& store = config.train.checkpoint.dir;
  while (true) {
    TROUPE_ASSIGN(RunFolder folder, RunFolder::create(config.run.directory, config.run.name, after));
    const Result<bool> claimed = store.empty() ? true : claim(folder.checkpoints(store), disk);
    if (claimed.ok() && *claimed) return folder;
    const std::filesystem::path path = folder.path();
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
    TROUPE_RETURN_IF_FAILED(claimed.status());
    after = run_number(path.filename().string());
  }
}

/// Opens the folder of the run whose checkpoints are at this path of the store.
Result<RunFolder> open_stored(const config::RunConfig& config, const std::string& resume) {
  const std::string runs = config.train.checkpoint.dir + '/' + config.run.name + '/';
  const int number = resume.starts_with(runs) ? run_number(std::string_view(resume).substr(runs.size())) : 0;
  if (config.train.checkpoint.dir.empty() || number == 0)
    return invalid_argument("'" + resume + "' is not a run of this name in train.checkpoint.dir, such as '" +
                            runs + "001'");
  return RunFolder::require(config.run.directory, config.run.name, number);
}

bool is_run(const std::string& folder, Disk& disk) { return disk.info(folder + "/config.toml").ok(); }

/// Opens the folder of a run that the user names, or of the newest run in a folder that contains runs.
Result<RunFolder> open_named(const std::string& resume, Disk& disk) {
  TROUPE_RETURN_IF_FAILED(runs::check_is_folder(disk, resume));
  if (const auto run = runs::run_of_checkpoint(disk, resume))
    return invalid_argument(resume + " is a checkpoint; a run is resumed by its folder, " + *run +
                            ", and goes on from its newest checkpoint");
  if (is_run(resume, disk)) return RunFolder::open(resume);
  const auto found = runs::find_model(disk, resume);
  if (found && is_run(*found, disk)) return RunFolder::open(*found);
  if (!disk.info(resume))
    return invalid_argument("there is no run folder " + resume + config::nearest_beside(disk, resume));
  return invalid_argument(resume +
                          " has no config.toml, so it is not the folder of a run, nor does it contain runs; "
                          "--resume takes a folder such as runs/NAME/001 or runs/NAME");
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
    if (stored > 0) return RunFolder::require(run.directory, run.name, stored);
    // There is nothing to resume yet.
  }
  return create_folder(config, stored, disk);
}

Result<interop::MetaGraph> begin_run_folder(RunFolder& folder, const config::RunConfig& config,
                                            const data::Dataset& columns, const Runtime& runtime) {
  TROUPE_ASSIGN(auto model, runs::build_run_model(runtime.services().disk(), config, columns, runtime.ops()));
  TROUPE_RETURN_IF_FAILED(folder.begin(config.effective_toml()));
  TROUPE_RETURN_IF_FAILED(folder.keep_location(config.train.checkpoint));
  TROUPE_RETURN_IF_FAILED(runs::save_run_model(runtime.services().disk(), folder.path(), model.meta));
  if (config.observe.tensorboard)
    TROUPE_RETURN_IF_FAILED(folder.write_events(
        interop::write_graph_def(model.meta.graph, interop::Format::Binary), hyperparameters(config)));
  return std::move(model.meta);
}

}  // namespace troupe::train
