#include "apps/cluster/cluster_resolver.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "apps/cluster/join.h"
#include "apps/config/cluster_file.h"
#include "apps/config/document.h"

namespace troupe::cluster {
namespace {

constexpr size_t max_hosts = 1 << 16;

std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return {};
  return value;
}

/// Fails with InvalidArgument unless the task belongs to the cluster.
Result<ResolvedCluster> checked(ResolvedCluster resolved) {
  if (!resolved.cluster.endpoint(resolved.job, resolved.task).empty()) return resolved;
  return invalid_argument("task found " + resolved.found + ", which has no task " +
                          std::to_string(resolved.task) + " of job '" + resolved.job + "'");
}

Result<ResolvedCluster> from_file(const ResolverOptions& options, Disk& disk) {
  const int task = options.task.value_or(0);
  TROUPE_ASSIGN(auto spec, config::load_cluster(disk, options.cluster_file, options.job, task));
  return checked({std::move(spec), options.job, task, "by --job and --task in " + options.cluster_file});
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
  return invalid_argument(std::string("TF_CONFIG cannot be read: ") + error.what());
}

/// Returns the number of tasks of each host: "2(x3),1" becomes 2 2 2 1.
Result<std::vector<uint64_t>> tasks_per_host(const std::string& text) {
  std::vector<uint64_t> counts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = std::string_view(text).substr(begin, end - begin);
    const size_t bracket = item.find("(x");
    const auto count = number(item.substr(0, bracket));
    const auto times = bracket == std::string_view::npos || item.back() != ')'
                           ? std::optional<uint64_t>(bracket == std::string_view::npos ? 1 : 0)
                           : number(item.substr(bracket + 2, item.size() - bracket - 3));
    if (!count || !times || *times == 0 || counts.size() + *times > max_hosts)
      return invalid_argument("SLURM's list of tasks per host '" + text +
                              "' cannot be read; expected a list such as '2(x3),1'");
    counts.insert(counts.end(), *times, *count);
    begin = end + 1;
  }
  return counts;
}

class Slurm {
 public:
  Slurm(const ResolverOptions& options, const Environment& environment)
      : options_(options), environment_(environment) {}

  Result<ResolvedCluster> find() const {
    TROUPE_ASSIGN(const auto list, either("SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"));
    TROUPE_ASSIGN(const auto spread, either("SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"));
    TROUPE_ASSIGN(const auto hosts, slurm_hosts(list));
    TROUPE_ASSIGN(const auto counts, tasks_per_host(spread));
    if (hosts.size() != counts.size())
      return invalid_argument("SLURM lists " + std::to_string(hosts.size()) + " hosts, but the tasks of " +
                              std::to_string(counts.size()) + " hosts");
    const auto process = number(environment_("SLURM_PROCID").value_or(""));
    if (!process)
      return invalid_argument("SLURM_PROCID is '" + environment_("SLURM_PROCID").value_or("") +
                              "'; expected a number");
    ResolvedCluster resolved;
    resolved.cluster.name = "slurm-" + environment_("SLURM_JOB_ID").value_or("");
    resolved.cluster.plain_anywhere = options_.plain;
    resolved.found = "by SLURM_PROCID " + std::to_string(*process) + " in " + list;
    uint64_t rank = 0;
    for (size_t host = 0; host < hosts.size(); ++host)
      for (uint64_t local = 0; local < counts[host]; ++local, ++rank) {
        const auto [job, task] = role_of(rank);
        resolved.cluster.jobs[job][task] = hosts[host] + ":" + std::to_string(options_.slurm_port + local);
        if (rank == *process) std::tie(resolved.job, resolved.task) = std::pair(job, task);
      }
    return checked(std::move(resolved));
  }

 private:
  Result<std::string> either(const std::string& first, const std::string& second) const {
    if (auto value = environment_(first)) return *value;
    if (auto value = environment_(second)) return *value;
    return invalid_argument("SLURM has set SLURM_PROCID, but neither " + first + " nor " + second);
  }
  std::pair<std::string, int> role_of(uint64_t rank) const {
    const auto servers = static_cast<uint64_t>(options_.slurm_servers);
    return rank < servers ? std::pair(std::string("ps"), static_cast<int>(rank))
                          : std::pair(std::string("worker"), static_cast<int>(rank - servers));
  }

  const ResolverOptions& options_;
  const Environment& environment_;
};

/// Adds the hosts of a range such as "01-03" or "7", each with the prefix and suffix.
Status add_range(const std::string& prefix, const std::string& range, const std::string& suffix,
                 std::vector<std::string>& hosts) {
  const size_t dash = range.find('-');
  const std::string first = range.substr(0, dash),
                    last = dash == std::string::npos ? first : range.substr(dash + 1);
  const auto begin = number(first), end = number(last);
  if (!begin || !end || *end < *begin || hosts.size() + (*end - *begin) >= max_hosts)
    return invalid_argument("'" + range + "' is not a range of hosts such as '01-03' or '7'");
  for (uint64_t i = *begin; i <= *end; ++i) {
    std::string digits = std::to_string(i);
    if (digits.size() < first.size()) digits.insert(0, first.size() - digits.size(), '0');
    hosts.push_back(std::string(prefix).append(digits).append(suffix));
  }
  return {};
}

/// Splits the list at the commas outside brackets.
std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> items(1);
  int depth = 0;
  for (const char c : list) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0)
      items.emplace_back();
    else
      items.back() += c;
  }
  return items;
}

}  // namespace

Result<std::vector<std::string>> slurm_hosts(const std::string& list) {
  std::vector<std::string> hosts;
  for (const std::string& item : split(list)) {
    const size_t open = item.find('['), close = item.find(']');
    if (open == std::string::npos && close == std::string::npos && !item.empty()) {
      hosts.push_back(item);
      continue;
    }
    if (open == std::string::npos || close == std::string::npos || close < open)
      return invalid_argument("'" + list + "' is not a list of hosts such as 'a[01-03,7],b'");
    for (const std::string& range : split(item.substr(open + 1, close - open - 1)))
      TROUPE_RETURN_IF_FAILED(add_range(item.substr(0, open), range, item.substr(close + 1), hosts));
  }
  return hosts;
}

Result<ResolvedCluster> resolve_cluster(const ResolverOptions& options, Disk& disk,
                                        const Environment& environment) {
  if (!options.cluster_file.empty()) return from_file(options, disk);
  if (!options.join.empty()) return resolve_by_asking(options);
  if (!options.job.empty() || options.task)
    return invalid_argument("--job and --task need --cluster FILE or --join HOST:PORT");
  if (const auto text = environment("TF_CONFIG")) return from_tf_config(*text, options.plain);
  if (environment("SLURM_PROCID")) return Slurm(options, environment).find();
  return invalid_argument(
      "the task of this node is unknown: there is no --cluster FILE and no --join HOST:PORT, and "
      "neither TF_CONFIG nor SLURM_PROCID is set");
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
