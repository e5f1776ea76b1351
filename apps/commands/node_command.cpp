// The subcommand node: one node of a cluster.
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "apps/cluster/cluster_resolver.h"
#include "apps/cluster/node.h"
#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/config/schema.h"
#include "messages/env/real_disk.h"
#include "messages/values/device_name.h"

namespace troupe::commands {
namespace {

struct NodeArguments {
  cluster::ResolverOptions resolver;
  TlsFiles tls = {};  ///< to ask a member with; empty: plain
  std::string listen;
  std::vector<std::string> roots = {"."};  ///< folders for the files that masters name
  int devices = 1, threads = 0;
  size_t memory = 0;  ///< see RuntimeOptions
  std::string heartbeat = "200ms";
  bool json = false;     ///< what it says, as one object a line
  bool explain = false;  ///< says which task it is, and how that is known, and ends
  bool inherit = false;  ///< what to be is read from the standard input
};

std::optional<std::string> environment_variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

Result<cluster::NodeOptions> options_at(const cluster::ResolvedCluster& resolved,
                                        const NodeArguments& arguments) {
  cluster::NodeOptions options;
  options.cluster = resolved.cluster;
  options.job = resolved.job;
  options.task = resolved.task;
  options.devices = arguments.devices;
  options.threads = static_cast<size_t>(arguments.threads);
  options.memory = arguments.memory;
  options.listen = arguments.listen;
  options.roots = arguments.roots;
  const auto heartbeat = config::parse_nanoseconds(arguments.heartbeat);
  if (!heartbeat)
    return invalid_argument("--heartbeat '" + arguments.heartbeat +
                            "' is no time such as \"200ms\" or \"2s\"");
  options.heartbeat = *heartbeat;
  return options;
}

/// What a node says of itself: lines for people, or JSON objects, one a line.
class NodeLog {
 public:
  NodeLog(const cluster::ResolvedCluster& resolved, bool json)
      : task_(DeviceName{resolved.job, 0, resolved.task, "", DeviceName::unset}.text()), json_(json) {}

  void operator()(const std::string& event, const std::string& text) const {
    std::printf("%s\n", (json_ ? cluster::event_json(task_, event, text) : text).c_str());
  }
  /// The exit code.
  int ended(const Status& status) const {
    if (json_) (*this)("ended", status.ok() ? "it was told to end" : status.message());
    return status.ok() ? 0 : json_ ? Error(status).exit_code() : failed(status);
  }

 private:
  const std::string task_;
  const bool json_;
};

/// Whether whoever holds the other end of the standard input has closed it.
bool input_has_ended() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  char ignored = 0;
  return ::poll(&input, 1, 0) == 1 && ::read(STDIN_FILENO, &ignored, 1) <= 0;
}

/// What whoever started this process has in mind for it, by its standard input; when that ends, so does this process.
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
      log("cluster", "a cluster file that says the same:\n" + cluster::to_cluster_file(resolved->cluster));
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
                       "a member of the cluster, host:port, that tells where this node belongs; with neither "
                       "this nor a file TF_CONFIG or SLURM tell")
          ->excludes(file);
  auto* job = command->add_option("--job", resolver.job, "which job of the cluster this node is part of");
  auto* task =
      command
          ->add_option("--task", resolver.task, "its number in the job; default: 0, to join the lowest free")
          ->check(CLI::NonNegativeNumber);
  command->add_option("--name", resolver.name, "to join: the name of the cluster")->needs(join);
  auto* cert = command
                   ->add_option("--cert", arguments->tls.certificate,
                                "to join: this node's certificate (PEM), which says its job and task")
                   ->needs(join)
                   ->excludes(job)
                   ->excludes(task);
  auto* key = command->add_option("--key", arguments->tls.key, "its key")->needs(cert);
  auto* ca =
      command->add_option("--ca", arguments->tls.authority, "certificate of the authority of the cluster")
          ->needs(cert);
  cert->needs(key)->needs(ca);
  command->add_option("--ps", resolver.slurm_servers, "of a SLURM job, so many tasks are parameter servers")
      ->check(CLI::Range(0, 1 << 16))
      ->excludes(file);
  command->add_option("--port", resolver.slurm_port, "of the first task on a host of a SLURM job")
      ->excludes(file);
  command
      ->add_flag("--plain", resolver.plain, "without a cluster file: connections without TLS between hosts")
      ->excludes(file);
  command->add_flag("--explain", arguments->explain, "say which task this is, how that is known, and end");
  command->add_option("--listen", arguments->listen,
                      "where to listen, if not at the address in the cluster file");
  command->add_option("--devices", arguments->devices, "CPU devices")->check(CLI::Range(1, 64));
  command->add_option("--threads", arguments->threads, "compute threads; 0: as many as cores")
      ->check(CLI::Range(0, 1024));
  add_memory(*command, arguments->memory);
  command->add_option("--heartbeat", arguments->heartbeat,
                      "how often others hear of this node at least, 20ms to 60s; default: 200ms");
  command->add_option(
      "--root", arguments->roots,
      "a folder under which files named by others, as checkpoints, must lie; default: this folder");
  command->add_flag("--json", arguments->json,
                    "what happens, as JSON objects, one a line: {\"time\", \"task\", \"event\", \"text\"}");
  command->add_flag("--inherit", arguments->inherit)->group("");
  command->callback([arguments, &result] { result = node(*arguments); });
}

}  // namespace troupe::commands
