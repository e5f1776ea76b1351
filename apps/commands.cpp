#include "apps/commands.h"

#include <sys/prctl.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <sstream>

#include "actors/runtime.h"
#include "apps/cluster/certs.h"
#include "apps/cluster/local_cluster.h"
#include "apps/cluster/node.h"
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

std::atomic<bool> stop_requested{false};

// The first signal asks for an orderly end, the second one ends at once.
void on_signal(int signal) {
  if (stop_requested.exchange(true)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

int failed(const Status& status) {
  std::fprintf(stderr, "troupe: %s\n", status.message().c_str());
  return Error(status).exit_code();
}

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

/// "ps=1,worker=2".
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

/// Where a run reads and writes.
std::vector<std::string> files_of(const config::RunConfig& config, const std::string& resume) {
  std::vector<std::string> files = {config.run.directory};
  if (!resume.empty() && resume != "auto") files.push_back(resume);
  const data::Options& data = config.data;
  for (const auto* list : {&data.train, &data.train_labels, &data.valid, &data.valid_labels})
    files.insert(files.end(), list->begin(), list->end());
  return files;
}

/// The processes that --local asks for; null when it does not. Tells the config which tasks there are, and the trainer where.
Result<std::unique_ptr<cluster::LocalCluster>> start_nodes(const TrainArguments& arguments,
                                                           config::RunConfig& config,
                                                           train::TrainerOptions& options) {
  std::unique_ptr<cluster::LocalCluster> nodes;
  if (!arguments.local.empty()) {
    cluster::LocalClusterOptions local;
    local.program = std::filesystem::read_symlink("/proc/self/exe").string();
    TROUPE_ASSIGN(local.tasks, parse_tasks(arguments.local));
    local.devices = static_cast<int>(config.cluster.devices);
    local.threads = static_cast<size_t>(config.run.threads);
    local.line = options.line;
    local.roots = files_of(config, options.resume);
    local.heartbeat = config.train.fault.heartbeat;
    TROUPE_ASSIGN(nodes, cluster::LocalCluster::start(local));
    options.cluster = nodes->spec();
    options.recover = [cluster = nodes.get()](const auto& silent) { return cluster->restart(silent); };
  } else if (!arguments.cluster.empty()) {
    RealDisk disk;
    TROUPE_ASSIGN(options.cluster,
                  config::load_cluster(disk, arguments.cluster, cluster::LocalCluster::owner_job, 0));
  }
  if (!options.cluster) return nodes;
  config.cluster.tasks.clear();
  for (const auto& [job, tasks] : options.cluster->jobs)
    config.cluster.tasks[job] = static_cast<int64_t>(tasks.size());
  return nodes;
}

/// A step that failed because a process is gone: which, and how. The step may know before the system tells.
Status with_loss(const Status& status, const cluster::LocalCluster* nodes) {
  const bool gone = nodes && retry_may_help(status.code());
  const std::string loss = gone ? nodes->first_loss(std::chrono::milliseconds(500)) : std::string();
  return loss.empty() ? status : Status(status.code(), loss + "; " + status.message());
}

}  // namespace

int train(const TrainArguments& arguments) {
  auto config = load(arguments);
  if (!config) return failed(config.status());
  RealDisk disk;
  auto data = data::load(disk, config->data, config->run.seed);
  if (!data) return failed_to_load(data.status());
  train::TrainerOptions options;
  options.resume = arguments.resume;
  options.dry_run_steps = arguments.dry_run_steps;
  options.stop = &stop_requested;
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
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
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

namespace {

std::optional<std::string> environment_variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

/// What the parent process has in mind for its child.
Result<cluster::NodeOptions> inherited_options() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  return cluster::read_node_options(std::string(std::istreambuf_iterator<char>(std::cin), {}));
}

Result<cluster::NodeOptions> options_at(const cluster::Place& place, const NodeArguments& arguments) {
  cluster::NodeOptions options;
  options.cluster = place.cluster;
  options.job = place.job;
  options.task = place.task;
  options.devices = arguments.devices;
  options.threads = static_cast<size_t>(arguments.threads);
  options.listen = arguments.listen;
  options.roots = arguments.roots;
  const auto heartbeat = config::parse_nanoseconds(arguments.heartbeat);
  if (!heartbeat)
    return invalid_argument("--heartbeat '" + arguments.heartbeat +
                            "' is no time such as \"200ms\" or \"2s\"");
  options.heartbeat = *heartbeat;
  return options;
}

/// Until a signal comes, or what it serves is over.
int serve(const cluster::NodeOptions& options) {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  const Status status = cluster::run_node(options, [] { return stop_requested.load(); });
  return status.ok() ? 0 : failed(status);
}

}  // namespace

int node(const NodeArguments& arguments) {
  if (arguments.inherit) {
    const auto options = inherited_options();
    return options ? serve(*options) : failed(options.status());
  }
  RealDisk disk;
  const auto place = cluster::find_place(arguments.place, disk, environment_variable);
  if (!place) return failed(place.status());
  const std::string endpoint =
      arguments.listen.empty() ? place->cluster.endpoint(place->job, place->task) : arguments.listen;
  std::printf("%s/%d of cluster %s at %s\n", place->job.c_str(), place->task, place->cluster.name.c_str(),
              endpoint.c_str());
  if (!arguments.explain) {
    const auto options = options_at(*place, arguments);
    return options ? serve(*options) : failed(options.status());
  }
  std::printf("found %s\n", place->found.c_str());
  if (arguments.place.cluster_file.empty())
    std::printf("a cluster file that says the same:\n%s", cluster::to_cluster_file(place->cluster).c_str());
  return 0;
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
