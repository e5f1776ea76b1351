#include "apps/train/node_watch.h"

#include <chrono>
#include <map>
#include <mutex>

#include "apps/services/monitor.h"
#include "messages/schemas/monitor.capnp.h"
#include "messages/values/device_name.h"
#include "messages/wire/message_reader.h"

namespace troupe::train {
namespace {

using SteadyClock = std::chrono::steady_clock;

}  // namespace

/// What the nodes have told so far, by task.
struct NodeWatch::Told {
  struct Node {
    bool is_asked = false;
    SteadyClock::time_point at;  ///< of the last answer
    observe::NodeTraffic traffic;
    uint64_t cpu = 0;  ///< nanoseconds
    double cores = 0;
  };

  void take(const std::string& task, const Result<AnyMessage>& answer) {
    const std::lock_guard lock(mutex);
    Node& node = nodes[task];
    node.is_asked = false;
    if (!answer) return;
    const Message<wire::NodeDescribed> described(*answer);
    const auto now = SteadyClock::now();
    const double seconds = std::chrono::duration<double>(now - node.at).count();
    const auto rate = [&](uint64_t count, uint64_t before) {
      const bool is_known =
          node.at != SteadyClock::time_point() && count >= before;  // else the node was started anew
      return is_known ? static_cast<double>(count - before) / seconds : 0;
    };
    node.traffic.sent_per_second = rate(described->getSent(), node.traffic.sent);
    node.traffic.received_per_second = rate(described->getReceived(), node.traffic.received);
    node.cores = rate(described->getCpu(), node.cpu) / 1e9;
    node.cpu = described->getCpu();
    node.traffic.sent = described->getSent();
    node.traffic.received = described->getReceived();
    node.traffic.unsent = described->getUnsent();
    node.at = now;
  }

  std::mutex mutex;  ///< guards the member below
  std::map<std::string, Node> nodes;
};

NodeWatch::NodeWatch(const Runtime& runtime, const std::optional<ClusterSpec>& cluster)
    : runtime_(runtime), told_(std::make_shared<Told>()) {
  if (!cluster) return;
  for (const auto& [job, members] : cluster->jobs)
    for (const auto& [task, endpoint] : members)
      tasks_.push_back(DeviceName{job, 0, task, "", DeviceName::unset}.text());
}

std::vector<observe::NodeState> NodeWatch::states() const {
  std::vector<observe::NodeState> states;
  for (const std::string& task : tasks_) {
    const Status status = runtime_.link_status(task);
    if (status.ok()) ask(task);
    const std::lock_guard lock(told_->mutex);
    const Told::Node& told = told_->nodes[task];
    states.push_back({.task = task,
                      .linked = status.ok(),
                      .problem = status.text(),
                      .transport = runtime_.transport_of(task),
                      .traffic = told.traffic,
                      .cores = told.cores});
  }
  return states;
}

/// Asks a node unless its last answer is still to come.
void NodeWatch::ask(const std::string& task) const {
  const auto address = runtime_.services().address(services::monitor_role, task);
  const auto monitor = address ? runtime_.services().find(*address) : address.status();
  if (!monitor) return;
  {
    const std::lock_guard lock(told_->mutex);
    if (std::exchange(told_->nodes[task].is_asked, true)) return;
  }
  runtime_.services().call(
      *monitor, Draft<wire::DescribeNode>().finish(),
      [told = told_, task](const Result<AnyMessage>& answer) { told->take(task, answer); });
}

}  // namespace troupe::train
