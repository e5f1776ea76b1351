#include "actors/net/client_node.h"

#include "actors/net/discovery.h"
#include "actors/net/node_network.h"
#include "actors/net/transport/certificate_files.h"
#include "actors/net/transport/tls.h"
#include "messages/env/random_id.h"
#include "messages/values/device_name.h"

namespace troupe {
namespace {

/// Returns the job of a client: the one in its certificate, if that names a task.
std::string job_of(const ClusterSpec& cluster) {
  constexpr const char* default_job = "client";
  if (!cluster.tls) return default_job;
  const auto task = certified_task(*cluster.tls);
  if (!task) return default_job;
  const auto name = DeviceName::parse(*task);
  return name ? name->job : default_job;
}

}  // namespace

Result<std::unique_ptr<ClientNode>> ClientNode::connect(const ClientHost& host, const ClusterSpec& cluster,
                                                        const std::string& endpoint, int number,
                                                        int64_t deadline) {
  if (cluster.tls) TROUPE_RETURN_IF_FAILED(check_valid(*cluster.tls));
  const DeviceName task{job_of(cluster), 0, number, "", DeviceName::unset};
  std::unique_ptr<ClientNode> client(
      new ClientNode(host, {cluster.name, task.text(), random_id(), host.heartbeat}));
  const Status status = client->open(cluster, endpoint, deadline);
  if (!status.ok()) return Status(status.code(), "cannot connect to " + endpoint + ": " + status.text());
  return client;
}

ClientNode::ClientNode(const ClientHost& host, NodeIdentity self) : host_(host), self_(std::move(self)) {}

ClientNode::~ClientNode() {
  run_on_control(host_.loop, [this] {
    peers_.reset();
    network_.reset();
  });
}

Status ClientNode::open(const ClusterSpec& cluster, const std::string& endpoint, int64_t deadline) {
  TROUPE_ASSIGN(network_, make_network(host_.loop, cluster));
  node_ = std::make_unique<ActorNode>(Env{host_.loop, host_.disk, network_.get(), random_id()}, host_.loop,
                                      host_.pool, host_.library);
  node_->heartbeat = self_.heartbeat;
  NodeIdentity asking = self_;
  asking.asking = true;
  TROUPE_ASSIGN(const auto discovery, Discovery::find_member(*node_, asking, endpoint, deadline));
  member_ = discovery->member();
  return open_link(cluster, endpoint, deadline);
}

Status ClientNode::open_link(const ClusterSpec& cluster, const std::string& endpoint, int64_t deadline) {
  run_on_control(host_.loop, [&] {
    peers_ = std::make_unique<Peers>(
        *node_, PeersOptions{.self = self_,
                             .members = {member_.task},
                             .link = {.offered_only = is_strict(cluster.transport), .frames = {}}});
    peers_->connect(member_.task, endpoint);
  });
  const auto linked = [this] { return peers_->incarnation_of(member_.task).status(); };
  const bool settled = host_.loop.wait(
      [&] {
        const Status status = linked();
        return status.ok() || is_permanent(status.code());
      },
      deadline);
  return settled ? linked() : deadline_exceeded(linked().text());
}

}  // namespace troupe
