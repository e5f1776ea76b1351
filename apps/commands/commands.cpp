#include "apps/commands/commands.h"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <sstream>

#include "actors/runtime.h"
#include "apps/cluster/certs.h"
#include "apps/cluster/local_cluster.h"
#include "apps/cluster/processes.h"
#include "apps/commands/command_support.h"
#include "apps/config/cluster_file.h"
#include "apps/config/run_config.h"
#include "apps/data/dataset.h"
#include "apps/text/json_line.h"
#include "apps/train/trainer.h"
#include "apps/train/training_graph.h"
#include "devices/memory_budget.h"
#include "kernels/core/kernel.h"
#include "messages/env/real_disk.h"

namespace troupe::commands {
namespace {

constexpr const char* clear_line = "\r\033[K";

Result<config::RunConfig> load(const TrainArguments& arguments) {
  const auto library = make_op_library();
  TROUPE_RETURN_IF_FAILED(library->status);
  RealDisk disk;
  return config::load_run_config(disk, arguments.file, arguments.set, library->ops);
}

int failed_to_load(const Status& status, bool json) {
  return failed(status, json, status.code() == Code::InvalidArgument ? bad_usage : bad_data);
}

const char* name(train::Ending ending) {
  switch (ending) {
    case train::Ending::Completed: return "completed";
    case train::Ending::EarlyStopped: return "early_stopped";
    case train::Ending::Stopped: return "stopped";
    case train::Ending::Diverged: return "diverged";
  }
  return "";
}

void print_json(const train::TrainingResult& result) {
  JsonLine line;
  line.add("ending", name(result.ending)).add("steps", result.steps).add("epochs", result.epochs);
  line.add("seconds", result.seconds);
  for (const auto& [key, value] : result.evaluation) line.add(key, value);
  line.add("folder", result.folder);
  if (result.checkpoint.empty())
    line.add_null("checkpoint");
  else
    line.add("checkpoint", result.checkpoint);
  if (result.ending == train::Ending::Stopped) line.add("signal", name_of(stop_signal()));
  std::printf("%s\n", line.text().c_str());
}

/// What a training that a signal has ended in order leaves behind.
void print_stopped(const train::TrainingResult& result) {
  const std::string saved = result.checkpoint.empty() ? "no checkpoint was saved"
                            : result.checkpoint_step == result.steps
                                ? "saved " + result.checkpoint
                                : "nothing was saved since " + result.checkpoint;
  std::fprintf(stderr, "troupe: stopped by %s after step %llu: %s\n", name_of(stop_signal()),
               static_cast<unsigned long long>(result.steps), saved.c_str());
}

void print_summary(const train::TrainingResult& result) {
  std::printf("%s after %llu steps (%llu epochs) in %.2f s", name(result.ending),
              static_cast<unsigned long long>(result.steps), static_cast<unsigned long long>(result.epochs),
              result.seconds);
  for (const auto& [key, value] : result.evaluation) std::printf("  %s %.4f", key.c_str(), value);
  std::printf("\n");
  if (!result.folder.empty()) std::printf("written to %s\n", result.folder.c_str());
}

/// Workers to which no part of the batches falls, in a sentence; empty when there is none.
std::string idle_workers(const config::RunConfig& config) {
  const auto found = config.cluster.tasks.find("worker");
  const int64_t workers = found == config.cluster.tasks.end() ? 0 : found->second, shards = config.shards();
  if (workers <= shards) return {};
  const std::string idle =
      std::to_string(workers - shards) + " of " + std::to_string(workers) + " workers idle";
  if (config.train.replication.mode == config::ReplicationMode::Local)
    return "train.replication.mode = \"local\" leaves " + idle + "; \"sync\" and \"async\" use all of them";
  return "train.replication.shards = " + std::to_string(shards) + " leaves " + idle;
}

/// Jobs of the cluster that have no part in a training, a line for each; workers that have none.
void warn_of_idle_tasks(const config::RunConfig& config) {
  std::vector<std::string> warnings;
  for (const auto& [job, tasks] : config.cluster.tasks)
    if (const Status status = config::check_training_job(job); !status.ok())
      warnings.push_back(status.text());
  if (std::string idle = idle_workers(config); !idle.empty()) warnings.push_back(std::move(idle));
  for (const auto& warning : warnings) std::fprintf(stderr, "troupe: %s\n", warning.c_str());
}

/// Where a run reads and writes.
std::vector<std::string> files_of(const config::RunConfig& config, const std::string& resume) {
  std::vector<std::string> files = {config.run.directory};
  if (!resume.empty() && resume != "auto") files.push_back(resume);
  const data::Options& data = config.data;
  for (const auto* list : {&data.train, &data.train_labels, &data.valid, &data.valid_labels})
    files.insert(files.end(), list->begin(), list->end());
  return files;
}

/// What all nodes of the run have in common; their threads are to be shared out.
cluster::NodeOptions common_options(const config::RunConfig& config, const train::TrainerOptions& options) {
  cluster::NodeOptions common;
  common.devices = static_cast<int>(config.cluster.devices);
  common.threads = static_cast<size_t>(config.run.threads);
  common.memory = options.memory;
  common.roots = files_of(config, options.resume);
  common.heartbeat = config.train.fault.heartbeat;
  common.owner = cluster::owner_task();
  return common;
}

/// The cluster that the arguments ask for, with the processes to be started; nothing when they ask for none.
Result<std::optional<cluster::ClusterPlan>> plan_cluster(const TrainArguments& arguments,
                                                         const cluster::NodeOptions& common) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  RealDisk disk;
  cluster::ClusterPlan plan;
  if (!arguments.local.empty()) {
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

/// The processes of this run; null when it starts none. Tells the config which tasks there are, and the trainer where.
Result<std::unique_ptr<cluster::Processes>> start_nodes(const TrainArguments& arguments,
                                                        config::RunConfig& config,
                                                        train::TrainerOptions& options) {
  std::unique_ptr<cluster::Processes> nodes;
  TROUPE_ASSIGN(auto plan, plan_cluster(arguments, common_options(config, options)));
  if (!plan) return nodes;
  options.cluster = plan->spec;
  config.cluster.tasks.clear();
  for (const auto& [job, tasks] : plan->spec.jobs)
    config.cluster.tasks[job] = static_cast<int64_t>(tasks.size());
  if (plan->processes.empty()) return nodes;
  for (const auto& process : plan->processes)
    if (process.host.empty() && options.memory == 0)
      options.memory = default_memory_cap(process.node.neighbours);
  TROUPE_ASSIGN(nodes, cluster::Processes::start(std::move(plan->processes), options.line));
  options.recover = [started = nodes.get()](const auto& silent) { return started->restart(silent); };
  options.lost = [started = nodes.get()] { return !started->first_loss({}).empty(); };
  return nodes;
}

/// A step that failed because a process is gone: which, and how. The step may know before the system tells.
Status with_loss(const Status& status, const cluster::Processes* nodes) {
  const bool gone = nodes && retry_may_help(status.code());
  const std::string loss = gone ? nodes->first_loss(std::chrono::milliseconds(500)) : std::string();
  return loss.empty() ? status : Status(status.code(), loss + "; " + status.message());
}

}  // namespace

Result<std::map<std::string, int>> parse_tasks(const std::string& text) {
  const auto refused = [&](const std::string& why) {
    return invalid_argument("--local " + text + ": " + why);
  };
  std::map<std::string, int> tasks;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const size_t equals = std::min(part.find('='), part.size());
    const std::string job = part.substr(0, equals);
    int count = 0;
    const auto [end, error] =
        std::from_chars(part.data() + std::min(equals + 1, part.size()), part.data() + part.size(), count);
    if (!config::is_identifier(job) || error != std::errc() || end != part.data() + part.size() ||
        count < 1 || count > 64)
      return refused("'" + part + "' is not JOB=COUNT, COUNT from 1 to 64");
    if (!tasks.emplace(job, count).second) return refused("job '" + job + "' is there twice");
  }
  return tasks;
}

Result<std::map<std::string, int>> parse_training_tasks(const std::string& text) {
  TROUPE_ASSIGN(auto tasks, parse_tasks(text));
  for (const auto& [job, count] : tasks)
    if (const Status status = config::check_training_job(job); !status.ok())
      return invalid_argument("--local " + text + ": " + status.text());
  return tasks;
}

int train(const TrainArguments& arguments) {
  auto config = load(arguments);
  if (!config) return failed(config.status(), arguments.json);
  RealDisk disk;
  auto data = data::load(disk, config->data, config->run.seed);
  if (!data) return failed_to_load(data.status(), arguments.json);
  train::TrainerOptions options;
  options.resume = arguments.resume;
  options.memory = arguments.memory;
  options.dry_run_steps = arguments.dry_run_steps;
  options.stop = &stop_on_signals();
  const bool talks = !arguments.quiet && !arguments.json;
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  if (talks)
    options.line = [terminal](const std::string& line) {
      std::printf("%s%s\n", terminal ? clear_line : "", line.c_str());
    };
  if (talks && terminal)
    options.progress = [](const std::string& line) {
      std::printf("%s%s", clear_line, cut_to_terminal(line).c_str());
      std::fflush(stdout);
    };
  auto nodes = start_nodes(arguments, *config, options);
  if (!nodes) return failed(nodes.status(), arguments.json);
  if (!arguments.quiet) warn_of_idle_tasks(*config);
  const auto result = train::train(*config, *data, options);
  if (options.progress) std::printf("%s", clear_line);
  if (!result) {
    const bool stopped = stop_signal() != 0 && result.status().code() == Code::Cancelled;
    return failed(with_loss(result.status(), nodes->get()), arguments.json,
                  stopped ? std::optional<int>(exit_code_of(stop_signal())) : std::nullopt);
  }
  if (arguments.json)
    print_json(*result);
  else if (!arguments.quiet)
    print_summary(*result);
  if (result->ending == train::Ending::Stopped) {
    print_stopped(*result);
    return exit_code_of(stop_signal());
  }
  return result->ending == train::Ending::Diverged ? diverged : 0;
}

int check(const TrainArguments& arguments) {
  const auto config = load(arguments);
  if (!config) return failed(config.status(), arguments.json);
  RealDisk disk;
  const auto data = data::load(disk, config->data, config->run.seed);
  if (!data) return failed_to_load(data.status(), arguments.json);
  Graph graph(make_op_library()->ops);
  const auto model = train::build_training_graph(*config, data->train, graph);
  if (!model) return failed(model.status(), arguments.json);
  if (!arguments.quiet) warn_of_idle_tasks(*config);
  const int64_t samples = data->train.samples(), held_out = data->valid ? data->valid->samples() : 0;
  if (arguments.json)
    std::printf("%s\n", JsonLine()
                            .add("ok", true)
                            .add("samples", samples)
                            .add("held_out", held_out)
                            .add("parameters", model->parameters)
                            .add("nodes", graph.size())
                            .text()
                            .c_str());
  else
    std::printf("ok: %lld samples, %lld held out, %lld parameters, %zu nodes\n",
                static_cast<long long>(samples), static_cast<long long>(held_out),
                static_cast<long long>(model->parameters), graph.size());
  return 0;
}

int certs(const std::string& folder, const std::string& cluster_file, bool json) {
  RealDisk disk;
  const auto spec = config::load_cluster(disk, cluster_file, {}, 0);
  if (!spec) return failed(spec.status(), json);
  const auto written = cluster::write_certificates(folder, *spec);
  if (!written) return failed(written.status(), json);
  print_files(*written, json);
  return 0;
}

void print_files(const std::vector<std::string>& files, bool json) {
  if (json) return static_cast<void>(std::printf("%s\n", JsonLine().add("files", files).text().c_str()));
  for (const auto& file : files) std::printf("%s\n", file.c_str());
}

int version(bool json) {
  if (json)
    std::printf("%s\n", JsonLine().add("version", TROUPE_VERSION).text().c_str());
  else
    std::printf("troupe %s\n", TROUPE_VERSION);
  return 0;
}

}  // namespace troupe::commands
