#include "apps/cluster/cluster_resolver.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/cluster/join.h"
#include "apps/cluster/processes.h"
#include "apps/cluster/ranks.h"
#include "apps/config/cluster_file.h"
#include "apps/config/document.h"

namespace troupe::cluster {
namespace {

constexpr int max_port = 65535;

/// Fails with InvalidArgument unless the task belongs to the cluster.
Result<ResolvedCluster> checked(ResolvedCluster resolved) {
  if (!resolved.cluster.endpoint(resolved.job, resolved.task).empty()) return resolved;
  const auto& jobs = resolved.cluster.jobs;
  const auto job = jobs.find(resolved.job);
  std::string known;
  const auto list = [&known](const std::string& name) { known += (known.empty() ? "" : ", ") + name; };
  if (job == jobs.end()) {
    for (const auto& [name, tasks] : jobs) list(name);
    return invalid_argument("the task was found " + resolved.found + ", which has no job '" + resolved.job +
                            "'; its jobs are " + known);
  }
  for (const auto& [number, endpoint] : job->second) list(std::to_string(number));
  return invalid_argument("the task was found " + resolved.found + ", which has no task " +
                          std::to_string(resolved.task) + " of job '" + resolved.job + "'; its tasks are " +
                          known);
}

Result<ResolvedCluster> from_file(const ResolverOptions& options, Disk& disk,
                                  const Environment& environment) {
  int task = options.task.value_or(0);
  std::string found = "by --job and --task in " + options.cluster_file;
  if (!options.task) {
    TROUPE_ASSIGN(const auto index, pod_index(environment));
    if (index) {
      task = static_cast<int>(std::min<uint64_t>(*index, std::numeric_limits<int>::max()));
      found = "by --job and the number of this pod in " + options.cluster_file;
    }
  }
  TROUPE_ASSIGN(auto spec, config::load_cluster(disk, options.cluster_file, options.job, task));
  return checked({std::move(spec), options.job, task, std::move(found)});
}

// {"cluster": {"ps": ["a:4242"], "worker": ["a:4243", "b:4242"]}, "task": {"type": "worker", "index": 0}}
Result<ResolvedCluster> from_tf_config(const std::string& text, bool plain) try {
  const auto json = nlohmann::json::parse(text);
  ResolvedCluster resolved;
  resolved.cluster.name = "tf_config";
  resolved.cluster.plain_anywhere = plain;
  for (const auto& [job, endpoints] : json.at("cluster").items())
    for (int task = 0; const auto& endpoint : endpoints)
      resolved.cluster.jobs[job][task++] = endpoint.get<std::string>();
  resolved.job = json.at("task").at("type");
  resolved.task = json.at("task").at("index");
  resolved.found = "by TF_CONFIG";
  return checked(std::move(resolved));
} catch (const nlohmann::json::exception& error) {
  return invalid_argument(
      std::string("TF_CONFIG is not as expected, such as {\"cluster\": {\"ps\": [\"a:4242\"], \"worker\": "
                  "[\"b:4242\"]}, \"task\": {\"type\": \"worker\", \"index\": 0}}: ") +
      error.what());
}

/// The job and the number of a task.
using Place = std::pair<std::string, int>;

/// Returns the place of a rank. `place_of_node` tells that of each node, which are numbered from 0.
Place place_of(uint64_t rank, bool first_trains, const std::function<Place(uint64_t)>& place_of_node) {
  if (!first_trains) return place_of_node(rank);
  return rank == 0 ? Place(owner_job, 0) : place_of_node(rank - 1);
}

std::string found_by(const Rank& rank) {
  return std::string("by ") + rank.launcher->rank + " " + std::to_string(rank.rank);
}

// The ranks are the tasks of the file, job by job in the order of their names.
Result<ResolvedCluster> from_file_by(const Rank& rank, const ResolverOptions& options, Disk& disk) {
  TROUPE_ASSIGN(const auto all, config::load_cluster(disk, options.cluster_file, owner_job, 0));
  std::vector<Place> nodes;
  for (const auto& [job, tasks] : all.jobs)
    for (const auto& [task, endpoint] : tasks) nodes.emplace_back(job, task);
  const size_t ranks = nodes.size() + (options.first_trains ? 1 : 0);
  if (rank.rank >= ranks || rank.size.value_or(ranks) != ranks)
    return invalid_argument(options.cluster_file + " has " + std::to_string(nodes.size()) +
                            " tasks; expected " + std::to_string(ranks) + " ranks, this one is " +
                            rank.launcher->rank + " " + std::to_string(rank.rank) +
                            (rank.size ? " of " + std::to_string(*rank.size) : ""));
  const auto [job, task] =
      place_of(rank.rank, options.first_trains, [&](uint64_t node) { return nodes[node]; });
  TROUPE_ASSIGN(auto spec, config::load_cluster(disk, options.cluster_file, job, task));
  return ResolvedCluster{std::move(spec), job, task, found_by(rank) + " in " + options.cluster_file};
}

Result<ResolvedCluster> from_ranks(const Rank& rank, const ResolverOptions& options,
                                   const Environment& environment) {
  TROUPE_ASSIGN(const auto hosts, hosts_of_ranks(rank, options.hosts, environment));
  const auto servers = static_cast<uint64_t>(options.servers);
  const auto place_of_node = [servers](uint64_t node) {
    return node < servers ? Place("ps", static_cast<int>(node))
                          : Place("worker", static_cast<int>(node - servers));
  };
  ResolvedCluster resolved;
  resolved.cluster.name = rank.cluster;
  resolved.cluster.plain_anywhere = options.plain;
  resolved.found = found_by(rank) + " of " + std::to_string(hosts.size());
  std::tie(resolved.job, resolved.task) = place_of(rank.rank, options.first_trains, place_of_node);
  std::map<std::string, int> nodes_of_host;
  for (uint64_t other = options.first_trains ? 1 : 0; other < hosts.size(); ++other) {
    const auto [job, task] = place_of(other, options.first_trains, place_of_node);
    const int port = options.port + nodes_of_host[hosts[other]]++;
    if (port > max_port)
      return invalid_argument("--port " + std::to_string(options.port) + " leaves no ports for the " +
                              std::to_string(nodes_of_host[hosts[other]]) + " nodes on " + hosts[other]);
    resolved.cluster.jobs[job][task] = hosts[other] + ":" + std::to_string(port);
  }
  return resolved;
}

}  // namespace

Result<ResolvedCluster> resolve_cluster(const ResolverOptions& options, Disk& disk,
                                        const Environment& environment) {
  const bool named = !options.job.empty() || options.task;
  if (!options.cluster_file.empty() && named) return from_file(options, disk, environment);
  if (!options.join.empty()) return resolve_by_asking(options);
  if (named) return invalid_argument("--job and --task need --cluster FILE or --join HOST:PORT");
  if (const auto text = environment("TF_CONFIG");
      text && options.cluster_file.empty() && !options.first_trains)
    return from_tf_config(*text, options.plain);
  TROUPE_ASSIGN(const auto rank, find_rank(environment));
  if (rank)
    return options.cluster_file.empty() ? from_ranks(*rank, options, environment)
                                        : from_file_by(*rank, options, disk);
  return invalid_argument(options.first_trains
                              ? "the rank of this process is unknown: none of " + rank_variables() +
                                    " is set; TF_CONFIG is for `troupe node`"
                              : "the task of this process is unknown: there is no --cluster FILE with --job "
                                "and no --join HOST:PORT, and none of TF_CONFIG, " +
                                    rank_variables() + " is set");
}

std::string to_cluster_file(const ClusterSpec& cluster) {
  const auto quoted = [](const std::string& text) { return config::to_toml(config::Value{text, {}}); };
  std::string toml = "cluster = { name = " + quoted(cluster.name);
  if (cluster.plain_anywhere) toml += ", plain = true";
  toml += " }\n[jobs]\n";
  for (const auto& [job, tasks] : cluster.jobs) {
    toml += quoted(job) + " = [";
    for (const auto& [task, endpoint] : tasks) toml += (task == 0 ? "" : ", ") + quoted(endpoint);
    toml += "]\n";
  }
  return toml;
}

}  // namespace troupe::cluster
