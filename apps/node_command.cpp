#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "apps/cluster/node.h"
#include "apps/command_support.h"
#include "apps/commands.h"
#include "apps/config/schema.h"
#include "messages/real_disk.h"

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
  options.listen = arguments.listen;
  options.roots = arguments.roots;
  const auto heartbeat = config::parse_nanoseconds(arguments.heartbeat);
  if (!heartbeat)
    return invalid_argument("--heartbeat '" + arguments.heartbeat +
                            "' is no time such as \"200ms\" or \"2s\"");
  options.heartbeat = *heartbeat;
  return options;
}

/// Until it is told to stop, or what it serves is over.
int serve(const cluster::NodeOptions& options, const std::function<bool()>& stopped) {
  const Status status = cluster::run_node(options, stopped);
  return status.ok() ? 0 : failed(status);
}

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
  return serve(*options, [&stop] { return stop || input_has_ended(); });
}

}  // namespace

int node(const NodeArguments& arguments) {
  if (arguments.inherit) return serve_parent();
  RealDisk disk;
  cluster::PlaceOptions wanted = arguments.place;
  if (!arguments.tls.certificate.empty()) wanted.tls = arguments.tls;
  wanted.take = !arguments.explain;
  const auto place = cluster::find_place(wanted, disk, environment_variable);
  if (!place) return failed(place.status());
  const std::string endpoint =
      arguments.listen.empty() ? place->cluster.endpoint(place->job, place->task) : arguments.listen;
  std::printf("%s/%d of cluster %s at %s\n", place->job.c_str(), place->task, place->cluster.name.c_str(),
              endpoint.c_str());
  if (!arguments.explain) {
    const auto options = options_at(*place, arguments);
    if (!options) return failed(options.status());
    const auto& stop = stop_on_signals();
    return serve(*options, [&stop] { return stop.load(); });
  }
  std::printf("found %s\n", place->found.c_str());
  if (arguments.place.cluster_file.empty())
    std::printf("a cluster file that says the same:\n%s", cluster::to_cluster_file(place->cluster).c_str());
  return 0;
}

}  // namespace troupe::commands
