// The work that the subcommands train, launch and sweep share: starting the processes, training, and reporting the result.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "apps/cluster/cluster_resolver.h"
#include "apps/cluster/launch.h"
#include "apps/cluster/processes.h"
#include "apps/commands/run_file.h"
#include "apps/train/trainer.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the namespace of CLI11
class Option;
}

namespace troupe::commands {

struct TrainArguments {
  RunFile run;
  std::string resume;           ///< see train::TrainerOptions::resume
  long long dry_run_steps = 0;  ///< 0: a full run
  Transport transport = Transport::Auto;
  size_t memory = 0;  ///< the limit of each process in bytes; see RuntimeOptions::memory
  bool quiet = false;
  std::string cluster;  ///< a cluster file; its nodes must be running already unless `launch` is set
  std::string local;    ///< the processes to start on this machine, such as "ps=1,worker=2"
  std::optional<cluster::LaunchOptions> launch = {};  ///< how to start the nodes of the cluster file
  bool ranks = false;  ///< mpirun or SLURM have started this process: rank 0 trains, the others are its nodes
  cluster::ResolverOptions resolver = {};  ///< with `ranks`: how this process finds its place
};

/// Returns the store of the checkpoints of a run, as its file and the environment say; nothing if they lie in the folder of the
/// run.
std::optional<S3Options> store_of(const config::RunConfig& config);
/// Adds the options that train and launch have in common.
void add_run_options(CLI::App& command, TrainArguments& arguments);
struct ClusterOptions {
  CLI::Option* local;    ///< --local
  CLI::Option* cluster;  ///< --cluster
};
/// Adds the options that say where a run takes place.
ClusterOptions add_cluster_options(CLI::App& command, TrainArguments& arguments);
/// Starts the processes of this run, in the cluster of `place` if it is given; null if it starts none. Stores the cluster's tasks
/// in `config` and the cluster in `options`.
Result<std::unique_ptr<cluster::Processes>> start_nodes(const TrainArguments& arguments,
                                                        const std::optional<cluster::ResolvedCluster>& place,
                                                        config::RunConfig& config,
                                                        train::TrainerOptions& options);
/// Trains and reports the result. Returns the exit code.
int train(const TrainArguments& arguments);

}  // namespace troupe::commands
