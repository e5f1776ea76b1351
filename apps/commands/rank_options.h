// The options with which a subcommand finds its place among the ranks that mpirun or SLURM have started.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/cluster/cluster_resolver.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the namespace of CLI11
class App;
class Option;
}  // namespace CLI

namespace troupe::commands {

/// Adds --ps, --port, --hosts and --plain, which cannot be combined with `file`, the option of the cluster file.
std::vector<CLI::Option*> add_rank_options(CLI::App& command, cluster::ResolverOptions& resolver,
                                           CLI::Option& file);
/// The environment of this process.
std::optional<std::string> environment_variable(const std::string& name);

}  // namespace troupe::commands
