#include "apps/commands/trained_run_options.h"

#include <CLI/CLI.hpp>

namespace troupe::commands {

void add_trained_run(CLI::App& command, TrainedRunOptions& options) {
  command
      .add_option(
          "run", options.run,
          "folder of a run (runs/digits/001), of a checkpoint of it, or of runs, whose newest is taken")
      ->required();
  command
      .add_option("--set", options.set,
                  "override a value of the run file that concerns the data: --set data.delimiter=;")
      ->take_all();
  command.add_option("--threads", options.threads, "compute threads (one per core)")
      ->check(CLI::Range(1, 1024));
  command.add_flag("--json", options.json, "print the result or the error as one line of JSON");
}

Result<runs::TrainedRun> open(Disk& disk, const TrainedRunOptions& options) {
  return runs::open_trained_run(disk, options.run, options.set, {.threads = options.threads});
}

}  // namespace troupe::commands
