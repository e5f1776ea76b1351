// The program `troupe`: its command line.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string_view>

#include "apps/commands/command_support.h"
#include "apps/commands/commands.h"
#include "apps/commands/graph_commands.h"

namespace {

using troupe::cluster::LaunchOptions;
using troupe::commands::NodeArguments, troupe::commands::TrainArguments;

/// Whether what goes wrong is to be told as JSON, even before the command line is read.
bool wants_json(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc, [](std::string_view argument) { return argument == "--json"; });
}

/// A subcommand, its description, and an example of its use.
CLI::App* add_command(CLI::App& app, const char* name, const char* what, const char* example) {
  return app.add_subcommand(name, what)->footer(std::string("Example: ") + example);
}

void add_run_file(CLI::App& command, TrainArguments& arguments) {
  command.add_option("file", arguments.file, "run file (TOML)")->required();
  command.add_option("--set", arguments.set, "lay a value over the run file: --set train.max_epochs=3")
      ->take_all();
  command.add_flag(
      "--json", arguments.json,
      "the result, or what failed, as one line of JSON; numbers that it lacks, as NaN, are null");
}

void add_run_options(CLI::App& command, TrainArguments& arguments) {
  add_run_file(command, arguments);
  command.add_option("--resume", arguments.resume,
                     "go on with a run: 'auto' for the newest of this name, or its folder");
  command.add_option("--dry-run", arguments.dry_run_steps, "run so many steps and write nothing")
      ->check(CLI::PositiveNumber);
  command.add_flag("-q,--quiet", arguments.quiet, "print nothing but failures");
  troupe::commands::add_memory(command, arguments.memory);
}

void add_train(CLI::App& app, TrainArguments& arguments, int& result) {
  auto* train =
      add_command(app, "train", "Train what a run file describes.", "troupe train examples/digits.toml");
  add_run_options(*train, arguments);
  auto* local =
      train->add_option("--local", arguments.local,
                        "on processes of this machine, started and ended with the run: ps=1,worker=2");
  train->add_option("--cluster", arguments.cluster, "on the nodes of a cluster file, which run already")
      ->excludes(local);
  train->callback([&] { result = troupe::commands::train(arguments); });
}

void add_launch(CLI::App& app, TrainArguments& arguments, LaunchOptions& how, int& result) {
  auto* launch = add_command(
      app, "launch", "Start every node of a cluster file, train what a run file describes, and end them all.",
      "troupe launch examples/digits.toml --cluster cluster.toml --program /opt/troupe/bin/troupe");
  add_run_options(*launch, arguments);
  launch->add_option("--cluster", arguments.cluster, "cluster file (TOML)")->required();
  launch->add_option(
      "--ssh", how.ssh,
      "the command that runs another on a machine; host and command are added; default: " + how.ssh);
  launch->add_option("--program", how.remote_program,
                     "this program on the other machines; default: " + how.remote_program);
  launch->add_option("--folder", how.remote_folder, "where to run it there; default: where ssh begins");
  launch->add_flag("--ssh-everywhere", how.ssh_everywhere, "start nodes of this machine by ssh, too");
  launch->callback([&] {
    arguments.launch = how;
    result = troupe::commands::train(arguments);
  });
}

void add_node(CLI::App& app, NodeArguments& arguments, int& result) {
  auto* node = add_command(app, "node", "Run one node of a cluster until it is told to end.",
                           "troupe node --cluster cluster.toml --job ps --task 0\n"
                           "         troupe node --join a.lab:4242 --name lab --job worker --plain");
  auto& place = arguments.place;
  auto* file = node->add_option("--cluster", place.cluster_file, "cluster file (TOML)");
  auto* join =
      node->add_option("--join", place.join,
                       "a member of the cluster, host:port, that tells where this node belongs; with neither "
                       "this nor a file TF_CONFIG or SLURM tell")
          ->excludes(file);
  auto* job = node->add_option("--job", place.job, "which job of the cluster this node is part of");
  auto* task =
      node->add_option("--task", place.task, "its number in the job; default: 0, to join the lowest free")
          ->check(CLI::NonNegativeNumber);
  node->add_option("--name", place.name, "to join: the name of the cluster")->needs(join);
  auto* cert = node->add_option("--cert", arguments.tls.certificate,
                                "to join: this node's certificate (PEM), which says its job and task")
                   ->needs(join)
                   ->excludes(job)
                   ->excludes(task);
  auto* key = node->add_option("--key", arguments.tls.key, "its key")->needs(cert);
  auto* ca = node->add_option("--ca", arguments.tls.authority, "certificate of the authority of the cluster")
                 ->needs(cert);
  cert->needs(key)->needs(ca);
  node->add_option("--ps", place.slurm_servers, "of a SLURM job, so many tasks are parameter servers")
      ->check(CLI::Range(0, 1 << 16))
      ->excludes(file);
  node->add_option("--port", place.slurm_port, "of the first task on a host of a SLURM job")->excludes(file);
  node->add_flag("--plain", place.plain, "without a cluster file: connections without TLS between hosts")
      ->excludes(file);
  node->add_flag("--explain", arguments.explain, "say which task this is, how that is known, and end");
  node->add_option("--listen", arguments.listen,
                   "where to listen, if not at the address in the cluster file");
  node->add_option("--devices", arguments.devices, "CPU devices")->check(CLI::Range(1, 64));
  node->add_option("--threads", arguments.threads, "compute threads; 0: as many as cores")
      ->check(CLI::Range(0, 1024));
  troupe::commands::add_memory(*node, arguments.memory);
  node->add_option("--heartbeat", arguments.heartbeat,
                   "how often others hear of this node at least, 20ms to 60s; default: 200ms");
  node->add_option(
      "--root", arguments.roots,
      "a folder under which files named by others, as checkpoints, must lie; default: this folder");
  node->add_flag("--json", arguments.json,
                 "what happens, as JSON objects, one a line: {\"time\", \"task\", \"event\", \"text\"}");
  node->add_flag("--inherit", arguments.inherit)->group("");
  node->callback([&] { result = troupe::commands::node(arguments); });
}

int run(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // whoever reads a pipe sees each line as it comes
  CLI::App app("Troupe: a distributed dataflow system for machine learning.", "troupe");
  app.require_subcommand(1);
  TrainArguments arguments;
  LaunchOptions launch;
  NodeArguments node;
  bool json = false;
  int result = 0;

  add_train(app, arguments, result);
  add_launch(app, arguments, launch, result);
  add_node(app, node, result);

  auto* check = add_command(app, "check", "Check a run file, its data and shapes, without training.",
                            "troupe check examples/digits.toml");
  add_run_file(*check, arguments);
  check->callback([&] { result = troupe::commands::check(arguments); });

#ifdef TROUPE_INTEROP
  troupe::commands::add_graph_commands(app, result);
#endif

  std::string certs_folder, certs_cluster;
  auto* certs =
      add_command(app, "certs", "Make an authority, and a certificate for each task of a cluster file.",
                  "troupe certs certs --cluster cluster.toml");
  certs->add_option("folder", certs_folder, "where to write them")->required();
  certs->add_option("--cluster", certs_cluster, "cluster file (TOML)")->required();
  certs->add_flag("--json", json, "the files as one line of JSON");
  certs->callback([&] { result = troupe::commands::certs(certs_folder, certs_cluster, json); });

  auto* version = add_command(app, "version", "Print the version.", "troupe version --json");
  version->add_flag("--json", json, "as JSON");
  version->callback([&] { result = troupe::commands::version(json); });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0 && wants_json(argc, argv))
      return troupe::commands::failed(troupe::invalid_argument(error.what()), true);
    return app.exit(error) == 0 ? 0 : troupe::commands::bad_usage;
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const std::exception& error) {
  return troupe::commands::failed(troupe::Status(troupe::Code::Unknown, error.what()), wants_json(argc, argv),
                                  1);
}
