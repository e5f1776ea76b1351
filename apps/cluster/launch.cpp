#include "apps/cluster/launch.h"

#include <cerrno>
#include <map>
#include <sstream>

#include "apps/cluster/local_port.h"
#include "apps/cluster/neighbours.h"
#include "apps/config/cluster_file.h"

namespace troupe::cluster {
namespace {

/// Quotes the text as one word for a shell, except for "~/" at its beginning.
std::string quoted(const std::string& text) {
  if (text.starts_with("~/")) return "~/" + quoted(text.substr(2));
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

std::vector<std::string> remote_command(const LaunchOptions& options, const std::string& host) {
  std::vector<std::string> command;
  std::istringstream words(options.ssh);
  for (std::string word; words >> word;) command.push_back(word);
  command.push_back(host);
  const std::string folder = options.remote_folder;
  command.push_back((folder.empty() ? "" : "cd " + quoted(folder) + " && ") + "exec " +
                    quoted(options.remote_program) + " node --inherit");
  return command;
}

Status in_use(const std::string& job, int task, const std::string& endpoint) {
  return already_exists(job + '/' + std::to_string(task) + ": " + endpoint +
                        " is in use; `troupe train --cluster` trains on nodes that run already");
}

}  // namespace

bool is_this_machine(const std::string& endpoint) {
  const auto error = error_of_binding(endpoint.substr(0, endpoint.rfind(':')) + ":0");
  return error && *error == 0;
}

Result<ClusterPlan> plan_launch(const LaunchOptions& options, const NodeOptions& common, Disk& disk) {
  if (options.ssh.find_first_not_of(' ') == std::string::npos)
    return invalid_argument("--ssh is empty; expected a command");
  ClusterPlan plan;
  TROUPE_ASSIGN(plan.spec, config::load_cluster(disk, options.cluster_file, owner_job, 0));
  std::map<std::string, std::string> host_at;  // by endpoint; empty: this machine
  for (const auto& [job, tasks] : plan.spec.jobs)
    for (const auto& [task, endpoint] : tasks) {
      ProcessPlan process{common, {options.program, "node", "--inherit"}};
      TROUPE_ASSIGN(process.node.cluster, config::load_cluster(disk, options.cluster_file, job, task));
      process.node.job = job;
      process.node.task = task;
      if (options.ssh_everywhere || !is_this_machine(endpoint)) {
        process.host = host_of(endpoint);
        process.command = remote_command(options, process.host);
      } else if (const auto error = error_of_binding(endpoint); error && *error == EADDRINUSE) {
        return in_use(job, task, endpoint);
      }
      host_at[endpoint] = process.host;
      plan.processes.push_back(std::move(process));
    }
  for (ProcessPlan& process : plan.processes) {
    Neighbours& neighbours = process.node.neighbours;
    neighbours = neighbours_of(plan.spec, process.node.job, process.node.task,
                               [&](const std::string& endpoint) { return host_at.at(endpoint); });
    if (process.host.empty() || common.threads != 0)
      process.node.threads = share_of(common.threads, neighbours.processes);
    if (process.host.empty()) ++neighbours.processes;  // this program shares the memory of this machine
  }
  return plan;
}

}  // namespace troupe::cluster
