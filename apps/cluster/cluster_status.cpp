#include "apps/cluster/cluster_status.h"

#include <algorithm>
#include <random>
#include <thread>

#include "actors/net/refusal.h"
#include "actors/runtime.h"
#include "apps/cluster/processes.h"
#include "apps/services/monitor.h"
#include "apps/services/trainer.h"
#include "messages/schemas/monitor.capnp.h"
#include "messages/schemas/trainer.capnp.h"
#include "messages/wire/texts_wire.h"
#include "messages/wire/wire.h"

namespace troupe::cluster {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr auto pause_between_looks = std::chrono::milliseconds(5);

/// Returns a task of the job of clients that no other client is likely to be.
TaskOptions some_client() {
  constexpr int first = 1'000, last = 1'000'000'000;
  std::random_device random;
  return {owner_job, std::uniform_int_distribution(first, last)(random), 1};
}

RuntimeOptions client_of(const ClusterSpec& cluster) {
  RuntimeOptions options;
  options.threads = 1;
  options.tasks = {some_client()};
  options.cluster = cluster;
  return options;
}

std::vector<NodeReport> nodes_of(const ClusterSpec& cluster) {
  std::vector<NodeReport> nodes;
  for (const auto& [job, tasks] : cluster.jobs)
    for (const auto& [task, endpoint] : tasks)
      nodes.push_back({.task = DeviceName{job, 0, task, "", DeviceName::unset}.text(),
                       .endpoint = endpoint,
                       .reached = {},
                       .unlinked = {}});
  return nodes;
}

/// Waits until every node is linked or refuses this client for good.
void await_links(const Runtime& runtime, const std::vector<NodeReport>& nodes, SteadyClock::time_point end) {
  const auto is_settled = [&](const NodeReport& node) {
    const Status status = runtime.link_status(node.task);
    return status.ok() || is_permanent(status.code());
  };
  while (!std::ranges::all_of(nodes, is_settled) && SteadyClock::now() < end)
    std::this_thread::sleep_for(pause_between_looks);
}

AnyMessage question_for(const NodeReport& node, const std::vector<NodeReport>& nodes) {
  std::vector<std::string> others;
  for (const NodeReport& other : nodes)
    if (other.task != node.task) others.push_back(other.task);
  Draft<wire::DescribeNode> draft;
  write(others, draft->initTasks(static_cast<uint32_t>(others.size())));
  return draft.finish();
}

Result<ActorRef> actor_of(const Runtime& runtime, const char* role, const std::string& task) {
  TROUPE_ASSIGN(const Address address, runtime.services().address(role, task));
  return runtime.services().find(address);
}

void take(NodeReport& node, const Message<wire::NodeDescribed>& answer,
          const std::vector<NodeReport>& nodes) {
  node.started = answer->getStarted();
  node.sent = answer->getSent();
  node.received = answer->getReceived();
  const auto links = answer->getLinks();
  uint32_t i = 0;
  for (const NodeReport& other : nodes) {
    if (other.task == node.task || i == links.size()) continue;
    if (!links[i].getLinked()) node.unlinked.emplace_back(other.task, view(links[i].getText()));
    ++i;
  }
}

void take(NodeReport& node, const Message<wire::Activity>& answer) {
  node.trains = answer->getTraining() != 0;
  node.works = answer->getWorks();
  node.steps = answer->getSteps();
  node.cpu_seconds = static_cast<double>(answer->getCpu()) / 1e9;
}

/// Asks the nodes that are linked.
void ask(Runtime& runtime, std::vector<NodeReport>& nodes) {
  std::vector<AddressedRequest> requests;
  std::vector<NodeReport*> asked;
  for (NodeReport& node : nodes) {
    const auto monitor = actor_of(runtime, services::monitor_role, node.task);
    const auto trainer = actor_of(runtime, services::trainer_role, node.task);
    node.reached = monitor ? trainer.status() : monitor.status();
    if (!node.reached.ok()) continue;
    requests.push_back({*monitor, question_for(node, nodes)});
    requests.push_back({*trainer, Draft<wire::ReportActivity>().finish()});
    asked.push_back(&node);
  }
  const Answers answers = runtime.services().call_all(std::move(requests));
  for (size_t i = 0; i < asked.size(); ++i) {
    const auto &described = answers[2 * i], &activity = answers[2 * i + 1];
    asked[i]->reached = described ? activity.status() : described.status();
    if (!asked[i]->reached.ok()) continue;
    take(*asked[i], Message<wire::NodeDescribed>(*described), nodes);
    take(*asked[i], Message<wire::Activity>(*activity));
  }
}

}  // namespace

Result<std::vector<NodeReport>> cluster_status(const ClusterSpec& cluster,
                                               std::chrono::nanoseconds timeout) try {
  Runtime runtime(client_of(cluster));
  auto nodes = nodes_of(cluster);
  await_links(runtime, nodes, SteadyClock::now() + timeout);
  ask(runtime, nodes);
  return nodes;
} catch (const Error& error) {
  return error.status();
}

Result<std::string> control_cluster(const ClusterSpec& cluster, const std::string& action,
                                    const std::string& argument, std::chrono::nanoseconds timeout) try {
  Runtime runtime(client_of(cluster));
  auto workers = nodes_of(cluster);
  std::erase_if(workers, [](const NodeReport& node) { return !node.task.starts_with("/job:worker/"); });
  await_links(runtime, workers, SteadyClock::now() + timeout);
  Draft<wire::ControlTraining> draft;
  draft->setAction(as_text(action));
  draft->setArgument(as_text(argument));
  const AnyMessage request = draft.finish();
  Status failure = not_found("the cluster has no job worker");
  for (const NodeReport& worker : workers) {
    const auto trainer = actor_of(runtime, services::trainer_role, worker.task);
    if (failure = trainer.status(); !failure.ok()) continue;
    const Answers answers = runtime.services().call_all({{*trainer, request}});
    if (answers[0]) return std::string(view(Message<wire::TrainingControlled>(*answers[0])->getCheckpoint()));
    failure = answers[0].status();
    if (failure.code() == Code::FailedPrecondition || failure.code() == Code::InvalidArgument) break;
  }
  return failure;
} catch (const Error& error) {
  return error.status();
}

}  // namespace troupe::cluster
