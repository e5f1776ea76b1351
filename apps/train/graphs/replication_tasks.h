// Which tasks of a cluster compute rounds together and own the variables, as a run file says. Functions without state; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/config/run_config.h"

namespace troupe::train {

/// Returns whether a round applies the gradients of all workers together.
inline bool is_synchronous(const config::RunConfig& config) {
  const auto mode = config.train.replication.mode;
  return mode != config::ReplicationMode::Async && mode != config::ReplicationMode::Ssp &&
         mode != config::ReplicationMode::Hogwild && mode != config::ReplicationMode::LocalSgd;
}
/// Returns whether the workers exchange what they need among themselves, without parameter servers, so that none may be missing.
inline bool is_among_peers(const config::RunConfig& config) {
  const auto mode = config.train.replication.mode;
  return mode == config::ReplicationMode::AllReduce || mode == config::ReplicationMode::LocalSgd;
}
/// Returns the full name of a task: "/job:ps/replica:0/task:1".
std::string task_name(const std::string& job, int64_t task);
/// Returns what config.cluster.owners is before any variable has moved: all parameter servers or, if there are none, worker 0.
std::vector<std::string> first_owners(const config::RunConfig& config);
/// Returns the tasks that own the variables, each once: config.cluster.owners if it is set, otherwise the parameter servers or, if
/// there are none, the first worker; every worker if they share the variables out.
std::vector<std::string> owners_of_variables(const config::RunConfig& config);

}  // namespace troupe::train
