#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "apps/cluster/node.h"
#include "apps/commands/command_support.h"
#include "apps/commands/commands.h"
#include "apps/config/schema.h"
#include "messages/env/real_disk.h"
#include "messages/values/device_name.h"

namespace troupe::commands {
namespace {

std::optional<std::string> environment_variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

Result<cluster::NodeOptions> options_at(const cluster::Place& place, const NodeArguments& arguments) {
  cluster::NodeOptions options;
  options.cluster = place.cluster;
  options.job = place.job;
  options.task = place.task;
  options.devices = arguments.devices;
  options.threads = static_cast<size_t>(arguments.threads);
  options.memory = arguments.memory;
  options.listen = arguments.listen;
  options.roots = arguments.roots;
  const auto heartbeat = config::parse_nanoseconds(arguments.heartbeat);
  if (!heartbeat)
    return invalid_argument("--heartbeat '" + arguments.heartbeat +
                            "' is no time such as \"200ms\" or \"2s\"");
  options.heartbeat = *heartbeat;
  return options;
}

/// What a node says of itself: lines for people, or JSON objects, one a line.
class NodeLog {
 public:
  NodeLog(const cluster::Place& place, bool json)
      : task_(DeviceName{place.job, 0, place.task, "", DeviceName::unset}.text()), json_(json) {}

  void operator()(const std::string& event, const std::string& text) const {
    std::printf("%s\n", (json_ ? cluster::event_json(task_, event, text) : text).c_str());
  }
  /// The exit code.
  int ended(const Status& status) const {
    if (json_) (*this)("ended", status.ok() ? "it was told to end" : status.message());
    return status.ok() ? 0 : json_ ? Error(status).exit_code() : failed(status);
  }

 private:
  const std::string task_;
  const bool json_;
};

/// Whether whoever holds the other end of the standard input has closed it.
bool input_has_ended() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  char ignored = 0;
  return ::poll(&input, 1, 0) == 1 && ::read(STDIN_FILENO, &ignored, 1) <= 0;
}

/// What whoever started this process has in mind for it, by its standard input; when that ends, so does this process.
int serve_parent() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::string text;
  std::getline(std::cin, text);
  const auto options = cluster::read_node_options(text);
  if (!options) return failed(options.status());
  const auto& stop = stop_on_signals();
  const Status status = cluster::run_node(*options, [&stop] { return stop || input_has_ended(); });
  return status.ok() ? 0 : failed(status);
}

}  // namespace

int node(const NodeArguments& arguments) {
  if (arguments.inherit) return serve_parent();
  RealDisk disk;
  cluster::PlaceOptions wanted = arguments.place;
  if (!arguments.tls.certificate.empty()) wanted.tls = arguments.tls;
  wanted.take = !arguments.explain;
  const auto place = cluster::find_place(wanted, disk, environment_variable);
  if (!place) return failed(place.status(), arguments.json);
  const NodeLog log(*place, arguments.json);
  log("place",
      place->job + "/" + std::to_string(place->task) + " of cluster " + place->cluster.name + " at " +
          (arguments.listen.empty() ? place->cluster.endpoint(place->job, place->task) : arguments.listen));
  if (arguments.explain) {
    log("found", "found " + place->found);
    if (wanted.cluster_file.empty())
      log("cluster", "a cluster file that says the same:\n" + cluster::to_cluster_file(place->cluster));
    return 0;
  }
  const auto options = options_at(*place, arguments);
  if (!options) return failed(options.status(), arguments.json);
  const auto& stop = stop_on_signals();
  return log.ended(cluster::run_node(
      *options, [&stop] { return stop.load(); }, std::ref(log)));
}

}  // namespace troupe::commands
