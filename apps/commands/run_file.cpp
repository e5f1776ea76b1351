#include "apps/commands/run_file.h"

#include <CLI/CLI.hpp>

#include <cstdio>

#include "apps/commands/command_support.h"
#include "apps/runs/run_file.h"
#include "messages/env/real_disk.h"

namespace troupe::commands {

void add_run_file(CLI::App& command, RunFile& run) {
  command.add_option("file", run.file, "run file (TOML)")->required();
  command.add_option("--set", run.set, "override a value of the run file: --set train.max_epochs=3")
      ->take_all();
  command.add_flag(
      "--json", run.json,
      "print the result or the error as one line of JSON; numbers that JSON lacks, such as NaN, are null");
}

Result<config::RunConfig> load(const RunFile& run, const std::string& resume) {
  RealDisk disk;
  TROUPE_ASSIGN(const auto file, runs::read_run_file(disk, run.file));
  return runs::load_run_file(disk, file, run.set, resume);
}

int failed_to_load(const Status& status, bool json) {
  return failed(status, json, status.code() == Code::InvalidArgument ? bad_usage : bad_data);
}

Status warn_of_run(Disk& disk, const config::RunConfig& config, const data::TrainAndValid& data, bool quiet) {
  TROUPE_ASSIGN(const auto warnings, runs::warnings_of_run(disk, config, data));
  for (const std::string& warning : warnings)
    if (!quiet) std::fprintf(stderr, "troupe: %s\n", warning.c_str());
  return {};
}

}  // namespace troupe::commands
