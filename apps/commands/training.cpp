#include "apps/commands/training.h"

#include <unistd.h>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "apps/checkpoints/stored_values.h"
#include "apps/cluster/local_cluster.h"
#include "apps/cluster/neighbours.h"
#include "apps/cluster/processes.h"
#include "apps/commands/command_support.h"
#include "apps/commands/object_store.h"
#include "apps/commands/rank_options.h"
#include "apps/commands/watched_training.h"
#include "apps/config/cluster_file.h"
#include "apps/config/mistake_places.h"
#include "apps/data/file_patterns.h"
#include "apps/runs/run_file.h"
#include "apps/runs/run_result.h"
#include "apps/text/score_text.h"
#include "apps/train/data/train_data.h"
#include "apps/train/trainer.h"
#include "devices/memory_budget.h"
#include "messages/env/real_disk.h"

namespace troupe::commands {
namespace {

constexpr const char* clear_line = "\r\033[K";

nlohmann::ordered_json as_json(const train::TrainingResult& result) {
  nlohmann::ordered_json object = runs::as_json(result);
  if (result.ending == train::Ending::Stopped) object["signal"] = name_of(stop_signal());
  return object;
}

/// Says from where a run that has failed can go on.
void print_way_on(const std::string& run) {
  RealDisk disk;
  const auto saved = checkpoints::list_checkpoints(disk, run);
  if (saved)
    std::fprintf(stderr, "troupe: %s has a checkpoint of step %llu, from which --resume auto goes on\n",
                 run.c_str(), static_cast<unsigned long long>(saved->back().round));
  else if (saved.status().code() == Code::NotFound)
    std::fprintf(
        stderr,
        "troupe: %s has no checkpoint yet: --resume auto begins anew; train.checkpoint.every says how "
        "often they are saved\n",
        run.c_str());
}

/// Reports the failure of a training, and keeps it as its result. Returns the exit code.
int failed_training(const config::RunConfig& config, const Status& status, WatchedTraining& watched,
                    bool json) {
  const bool stopped = stop_signal() != 0 && status.code() == Code::Cancelled;
  const int code = stopped ? exit_code_of(stop_signal()) : Error(status).exit_code();
  watched.ended(stopped ? "stopped" : "failed");
  const observe::RunSnapshot run = watched.snapshot();
  (void)runs::keep_result(run.folder, runs::failed_result(stopped ? "stopped" : "failed", status, code, run));
  const int result = failed(status, json, code);
  const bool may_go_on = !stopped && retry_may_help(status.code()) && config.train.checkpoint.dir.empty();
  if (may_go_on && !json && !run.folder.empty()) print_way_on(run.folder);
  return result;
}

/// Reports which checkpoint exists after a signal has ended the training in order.
void print_stopped(const train::TrainingResult& result) {
  const std::string saved = result.checkpoint.empty() ? "no checkpoint was saved"
                            : result.checkpoint_step == result.steps
                                ? "saved " + result.checkpoint
                                : "no later step than that of " + result.checkpoint + " was saved";
  std::fprintf(stderr, "troupe: stopped by %s after step %llu: %s\n", name_of(stop_signal()),
               static_cast<unsigned long long>(result.steps), saved.c_str());
}

void print_summary(const train::TrainingResult& result) {
  std::printf("%s after %s (%s) in %.2f s%s  waiting for data %.1f %% of the steps\n",
              runs::name(result.ending), count_text(result.steps, "step").c_str(),
              count_text(result.epochs, "epoch").c_str(), result.seconds,
              score_texts(result.evaluation).c_str(), 100 * runs::input_share(result));
  if (!result.folder.empty()) std::printf("written to %s\n", result.folder.c_str());
}

/// Says that a run that was resumed had ended before, and which keys to raise so that it goes on.
void print_nothing_left(const config::Train& limits, const train::TrainingResult& result) {
  const auto steps = static_cast<unsigned long long>(result.steps);
  if (result.ending == train::Ending::EarlyStopped) {
    const auto patience = static_cast<long long>(limits.early_stop->monitor.patience);
    std::fprintf(
        stderr,
        "troupe: %s had stopped early before (after %llu steps), so that nothing is left to train; raise "
        "train.early_stop.patience = %lld, for example with --set train.early_stop.patience=%lld\n",
        result.folder.c_str(), steps, patience, 2 * patience);
    return;
  }
  std::string reached, options;
  const auto add = [&](const std::string& key, const std::optional<int64_t>& limit, uint64_t done) {
    if (!limit || done < static_cast<uint64_t>(*limit)) return;
    reached += (reached.empty() ? "" : " and ") + key + " = " + std::to_string(*limit);
    options += " --set " + key + '=' + std::to_string(2 * done);
  };
  add("train.max_epochs", limits.max_epochs, result.epochs);
  add("train.max_steps", limits.max_steps, result.steps);
  std::fprintf(stderr,
               "troupe: %s had made all of its steps before (%llu), so that nothing is left to train; raise "
               "%s, for example with%s\n",
               result.folder.c_str(), steps, reached.c_str(), options.c_str());
}

/// Returns whether a run was resumed that had made all of its steps, or had stopped early, before.
bool had_ended(const TrainArguments& arguments, const train::TrainingResult& result) {
  const bool has_ended =
      result.ending == train::Ending::Completed || result.ending == train::Ending::EarlyStopped;
  return !arguments.resume.empty() && has_ended && !(result.step_seconds > 0);
}

/// Returns the files and folders that a run reads and writes.
std::vector<std::string> files_of(const config::RunConfig& config, const std::string& resume) {
  std::vector<std::string> files = {config.run.directory};
  if (!config.cache_folder.empty()) files.push_back(config.cache_folder);
  if (!config.train.checkpoint.dir.empty()) files.push_back(config.train.checkpoint.dir);
  if (!resume.empty() && resume != "auto" && !resume.starts_with("s3://")) files.push_back(resume);
  const data::Options& data = config.data;
  for (const auto* list :
       {&data.train, &data.train_labels, &data.valid, &data.valid_labels, &data.test, &data.test_labels})
    for (const std::string& path : *list)
      files.push_back(data::is_pattern(path) ? data::folder_of_pattern(path) : path);
  for (const data::RaggedColumn& column : config.ragged)
    files.insert(files.end(), column.vocabulary.begin(), column.vocabulary.end());
  return files;
}

/// Returns the options that all nodes of the run have in common. The threads are still to be divided among them.
cluster::NodeOptions common_options(const config::RunConfig& config, const train::TrainerOptions& options) {
  cluster::NodeOptions common;
  common.devices = static_cast<int>(config.devices());
  common.threads = static_cast<size_t>(config.run.threads);
  common.memory = options.memory;
  common.gpus = config.run.gpus;
  common.tf32 = config.run.tf32;
  common.roots = files_of(config, options.resume);
  common.s3 = options.s3;
  common.heartbeat = config.train.fault.heartbeat;
  common.owner = cluster::owner_task();
  return common;
}

/// Finds the place of this process among its ranks.
Result<cluster::ResolvedCluster> find_place(const TrainArguments& arguments) {
  RealDisk disk;
  cluster::ResolverOptions wanted = arguments.resolver;
  wanted.cluster_file = arguments.cluster;
  wanted.first_trains = true;
  return cluster::resolve_cluster(wanted, disk, environment_variable);
}

/// Runs the node of this rank until the training of rank 0 has ended. A signal may reach all ranks: rank 0 ends the run in order,
/// and this node goes on until then; a second signal kills it. Returns the exit code.
int serve(const cluster::ResolvedCluster& place, cluster::NodeOptions node, bool json) {
  node.cluster = place.cluster;
  node.job = place.job;
  node.task = place.task;
  node.neighbours = cluster::neighbours_of(place.cluster, place.job, place.task);
  node.threads = cluster::share_of(node.threads, node.neighbours.processes);
  ++node.neighbours.processes;  // rank 0
  stop_on_signals();
  const Status status = cluster::run_node(node, [] { return false; });
  return status.code() == Code::Aborted ? 0 : failed(status, json);
}

/// Returns the cluster of `place`, if it is given, or else the one that the arguments describe, with the processes to start for it;
/// nothing if the run uses no cluster.
Result<std::optional<cluster::ClusterPlan>> plan_cluster(const TrainArguments& arguments,
                                                         const std::optional<cluster::ResolvedCluster>& place,
                                                         const cluster::NodeOptions& common) {
  const std::string program = this_program();
  RealDisk disk;
  cluster::ClusterPlan plan;
  if (place) {
    plan.spec = place->cluster;
  } else if (!arguments.local.empty()) {
    TROUPE_ASSIGN(const auto tasks, parse_training_tasks(arguments.local));
    TROUPE_ASSIGN(plan, cluster::plan_local(program, tasks, common));
  } else if (arguments.launch) {
    auto launch = *arguments.launch;
    launch.program = program;
    launch.cluster_file = arguments.cluster;
    TROUPE_ASSIGN(plan, cluster::plan_launch(launch, common, disk));
  } else if (!arguments.cluster.empty()) {
    TROUPE_ASSIGN(plan.spec, config::load_cluster(disk, arguments.cluster, cluster::owner_job, 0));
  } else {
    return std::optional<cluster::ClusterPlan>();
  }
  return std::optional(std::move(plan));
}

/// Lets the trainer print lines and its progress: on a terminal a line that is drawn anew, otherwise a line every ten seconds.
void show_progress(train::TrainerOptions& options, bool terminal) {
  options.line = [terminal](const std::string& line) {
    std::printf("%s%s\n", terminal ? clear_line : "", line.c_str());
    std::fflush(stdout);
  };
  if (!terminal) {
    options.progress = options.line;
    options.progress_interval = std::chrono::seconds(10);
    return;
  }
  options.progress = [](const std::string& line) {
    std::printf("%s%s", clear_line, cut_to_terminal(line).c_str());
    std::fflush(stdout);
  };
}

/// Adds to the error of a step which process has ended and how, if one has. The step may fail before the system reports the end of
/// the process, so this function waits up to half a second for that.
Status with_loss(const Status& status, const cluster::Processes* nodes) {
  const bool gone = nodes && retry_may_help(status.code());
  const std::string loss =
      gone ? nodes->loss_behind(status.message(), std::chrono::milliseconds(500)) : std::string();
  return loss.empty() ? status : Status(status.code(), loss + "; " + status.message());
}

}  // namespace

std::optional<S3Options> store_of(const config::RunConfig& config) {
  const auto& checkpoint = config.train.checkpoint;
  if (checkpoint.dir.empty()) return {};
  return object_store(checkpoint.endpoint, checkpoint.region);
}

void add_run_options(CLI::App& command, TrainArguments& arguments) {
  add_run_file(command, arguments.run);
  command.add_option(
      "--resume", arguments.resume,
      "continue a run: its folder, that of all runs of a name, of which the newest goes on, that of its "
      "checkpoints (s3://...), or 'auto' for the newest run of this name");
  command.add_option("--dry-run", arguments.dry_run_steps, "run this number of steps and write nothing")
      ->check(CLI::PositiveNumber);
  command.add_flag("-q,--quiet", arguments.quiet, "print only the result and errors");
  add_memory(command, arguments.memory);
  add_transport(command, arguments.transport);
}

ClusterOptions add_cluster_options(CLI::App& command, TrainArguments& arguments) {
  auto* local =
      command.add_option("--local", arguments.local,
                         "use processes of this machine, which start and end with the run: ps=1,worker=2");
  auto* file = command
                   .add_option("--cluster", arguments.cluster,
                               "use the nodes of a cluster file, which must be running")
                   ->excludes(local);
  return {local, file};
}

Result<std::unique_ptr<cluster::Processes>> start_nodes(const TrainArguments& arguments,
                                                        const std::optional<cluster::ResolvedCluster>& place,
                                                        config::RunConfig& config,
                                                        train::TrainerOptions& options) {
  std::unique_ptr<cluster::Processes> nodes;
  TROUPE_ASSIGN(auto plan, plan_cluster(arguments, place, common_options(config, options)));
  if (!plan) return nodes;
  plan->spec.transport = arguments.transport;
  for (auto& process : plan->processes) process.node.cluster.transport = arguments.transport;
  TROUPE_RETURN_IF_FAILED(config::check_training_jobs(plan->spec));
  options.cluster = plan->spec;
  config.use_tasks(config::tasks_of(plan->spec), true);
  if (plan->processes.empty()) return nodes;
  for (const auto& process : plan->processes)
    if (process.host.empty() && options.memory == 0)
      options.memory = default_memory_cap(process.node.neighbours.processes);
  TROUPE_ASSIGN(nodes, cluster::Processes::start(std::move(plan->processes), options.line));
  options.recover = [started = nodes.get()](const auto& silent) { return started->restart(silent); };
  options.lost = [started = nodes.get()] { return started->has_loss({}); };
  return nodes;
}

int train(const TrainArguments& arguments) {
  auto config = load(arguments.run, arguments.resume);
  if (!config) return failed(config.status(), arguments.run.json);
  if (arguments.dry_run_steps > 0) runs::leave_cache(*config);
  train::TrainerOptions options;
  options.resume = arguments.resume;
  options.s3 = store_of(*config);
  options.memory = arguments.memory;
  std::optional<cluster::ResolvedCluster> place;
  if (arguments.ranks) {
    auto found = find_place(arguments);
    if (!found) return failed(found.status(), arguments.run.json);
    place = std::move(*found);
    place->cluster.transport = arguments.transport;
    if (place->job != cluster::owner_job)
      return serve(*place, common_options(*config, options), arguments.run.json);
  }
  RealDisk disk;
  auto data = train::load_data(disk, *config);
  if (!data) return failed_to_load(data.status(), arguments.run.json);
  options.dry_run_steps = arguments.dry_run_steps;
  options.stop = &stop_on_signals();
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  options.warning = [](const std::string& line) { std::fprintf(stderr, "troupe: %s\n", line.c_str()); };
  if (!arguments.quiet && !arguments.run.json) show_progress(options, terminal);
  auto watched = WatchedTraining::begin(*config, options);
  if (!watched) return failed(watched.status(), arguments.run.json);
  auto nodes = start_nodes(arguments, place, *config, options);
  if (!nodes) return failed(nodes.status(), arguments.run.json);
  Status status = warn_of_run(disk, *config, *data, arguments.quiet);
  if (!status.ok()) return failed_to_load(status, arguments.run.json);
  auto result = train::train(*config, *data, options);
  if (options.progress && terminal) std::printf("%s", clear_line);
  if (!result)
    return failed_training(*config,
                           with_loss(config::with_definition(*config, result.status()), nodes->get()),
                           **watched, arguments.run.json);
  status = runs::add_test_scores(*config, *result);
  (*watched)->ended(runs::name(result->ending));
  if (status.ok()) status = runs::keep_result(result->folder, as_json(*result));
  if (!status.ok()) return failed(status, arguments.run.json);
  if (had_ended(arguments, *result) && !arguments.run.json) print_nothing_left(config->train, *result);
  if (arguments.run.json)
    print_json(as_json(*result));
  else
    print_summary(*result);
  if (arguments.quiet && !arguments.run.json && !result->reason.empty())
    std::fprintf(stderr, "troupe: %s\n", result->reason.c_str());
  if (result->ending == train::Ending::Stopped) {
    print_stopped(*result);
    return exit_code_of(stop_signal());
  }
  return result->ending == train::Ending::Diverged ? diverged : 0;
}

}  // namespace troupe::commands
