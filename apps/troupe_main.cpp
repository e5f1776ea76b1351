// The program `troupe`: its command line.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>

#include "apps/commands.h"

namespace {

constexpr int usage_error = 2;

void add_run_file(CLI::App& command, troupe::commands::TrainArguments& arguments) {
  command.add_option("file", arguments.file, "run file (TOML)")->required();
  command.add_option("--set", arguments.set, "lay a value over the run file: --set train.max_epochs=3")
      ->take_all();
  command.add_flag("--json", arguments.json, "the result as one line of JSON");
}

int run(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // whoever reads a pipe sees each line as it comes
  CLI::App app("Troupe: a distributed dataflow system for machine learning.", "troupe");
  app.require_subcommand(1);
  troupe::commands::TrainArguments arguments;
  bool json = false;
  int result = 0;

  auto* train = app.add_subcommand("train", "Train what a run file describes.")
                    ->footer("Example: troupe train examples/digits.toml");
  add_run_file(*train, arguments);
  train->add_option("--resume", arguments.resume,
                    "go on with a run: 'auto' for the newest of this name, or its folder");
  train->add_option("--dry-run", arguments.dry_run_steps, "run so many steps and write nothing")
      ->check(CLI::PositiveNumber);
  auto* local =
      train->add_option("--local", arguments.local,
                        "on processes of this machine, started and ended with the run: ps=1,worker=2");
  train->add_option("--cluster", arguments.cluster, "on the nodes of a cluster file, which run already")
      ->excludes(local);
  train->add_flag("-q,--quiet", arguments.quiet, "print nothing but failures");
  train->callback([&] { result = troupe::commands::train(arguments); });

  troupe::commands::NodeArguments node_arguments;
  auto* node = app.add_subcommand("node", "Run one node of a cluster until it is told to end.")
                   ->footer("Example: troupe node --cluster cluster.toml --job ps --task 0");
  auto& place = node_arguments.place;
  auto* file = node->add_option("--cluster", place.cluster_file,
                                "cluster file (TOML); default: TF_CONFIG or SLURM tell");
  node->add_option("--job", place.job, "which job of the cluster this node is part of")->needs(file);
  node->add_option("--task", place.task, "its number in the job")->check(CLI::NonNegativeNumber)->needs(file);
  node->add_option("--ps", place.slurm_servers, "of a SLURM job, so many tasks are parameter servers")
      ->check(CLI::Range(0, 1 << 16))
      ->excludes(file);
  node->add_option("--port", place.slurm_port, "of the first task on a host of a SLURM job")->excludes(file);
  node->add_flag("--plain", place.plain, "without a cluster file: connections without TLS between hosts")
      ->excludes(file);
  node->add_flag("--explain", node_arguments.explain, "say which task this is, how that is known, and end");
  node->add_option("--listen", node_arguments.listen,
                   "where to listen, if not at the address in the cluster file");
  node->add_option("--devices", node_arguments.devices, "CPU devices")->check(CLI::Range(1, 64));
  node->add_option("--threads", node_arguments.threads, "compute threads; 0: as many as cores")
      ->check(CLI::Range(0, 1024));
  node->add_option("--heartbeat", node_arguments.heartbeat,
                   "how often others hear of this node at least, 20ms to 60s; default: 200ms");
  node->add_option(
      "--root", node_arguments.roots,
      "a folder under which files named by others, as checkpoints, must lie; default: this folder");
  node->add_flag("--inherit", node_arguments.inherit)->group("");
  node->callback([&] { result = troupe::commands::node(node_arguments); });

  auto* check = app.add_subcommand("check", "Check a run file, its data and shapes, without training.")
                    ->footer("Example: troupe check examples/digits.toml");
  add_run_file(*check, arguments);
  check->callback([&] { result = troupe::commands::check(arguments); });

  std::string certs_folder, certs_cluster;
  auto* certs =
      app.add_subcommand("certs", "Make an authority, and a certificate for each task of a cluster file.")
          ->footer("Example: troupe certs certs --cluster cluster.toml");
  certs->add_option("folder", certs_folder, "where to write them")->required();
  certs->add_option("--cluster", certs_cluster, "cluster file (TOML)")->required();
  certs->callback([&] { result = troupe::commands::certs(certs_folder, certs_cluster); });

  auto* version =
      app.add_subcommand("version", "Print the version.")->footer("Example: troupe version --json");
  version->add_flag("--json", json, "as JSON");
  version->callback([&] { result = troupe::commands::version(json); });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : usage_error;
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const std::exception& error) {
  std::fprintf(stderr, "troupe: %s\n", error.what());
  return 1;
}
