// The subcommand node: runs one node of a cluster.
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdio>
#include <iostream>

#include "apps/cluster/cluster_resolver.h"
#include "apps/cluster/neighbours.h"
#include "apps/cluster/node.h"
#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/commands/object_store.h"
#include "apps/commands/rank_options.h"
#include "apps/config/schema.h"
#include "messages/env/real_disk.h"
#include "messages/values/device_name.h"

namespace troupe::commands {
namespace {

struct NodeArguments {
  cluster::ResolverOptions resolver;
  TlsFiles tls = {};  ///< used to join a cluster; empty: connections without TLS
  std::string listen;
  std::vector<std::string> roots = {"."};  ///< the folders of files that masters may name
  int devices = 1, threads = 0, gpus = TaskOptions::all_gpus;
  bool tf32 = false;
  size_t memory = 0;  ///< in bytes; see RuntimeOptions::memory
  Transport transport = Transport::Auto;
  std::string heartbeat = "200ms";
  bool json = false;     ///< events are printed as JSON, one object per line
  bool explain = false;  ///< print which task this is and how that was found, then end
  bool inherit = false;  ///< the options of the node are read from the standard input
};

Result<cluster::NodeOptions> options_at(const cluster::ResolvedCluster& resolved,
                                        const NodeArguments& arguments) {
  cluster::NodeOptions options;
  options.cluster = resolved.cluster;
  options.cluster.transport = arguments.transport;
  options.job = resolved.job;
  options.task = resolved.task;
  options.devices = arguments.devices;
  options.threads = static_cast<size_t>(arguments.threads);
  options.memory = arguments.memory;
  options.gpus = arguments.gpus;
  options.tf32 = arguments.tf32;
  options.neighbours = cluster::neighbours_of(resolved.cluster, resolved.job, resolved.task);
  options.listen = arguments.listen;
  options.roots = arguments.roots;
  options.s3 = object_store();
  const auto heartbeat = config::parse_nanoseconds(arguments.heartbeat);
  if (!heartbeat)
    return invalid_argument("--heartbeat '" + arguments.heartbeat +
                            "' is not a time such as \"200ms\" or \"2s\"");
  options.heartbeat = *heartbeat;
  return options;
}

/// Prints the events of a node, as text or as JSON objects, one per line.
class NodeLog {
 public:
  NodeLog(const cluster::ResolvedCluster& resolved, bool json)
      : task_(DeviceName{resolved.job, 0, resolved.task, "", DeviceName::unset}.text()), json_(json) {}

  void operator()(const std::string& event, const std::string& text) const {
    std::printf("%s\n", (json_ ? cluster::event_json(task_, event, text) : text).c_str());
  }
  /// Reports how the node has ended. Returns the exit code.
  int ended(const Status& status) const {
    if (json_) (*this)("ended", status.ok() ? "the node was told to end" : status.message());
    return status.ok() ? 0 : json_ ? Error(status).exit_code() : failed(status);
  }

 private:
  const std::string task_;
  const bool json_;
};

/// Returns whether the other end of the standard input has been closed.
bool input_has_ended() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  char ignored = 0;
  return ::poll(&input, 1, 0) == 1 && ::read(STDIN_FILENO, &ignored, 1) <= 0;
}

/// Runs a node whose options the parent process writes to the standard input. The node ends when that input is closed.
int serve_parent() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::string text;
  std::getline(std::cin, text);
  const auto options = cluster::read_node_options(text);
  if (!options) return failed(options.status());
  const auto& stop = stop_on_signals();
  const Status status = cluster::run_node(*options, [&stop] { return stop || input_has_ended(); });
  return status.ok() ? 0 : failed(status);
}

int node(const NodeArguments& arguments) {
  if (arguments.inherit) return serve_parent();
  RealDisk disk;
  cluster::ResolverOptions wanted = arguments.resolver;
  if (!arguments.tls.certificate.empty()) wanted.tls = arguments.tls;
  wanted.take = !arguments.explain;
  const auto resolved = cluster::resolve_cluster(wanted, disk, environment_variable);
  if (!resolved) return failed(resolved.status(), arguments.json);
  const NodeLog log(*resolved, arguments.json);
  log("place", resolved->job + "/" + std::to_string(resolved->task) + " of cluster " +
                   resolved->cluster.name + " at " +
                   (arguments.listen.empty() ? resolved->cluster.endpoint(resolved->job, resolved->task)
                                             : arguments.listen));
  if (arguments.explain) {
    log("found", "found " + resolved->found);
    if (wanted.cluster_file.empty())
      log("cluster", "the equivalent cluster file:\n" + cluster::to_cluster_file(resolved->cluster));
    return 0;
  }
  const auto options = options_at(*resolved, arguments);
  if (!options) return failed(options.status(), arguments.json);
  const auto& stop = stop_on_signals();
  return log.ended(cluster::run_node(
      *options, [&stop] { return stop.load(); }, std::ref(log)));
}

}  // namespace

void add_node_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<NodeArguments>();
  auto* command = add_command(app, "node", "Run one node of a cluster until it is told to end.",
                              "troupe node --cluster cluster.toml --job ps --task 0\n"
                              "         troupe node --join a.lab:4242 --name lab --job worker --plain");
  auto& resolver = arguments->resolver;
  auto* file = command->add_option("--cluster", resolver.cluster_file, "cluster file (TOML)");
  auto* join =
      command
          ->add_option("--join", resolver.join,
                       "a member of the cluster, HOST:PORT, that assigns this node its task; without --join "
                       "and --cluster the task comes from TF_CONFIG, mpirun or SLURM")
          ->excludes(file);
  auto* job = command->add_option("--job", resolver.job,
                                  "the job of this node; with --cluster the default follows from the rank");
  auto* task = command
                   ->add_option("--task", resolver.task,
                                "the number of this task in its job; default: the number of the pod under "
                                "Kubernetes, else 0; with "
                                "--join the lowest free one")
                   ->check(CLI::NonNegativeNumber);
  command->add_option("--name", resolver.name, "with --join: the name of the cluster")->needs(join);
  auto* cert =
      command
          ->add_option("--cert", arguments->tls.certificate,
                       "with --join: the certificate (PEM) of this node, which names its job and task")
          ->needs(join)
          ->excludes(job)
          ->excludes(task);
  auto* key =
      command->add_option("--key", arguments->tls.key, "the key of that certificate (PEM)")->needs(cert);
  auto* ca =
      command
          ->add_option("--ca", arguments->tls.authority, "the certificate of the cluster's authority (PEM)")
          ->needs(cert);
  cert->needs(key)->needs(ca);
  add_rank_options(*command, resolver, *file);
  command->add_flag("--explain", arguments->explain,
                    "print which task this would be and how that was found, then end");
  command->add_option("--listen", arguments->listen,
                      "the address to listen at, if it differs from the one in the cluster file");
  command->add_option("--devices", arguments->devices, "number of CPU devices")->check(CLI::Range(1, 64));
  command
      ->add_option(
          "--threads", arguments->threads,
          "compute threads; 0: the cores of the machine, shared equally with the nodes of the cluster that "
          "have the same host")
      ->check(CLI::Range(0, 1024));
  command
      ->add_option(
          "--gpus", arguments->gpus,
          "how many GPUs of the machine its nodes use; -1: all of them. They are divided among the nodes "
          "of the cluster that have the same host, except those of the job ps, which use none")
      ->check(CLI::Range(TaskOptions::all_gpus, 64));
  command->add_flag("--tf32", arguments->tf32,
                    "products and convolutions of float on GPUs may round their factors to TF32");
  add_memory(*command, arguments->memory);
  add_transport(*command, arguments->transport);
  command->add_option("--heartbeat", arguments->heartbeat,
                      "the longest time between two messages to a peer, 20ms to 60s; default: 200ms");
  command->add_option(
      "--root", arguments->roots,
      "a folder, or s3://BUCKET/PREFIX, that must contain all files that other nodes name, such "
      "as checkpoints; default: the working folder");
  command->add_flag("--json", arguments->json,
                    "print events as JSON, one object per line: {\"time\", \"task\", \"event\", \"text\"}");
  command->add_flag("--inherit", arguments->inherit)->group("");
  command->callback([arguments, &result] { result = node(*arguments); });
}

}  // namespace troupe::commands
