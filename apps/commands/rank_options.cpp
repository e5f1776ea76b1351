#include "apps/commands/rank_options.h"

#include <CLI/CLI.hpp>

#include <cstdlib>

namespace troupe::commands {

std::vector<CLI::Option*> add_rank_options(CLI::App& command, cluster::ResolverOptions& resolver,
                                           CLI::Option& file) {
  std::vector<CLI::Option*> options = {
      command
          .add_option("--ps", resolver.servers,
                      "under mpirun and SLURM: the number of parameter servers; the other nodes are workers; "
                      "default: 1")
          ->check(CLI::Range(0, 1 << 16)),
      command
          .add_option("--port", resolver.port,
                      "under mpirun and SLURM: the port of the first node on each host; default: 4242")
          ->check(CLI::Range(1, 65535)),
      command.add_option(
          "--hosts", resolver.hosts,
          "under mpirun: the hosts of the ranks in their order, with the number of ranks on each, "
          "a:2,b:2 or a[1-4]:2; not needed on one host and inside a job of SLURM"),
      command.add_flag("--plain", resolver.plain,
                       "without a cluster file: use connections without TLS between hosts")};
  for (CLI::Option* option : options) option->excludes(&file);
  return options;
}

std::optional<std::string> environment_variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace troupe::commands
