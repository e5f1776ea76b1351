// The subcommand status: the state of a run, or of the nodes of a cluster.
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/cluster/cluster_status.h"
#include "apps/cluster/processes.h"
#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/config/cluster_file.h"
#include "apps/observe/status_text.h"
#include "apps/observe/watched_run.h"
#include "messages/env/real_disk.h"

namespace troupe::commands {
namespace {

struct StatusArguments {
  std::string run, cluster;
  double timeout = 5;
  bool json = false;
};

int status_of_run(const StatusArguments& arguments) {
  const auto folder = observe::find_run(arguments.run);
  if (!folder) return failed_to_open(folder.status(), arguments.json);
  const auto state = observe::state_of_run(*folder);
  if (!state) return failed(state.status(), arguments.json);
  if (arguments.json) {
    print_json(*state);
    return 0;
  }
  for (const std::string& line : observe::status_lines(*state)) std::printf("%s\n", line.c_str());
  return 0;
}

const char* what_it_does(const cluster::NodeReport& node) {
  if (!node.trains) return node.works ? "busy" : "idle";
  return node.works ? "trains" : "trains, waiting";
}

nlohmann::ordered_json as_json(const cluster::NodeReport& node) {
  nlohmann::ordered_json json = {
      {"task", node.task}, {"endpoint", node.endpoint}, {"reached", node.reached.ok()}};
  if (!node.reached.ok()) {
    json["problem"] = node.reached.text();
    return json;
  }
  json["started"] = node.started;
  json["activity"] = what_it_does(node);
  if (node.trains) json["steps"] = node.steps;
  json["cpu_seconds"] = node.cpu_seconds;
  json["sent_bytes"] = node.sent;
  json["received_bytes"] = node.received;
  json["unlinked"] = nlohmann::ordered_json::array();
  for (const auto& [task, why] : node.unlinked)
    json["unlinked"].push_back({{"task", task}, {"problem", why}});
  return json;
}

void print_status(const cluster::NodeReport& node) {
  if (!node.reached.ok()) {
    std::printf("%-32s cannot be reached: %s\n", node.task.c_str(), node.reached.text().c_str());
    return;
  }
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const double age = std::chrono::duration<double>(now).count() - node.started;
  constexpr double megabyte = 1e6;
  std::printf("%-32s %s, up for %.0f s, %.1f s of processors, sent %.1f MB, received %.1f MB",
              node.task.c_str(), what_it_does(node), age, node.cpu_seconds,
              static_cast<double>(node.sent) / megabyte, static_cast<double>(node.received) / megabyte);
  if (node.trains) std::printf(", step %llu", static_cast<unsigned long long>(node.steps));
  std::printf("\n");
  for (const auto& [task, why] : node.unlinked)
    std::printf("%-32s not linked to %s: %s\n", "", task.c_str(), why.c_str());
}

/// Returns 0 if all nodes have been reached.
int status_of_cluster(const StatusArguments& arguments) {
  RealDisk disk;
  const auto spec = config::load_cluster(disk, arguments.cluster, cluster::owner_job, 0);
  if (!spec) return failed(spec.status(), arguments.json);
  const auto timeout = std::chrono::duration<double>(arguments.timeout);
  const auto nodes =
      cluster::cluster_status(*spec, std::chrono::duration_cast<std::chrono::nanoseconds>(timeout));
  if (!nodes) return failed(nodes.status(), arguments.json);
  auto list = nlohmann::ordered_json::array();
  for (const auto& node : *nodes) {
    list.push_back(as_json(node));
    if (!arguments.json) print_status(node);
  }
  if (arguments.json) print_json({{"cluster", spec->name}, {"nodes", list}});
  return std::ranges::all_of(*nodes, [](const auto& node) { return node.reached.ok(); }) ? 0 : 1;
}

}  // namespace

void add_status_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<StatusArguments>();
  auto* command =
      add_command(app, "status",
                  "Print the state of a run that trains, or how it has ended; or what the nodes of a "
                  "cluster do.",
                  "troupe status runs/digits\n         troupe status --cluster cluster.toml");
  auto* run = command->add_option("run", arguments->run,
                                  "the folder of a run, or of all runs of a name: the newest one");
  auto* cluster = command->add_option("--cluster", arguments->cluster, "cluster file (TOML): asks each node")
                      ->excludes(run);
  command
      ->add_option("--timeout", arguments->timeout,
                   "with --cluster: for how many seconds nodes that cannot be reached are awaited (5)")
      ->needs(cluster)
      ->check(CLI::PositiveNumber);
  command->add_flag("--json", arguments->json, "print one line of JSON");
  command->callback([arguments, cluster, &result] {
    if (arguments->run.empty() && cluster->empty()) {
      result =
          failed(invalid_argument("missing: the folder of a run, such as runs/digits/001, or --cluster FILE"),
                 arguments->json);
      return;
    }
    result = cluster->empty() ? status_of_run(*arguments) : status_of_cluster(*arguments);
  });
}

}  // namespace troupe::commands
