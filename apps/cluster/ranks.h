// Ranks: the processes that mpirun, srun or an Indexed Job of Kubernetes has started together, numbered from 0. A launcher tells
// each process its rank in variables, and the hosts of the ranks follow from an option or from variables, too. Plain values;
// functions may be called by any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/cluster/environment.h"

namespace troupe::cluster {

/// The variables of a launcher. All but `rank` may be unset; a null pointer stands for a variable that the launcher lacks.
struct Launcher {
  const char* name;
  const char* rank;
  const char* size;        ///< how many ranks there are
  const char* local_rank;  ///< the number of this rank among those of its host
  const char* local_size;  ///< how many ranks there are on this host
  const char* run;         ///< an identifier that all ranks share and other runs do not
  const char* cluster;     ///< how the names of clusters begin
};

/// What a launcher has told this process.
struct Rank {
  const Launcher* launcher;
  uint64_t rank = 0;
  std::optional<uint64_t> size = {}, local_rank = {}, local_size = {};
  std::string cluster;  ///< a name for the cluster of these ranks
};

/// Returns the names of the variables that tell a rank, as part of a sentence.
std::string rank_variables();

/// Returns the rank of this process; nothing if no launcher has set its variables. Fails with InvalidArgument, naming the variable,
/// its value and what is allowed, if they are no numbers or contradict each other.
Result<std::optional<Rank>> find_rank(const Environment& environment);

/// Returns the number of this pod among those of its Indexed Job or stateful set; nothing if this is no such pod. Fails with
/// InvalidArgument if the job's variable is no number.
Result<std::optional<uint64_t>> pod_index(const Environment& environment);

/// Returns the host of every rank. `list` says them (hosts_of_slots()); if it is empty they are found in the environment. Fails
/// with InvalidArgument if they are unknown or contradict what the launcher has told this rank.
Result<std::vector<std::string>> hosts_of_ranks(const Rank& rank, const std::string& list,
                                                const Environment& environment);

}  // namespace troupe::cluster
