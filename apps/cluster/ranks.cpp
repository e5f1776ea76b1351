#include "apps/cluster/ranks.h"

#include <algorithm>

#include "apps/cluster/host_list.h"

namespace troupe::cluster {
namespace {

// One row per launcher. SLURM is the last one: mpirun inside a job of SLURM hands on the variables of the job's first process.
// clang-format off
constexpr Launcher launchers[] = {
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE",
     "PMIX_NAMESPACE", "mpi"},
    {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "SLURM_JOB_ID", "mpi"},
    {"Kubernetes", "JOB_COMPLETION_INDEX", nullptr, nullptr, nullptr, nullptr, "kubernetes"},
    {"SLURM", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", nullptr, "SLURM_JOB_ID", "slurm"},
};
// clang-format on

Result<std::optional<uint64_t>> number_of(const char* variable, const Environment& environment) {
  return variable ? number_in(environment, variable) : std::optional<uint64_t>();
}

std::string cluster_of(const Launcher& launcher, const Environment& environment) {
  const auto run = launcher.run ? environment(launcher.run) : std::nullopt;
  return run ? std::string(launcher.cluster) + "-" + *run : launcher.cluster;
}

/// Fails unless the variable's value is below the limit, which another variable has set.
Status check_below(const char* variable, std::optional<uint64_t> value, const char* other,
                   std::optional<uint64_t> limit) {
  if (!value || !limit || *value < *limit) return {};
  return invalid_argument(std::string(variable) + " is '" + std::to_string(*value) +
                          "'; expected a number below " + other + ", which is '" + std::to_string(*limit) +
                          "'");
}

std::optional<std::string> either(const Environment& environment, const char* first, const char* second) {
  auto value = environment(first);
  return value ? value : environment(second);
}

/// Returns the host of every rank of a job of SLURM; nothing if SLURM has set no lists.
Result<std::optional<std::vector<std::string>>> hosts_of_slurm(const Environment& environment) {
  const auto list = either(environment, "SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST");
  const auto spread = either(environment, "SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE");
  if (!list || !spread) return std::optional<std::vector<std::string>>();
  TROUPE_ASSIGN(const auto hosts, expand_hosts(*list));
  TROUPE_ASSIGN(const auto counts, tasks_per_host(*spread));
  if (hosts.size() != counts.size())
    return invalid_argument("SLURM lists " + std::to_string(hosts.size()) + " hosts, but the tasks of " +
                            std::to_string(counts.size()) + " hosts");
  std::vector<std::string> of_ranks;
  for (size_t host = 0; host < hosts.size(); ++host) {
    if (counts[host] > max_hosts - of_ranks.size())
      return invalid_argument("SLURM lists " + *spread + " tasks; at most " + std::to_string(max_hosts) +
                              " are allowed");
    of_ranks.insert(of_ranks.end(), counts[host], hosts[host]);
  }
  return std::optional(std::move(of_ranks));
}

Result<std::vector<std::string>> unchecked_hosts(const Rank& rank, const std::string& list,
                                                 const Environment& environment) {
  if (!list.empty()) return hosts_of_slots(list);
  if (rank.size && rank.local_size == rank.size) return std::vector<std::string>(*rank.size, "127.0.0.1");
  TROUPE_ASSIGN(auto hosts, hosts_of_slurm(environment));
  if (hosts) return std::move(*hosts);
  const std::string counted =
      rank.size ? ", which is one of " + std::to_string(*rank.size) + " ranks," : std::string();
  return invalid_argument(
      std::string(rank.launcher->name) + " has set " + rank.launcher->rank + counted +
      " but no variable tells the hosts of the ranks (SLURM_STEP_NODELIST or SLURM_JOB_NODELIST, with "
      "SLURM_STEP_TASKS_PER_NODE or SLURM_TASKS_PER_NODE); --hosts a:2,b:2 tells them, or --cluster FILE");
}

/// Fails unless the hosts agree with the numbers that the launcher has told this rank.
Status check_hosts(const std::vector<std::string>& hosts, const Rank& rank) {
  const Launcher& launcher = *rank.launcher;
  const auto contradicts = [](const char* variable, uint64_t value, uint64_t expected) {
    return invalid_argument(std::string(variable) + " is '" + std::to_string(value) +
                            "', but by the list of hosts it is " + std::to_string(expected) +
                            "; expected a list of all ranks, those of one host behind each other "
                            "(--hosts a:2,b:2)");
  };
  if (rank.size && *rank.size != hosts.size()) return contradicts(launcher.size, *rank.size, hosts.size());
  if (rank.rank >= hosts.size())
    return invalid_argument(std::string(launcher.rank) + " is '" + std::to_string(rank.rank) +
                            "'; expected a number below " + std::to_string(hosts.size()) +
                            ", the number of ranks by the list of hosts");
  const auto self = hosts.begin() + static_cast<std::ptrdiff_t>(rank.rank);
  const auto before = static_cast<uint64_t>(std::count(hosts.begin(), self, *self)),
             here = static_cast<uint64_t>(std::count(hosts.begin(), hosts.end(), *self));
  if (rank.local_rank && *rank.local_rank != before)
    return contradicts(launcher.local_rank, *rank.local_rank, before);
  if (rank.local_size && *rank.local_size != here)
    return contradicts(launcher.local_size, *rank.local_size, here);
  return {};
}

}  // namespace

Result<std::optional<uint64_t>> number_in(const Environment& environment, const std::string& name) {
  const auto text = environment(name);
  if (!text) return std::optional<uint64_t>();
  const auto value = number(*text);
  if (!value) return invalid_argument(name + " is '" + *text + "'; expected a number");
  return value;
}

std::string rank_variables() {
  std::string names;
  for (const Launcher& launcher : launchers)
    names += (names.empty() ? "" : ", ") + std::string(launcher.rank);
  return names;
}

Result<std::optional<Rank>> find_rank(const Environment& environment) {
  for (const Launcher& launcher : launchers) {
    TROUPE_ASSIGN(const auto number, number_in(environment, launcher.rank));
    if (!number) continue;
    Rank rank{&launcher, *number, {}, {}, {}, cluster_of(launcher, environment)};
    TROUPE_ASSIGN(rank.size, number_of(launcher.size, environment));
    TROUPE_ASSIGN(rank.local_rank, number_of(launcher.local_rank, environment));
    TROUPE_ASSIGN(rank.local_size, number_of(launcher.local_size, environment));
    if (rank.size && *rank.size > max_hosts)
      return invalid_argument(std::string(launcher.size) + " is '" + std::to_string(*rank.size) +
                              "'; at most " + std::to_string(max_hosts) + " are allowed");
    TROUPE_RETURN_IF_FAILED(check_below(launcher.rank, rank.rank, launcher.size, rank.size));
    TROUPE_RETURN_IF_FAILED(
        check_below(launcher.local_rank, rank.local_rank, launcher.local_size, rank.local_size));
    return std::optional(std::move(rank));
  }
  return std::optional<Rank>();
}

Result<std::optional<uint64_t>> pod_index(const Environment& environment) {
  TROUPE_ASSIGN(const auto index, number_in(environment, "JOB_COMPLETION_INDEX"));
  if (index || !environment("KUBERNETES_SERVICE_HOST")) return index;
  const std::string pod = environment("HOSTNAME").value_or("");
  return number(pod.substr(pod.rfind('-') + 1));
}

Result<std::vector<std::string>> hosts_of_ranks(const Rank& rank, const std::string& list,
                                                const Environment& environment) {
  TROUPE_ASSIGN(auto hosts, unchecked_hosts(rank, list, environment));
  TROUPE_RETURN_IF_FAILED(check_hosts(hosts, rank));
  return hosts;
}

}  // namespace troupe::cluster
