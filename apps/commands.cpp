#include "apps/commands.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>

#include "actors/runtime.h"
#include "apps/cluster/certs.h"
#include "apps/cluster/local_cluster.h"
#include "apps/cluster/processes.h"
#include "apps/command_support.h"
#include "apps/config/cluster_file.h"
#include "apps/config/run_config.h"
#include "apps/data/dataset.h"
#include "apps/train/trainer.h"
#include "apps/train/training_graph.h"
#include "kernels/kernel.h"
#include "messages/real_disk.h"

namespace troupe::commands {
namespace {

constexpr int bad_data = 3, diverged = 4;
constexpr const char* clear_line = "\r\033[K";

Result<config::RunConfig> load(const TrainArguments& arguments) {
  const auto library = make_op_library();
  TROUPE_RETURN_IF_FAILED(library->status);
  RealDisk disk;
  return config::load_run_config(disk, arguments.file, arguments.set, library->ops);
}

int failed_to_load(const Status& status) {
  const int code = failed(status);
  return status.code() == Code::InvalidArgument ? code : bad_data;
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
  std::printf("{\"ending\": \"%s\", \"steps\": %llu, \"epochs\": %llu, \"seconds\": %.3f",
              name(result.ending), static_cast<unsigned long long>(result.steps),
              static_cast<unsigned long long>(result.epochs), result.seconds);
  for (const auto& [key, value] : result.evaluation) std::printf(", \"%s\": %.6g", key.c_str(), value);
  std::printf(", \"folder\": \"%s\"}\n", result.folder.c_str());
}

void print_summary(const train::TrainingResult& result) {
  std::printf("%s after %llu steps (%llu epochs) in %.2f s", name(result.ending),
              static_cast<unsigned long long>(result.steps), static_cast<unsigned long long>(result.epochs),
              result.seconds);
  for (const auto& [key, value] : result.evaluation) std::printf("  %s %.4f", key.c_str(), value);
  std::printf("\n");
  if (!result.folder.empty()) std::printf("written to %s\n", result.folder.c_str());
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
    TROUPE_ASSIGN(const auto tasks, parse_tasks(arguments.local));
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
  std::map<std::string, int> tasks;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const size_t equals = part.find('=');
    const int count = equals == std::string::npos ? 0 : std::atoi(part.c_str() + equals + 1);
    if (equals == 0 || count < 1 || count > 64)
      return invalid_argument(std::string("--local ")
                                  .append(text)
                                  .append(": '")
                                  .append(part)
                                  .append("' is not JOB=COUNT, COUNT from 1 to 64"));
    tasks[part.substr(0, equals)] = count;
  }
  return tasks;
}

int train(const TrainArguments& arguments) {
  auto config = load(arguments);
  if (!config) return failed(config.status());
  RealDisk disk;
  auto data = data::load(disk, config->data, config->run.seed);
  if (!data) return failed_to_load(data.status());
  train::TrainerOptions options;
  options.resume = arguments.resume;
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
      std::printf("%s%s", clear_line, line.c_str());
      std::fflush(stdout);
    };
  auto nodes = start_nodes(arguments, *config, options);
  if (!nodes) return failed(nodes.status());
  const auto result = train::train(*config, *data, options);
  if (options.progress) std::printf("%s", clear_line);
  if (!result) return failed(with_loss(result.status(), nodes->get()));
  if (arguments.json)
    print_json(*result);
  else if (!arguments.quiet)
    print_summary(*result);
  return result->ending == train::Ending::Diverged ? diverged : 0;
}

int check(const TrainArguments& arguments) {
  const auto config = load(arguments);
  if (!config) return failed(config.status());
  RealDisk disk;
  const auto data = data::load(disk, config->data, config->run.seed);
  if (!data) return failed_to_load(data.status());
  Graph graph(make_op_library()->ops);
  const auto model = train::build_training_graph(*config, data->train, graph);
  if (!model) return failed(model.status());
  const auto samples = static_cast<long long>(data->train.samples());
  const auto held_out = static_cast<long long>(data->valid ? data->valid->samples() : 0);
  const auto parameters = static_cast<long long>(model->parameters);
  const char* format =
      arguments.json
          ? "{\"ok\": true, \"samples\": %lld, \"held_out\": %lld, \"parameters\": %lld, \"nodes\": %zu}\n"
          : "ok: %lld samples, %lld held out, %lld parameters, %zu nodes\n";
  std::printf(format, samples, held_out, parameters, graph.size());
  return 0;
}

int certs(const std::string& folder, const std::string& cluster_file) {
  RealDisk disk;
  const auto spec = config::load_cluster(disk, cluster_file, {}, 0);
  if (!spec) return failed(spec.status());
  const auto written = cluster::write_certificates(folder, *spec);
  if (!written) return failed(written.status());
  for (const auto& file : *written) std::printf("%s\n", file.c_str());
  return 0;
}

int version(bool json) {
  std::printf(json ? "{\"version\": \"%s\"}\n" : "troupe %s\n", TROUPE_VERSION);
  return 0;
}

}  // namespace troupe::commands
