#include "apps/commands/trained_run_options.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>

#include "apps/config/run_config.h"

namespace troupe::commands {
namespace {

/// Fails with InvalidArgument if a value is for a key of another table of the run file than [data]. Keys that no run file has are
/// left to who reads the run file.
Status check_settings(const std::vector<std::string>& settings) {
  const auto keys = config::run_schema();
  for (const std::string& setting : settings) {
    const std::string path = setting.substr(0, setting.find('=')), table = path.substr(0, path.find('.'));
    const auto is_in_table = [&](const config::Key& key) { return key.path.starts_with(table + '.'); };
    if (table == "data" || std::ranges::none_of(keys, is_in_table)) continue;
    std::string mistake = "--set " + path;
    mistake.append(": with a trained model only keys of [data] have an effect, such as data.delimiter; ");
    return invalid_argument(mistake.append(path).append(" has none"));
  }
  return {};
}

}  // namespace

void add_trained_run(CLI::App& command, TrainedRunOptions& options) {
  command
      .add_option(
          "run", options.run,
          "folder of a run (runs/digits/001), of a checkpoint of it, or of runs, whose newest is taken")
      ->required();
  command
      .add_option("--set", options.set,
                  "override a value of the run file that concerns the data: --set 'data.delimiter=;'")
      ->take_all();
  command.add_option("--threads", options.threads, "compute threads (one per core)")
      ->check(CLI::Range(1, 1024));
  command.add_flag("--json", options.json, "print the result or the error as one line of JSON");
}

Status check_trained_run(Disk& disk, const TrainedRunOptions& options) {
  TROUPE_RETURN_IF_FAILED(runs::check_is_folder(disk, options.run));
  return check_settings(options.set);
}

Result<runs::TrainedRun> open(Disk& disk, const TrainedRunOptions& options) {
  TROUPE_RETURN_IF_FAILED(check_trained_run(disk, options));
  auto run = runs::open_trained_run(disk, options.run, options.set, {.threads = options.threads});
  if (!run) return run;
  for (const std::string& checkpoint : run->damaged)
    std::fprintf(stderr, "troupe: the checkpoint %s is damaged; the weights are those of %s\n",
                 checkpoint.c_str(), run->model.source().c_str());
  return run;
}

}  // namespace troupe::commands
