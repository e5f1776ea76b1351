#include "apps/commands/run_file.h"

#include <CLI/CLI.hpp>

#include <cstdio>

#include "apps/commands/command_support.h"
#include "apps/config/cluster_file.h"
#include "apps/runs/run_model.h"
#include "apps/runs/trained_run.h"
#include "apps/train/fit_data.h"
#include "kernels/core/kernel.h"
#include "messages/env/real_disk.h"

namespace troupe::commands {
namespace {

/// Returns a warning about workers that receive no shard of the batches, or an empty string if every worker has one.
std::string idle_workers(const config::RunConfig& config) {
  const auto found = config.cluster.tasks.find("worker");
  const int64_t workers = found == config.cluster.tasks.end() ? 0 : found->second, shards = config.shards();
  const int64_t busy = shards * std::max<int64_t>(1, workers / config.groups());
  if (workers <= busy) return {};
  const std::string idle =
      std::to_string(workers - busy) + " of " + std::to_string(workers) + " workers idle";
  if (config.train.replication.mode == config::ReplicationMode::Local)
    return "train.replication.mode = \"local\" leaves " + idle + "; the other modes use all of them";
  return "train.replication.shards = " + std::to_string(shards) + " leaves " + idle;
}

/// Returns the config of the run that is resumed; nothing if there is none, or if it cannot be read.
std::optional<config::RunConfig> earlier_config(Disk& disk, const config::RunConfig& config,
                                                const std::string& resume,
                                                std::shared_ptr<const OpTable> ops) {
  if (resume.empty()) return {};
  const std::string runs = config.run.directory + '/' + config.run.name;
  const auto folder = runs::find_model(disk, resume == "auto" ? runs : resume);
  if (!folder) return {};
  auto earlier = config::load_run_config(disk, *folder + "/config.toml", {}, std::move(ops));
  return earlier ? std::optional(std::move(*earlier)) : std::nullopt;
}

}  // namespace

void add_run_file(CLI::App& command, RunFile& run) {
  command.add_option("file", run.file, "run file (TOML)")->required();
  command.add_option("--set", run.set, "override a value of the run file: --set train.max_epochs=3")
      ->take_all();
  command.add_flag(
      "--json", run.json,
      "print the result or the error as one line of JSON; numbers that JSON lacks, such as NaN, are null");
}

Result<config::RunConfig> load(const RunFile& run, const std::string& resume) {
  const auto library = make_op_library();
  TROUPE_RETURN_IF_FAILED(library->status);
  RealDisk disk;
  std::vector<std::string> set = run.set;
  TROUPE_ASSIGN(auto config, config::load_run_config(disk, run.file, set, library->ops));
  const auto add = [&](const std::vector<std::string>& settings) -> Status {
    if (settings.empty()) return {};
    set.insert(set.end(), settings.begin(), settings.end());
    TROUPE_ASSIGN(config, config::load_run_config(disk, run.file, set, library->ops));
    return {};
  };
  if (const auto earlier = earlier_config(disk, config, resume, library->ops))
    TROUPE_RETURN_IF_FAILED(add(train::fitted_before(config, *earlier)));
  TROUPE_ASSIGN(const auto fitted, train::fit_data(disk, config));
  TROUPE_RETURN_IF_FAILED(add(fitted));
  return config;
}

void leave_cache(config::RunConfig& config) {
  if (config.cache == config::Cache::File) config.cache = config::Cache::None;
}

int failed_to_load(const Status& status, bool json) {
  return failed(status, json, status.code() == Code::InvalidArgument ? bad_usage : bad_data);
}

void warn_of_idle_tasks(const config::RunConfig& config) {
  std::vector<std::string> warnings;
  for (const auto& [job, tasks] : config.cluster.tasks)
    if (const Status status = config::check_training_job(job); !status.ok())
      warnings.push_back(status.text());
  if (std::string idle = idle_workers(config); !idle.empty()) warnings.push_back(std::move(idle));
  for (const auto& warning : warnings) std::fprintf(stderr, "troupe: %s\n", warning.c_str());
}

void warn_of_model(const config::RunConfig& config, const data::SampleSet& samples) {
  if (samples.samples() > 0 && config.batch > samples.samples())
    std::fprintf(
        stderr,
        "troupe: data.batch = %lld is more than the %lld samples to train on: a step uses all of them\n",
        static_cast<long long>(config.batch), static_cast<long long>(samples.samples()));
  const auto model = runs::build_run_model(config, samples.columns(), make_op_library()->ops);
  if (!model) return;  // the graph for training has the same mistakes
  for (const std::string& warning : model->warnings) std::fprintf(stderr, "troupe: %s\n", warning.c_str());
}

}  // namespace troupe::commands
