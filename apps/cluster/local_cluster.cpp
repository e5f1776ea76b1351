#include "apps/cluster/local_cluster.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <cstring>
#include <random>

#include "apps/cluster/neighbours.h"

namespace troupe::cluster {
namespace {

/// Opens a socket that listens at a free port of this machine. Returns it with its address.
Result<std::pair<Descriptor, std::string>> listen_at_free_port() {
  Descriptor descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (descriptor.number() < 0 || ::bind(descriptor.number(), generic, size) != 0 ||
      ::listen(descriptor.number(), SOMAXCONN) != 0 ||
      ::getsockname(descriptor.number(), generic, &size) != 0)
    return unavailable(std::string("no listening socket could be opened at 127.0.0.1: ") +
                       std::strerror(errno));
  return std::pair(std::move(descriptor), "127.0.0.1:" + std::to_string(ntohs(address.sin_port)));
}

std::string random_name() {
  std::random_device random;
  std::string name;
  for (int i = 0; i < 4; ++i) name += std::to_string(random()) + "-";
  return name;
}

}  // namespace

Result<ClusterPlan> plan_local(const std::string& program, const std::map<std::string, int>& tasks,
                               const NodeOptions& common) {
  ClusterPlan plan;
  plan.spec.name = random_name();
  for (const auto& [job, count] : tasks)
    for (int task = 0; task < count; ++task) {
      TROUPE_ASSIGN(auto listening, listen_at_free_port());
      plan.spec.jobs[job][task] = listening.second;
      NodeOptions node = common;
      node.job = job;
      node.task = task;
      node.listen = "fd:" + std::to_string(listening_descriptor);
      plan.processes.push_back(
          {std::move(node), {program, "node", "--inherit"}, {}, std::move(listening.first)});
    }
  for (ProcessPlan& process : plan.processes) {
    process.node.cluster = plan.spec;
    process.node.threads = share_of(common.threads, plan.processes.size());
    process.node.neighbours = neighbours_of(plan.spec, process.node.job, process.node.task);
    ++process.node.neighbours.processes;  // this program
  }
  return plan;
}

}  // namespace troupe::cluster
