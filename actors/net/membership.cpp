#include "actors/net/membership.h"

#include <algorithm>

#include "actors/engine/end_actor.h"
#include "actors/net/devices_wire.h"
#include "actors/net/node_network.h"
#include "actors/net/registrar.h"
#include "messages/schemas/worker.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

constexpr int64_t question_pause = 10'000'000;  // nanoseconds until a node that lacks a link is asked again

std::string task_text(const std::string& job, int task) {
  return DeviceName{job, 0, task, "", DeviceName::unset}.text();
}

std::set<std::string> members_of(const ClusterSpec& cluster) {
  std::set<std::string> members;
  for (const auto& [job, tasks] : cluster.jobs)
    for (const auto& [task, endpoint] : tasks) members.insert(task_text(job, task));
  return members;
}

Status unknown_task(const std::string& name, const std::vector<std::string>& tasks) {
  std::string text = "the session is to use '" + name + "', but no task has that name; the tasks:";
  for (const std::string& task : tasks) text += "\n  " + task;
  return invalid_argument(text);
}

}  // namespace

Result<std::vector<std::string>> named_tasks(std::span<const std::string> wanted,
                                             const std::vector<std::string>& tasks) {
  if (wanted.empty()) return tasks;
  std::set<std::string> named;
  for (const std::string& text : wanted) {
    TROUPE_ASSIGN(const DeviceName name, DeviceName::parse(text));
    bool includes_one = false;
    for (const std::string& task : tasks) {
      TROUPE_ASSIGN(const DeviceName one, DeviceName::parse(task));
      if (!name.includes(one)) continue;
      named.insert(task);
      includes_one = true;
    }
    if (!includes_one) return unknown_task(text, tasks);
  }
  return std::vector<std::string>(named.begin(), named.end());
}

AnyMessage list_devices_request(const std::vector<Address>& workers) {
  Draft<wire::ListDevices> draft;
  auto list = draft->initWorkers(static_cast<uint32_t>(workers.size()));
  for (uint32_t i = 0; i < workers.size(); ++i) write(workers[i], list[i]);
  return draft.finish();
}

Result<std::unique_ptr<Membership>> Membership::join(ActorNode& node, const MembershipOptions& options) {
  std::unique_ptr<Membership> membership(new Membership(node, options));
  TROUPE_RETURN_IF_FAILED(membership->open(options));
  return membership;
}

Membership::Membership(ActorNode& node, const MembershipOptions& options)
    : node_(node), self_(task_text(options.job, options.task)) {
  for (const auto& [job, tasks] : options.cluster.jobs)
    for (const auto& [task, endpoint] : tasks)
      if (job != options.job || task != options.task) others_.emplace(task_text(job, task), endpoint);
}

Membership::~Membership() {
  if (registrar_) end_actor(node_, registrar_);
  run_on_control(node_.scheduler, [this] { peers_.reset(); });
}

Status Membership::open(const MembershipOptions& options) {
  const std::string endpoint = options.cluster.endpoint(options.job, options.task);
  const std::string listen = options.listen.empty() ? endpoint : options.listen;
  Status status;
  run_on_control(node_.scheduler, [&] {
    peers_ = std::make_unique<Peers>(
        node_, PeersOptions{.self = {options.cluster.name, self_, options.incarnation, options.heartbeat},
                            .members = members_of(options.cluster),
                            .link = {.offered_only = is_strict(options.cluster.transport), .frames = {}},
                            .displaced = options.displaced});
    registrar_ = spawn_registrar(node_, registrar_address({self_, options.incarnation, {}, {}}),
                                 options.cluster, [this](const std::string& task) {
                                   return task == self_ ? Presence{true} : peers_->presence_of(task);
                                 });
    if (!listen.empty()) status = peers_->listen(listen).status();
    // Of two members the one with the greater name connects; a client connects to all members.
    for (const auto& [task, where] : others_)
      if (status.ok() && (endpoint.empty() || task < self_)) peers_->connect(task, where);
  });
  return status;
}

Result<std::vector<std::string>> Membership::selected(std::span<const std::string> wanted) const {
  std::vector<std::string> tasks = {self_};
  for (const auto& [task, endpoint] : others_) tasks.push_back(task);
  TROUPE_ASSIGN(auto named, named_tasks(wanted, tasks));
  std::erase(named, self_);
  return named;
}

Result<std::vector<WorkerDevices>> Membership::others(int64_t deadline,
                                                      std::span<const std::string> wanted) const {
  TROUPE_ASSIGN(const auto tasks, selected(wanted));
  std::vector<WorkerDevices> result;
  const auto all_linked = [&] {
    return std::ranges::all_of(tasks, [this](const auto& task) { return link_status(task).ok(); });
  };
  const auto one_refused = [&] {
    return std::ranges::any_of(tasks, [this](const auto& task) { return is_refused(task); });
  };
  node_.scheduler.wait([&] { return all_linked() || one_refused(); }, deadline);
  if (!all_linked()) return missing(tasks);
  TROUPE_ASSIGN(const auto workers, workers_of(tasks));
  const AnyMessage request = list_devices_request(workers);
  for (const Address& worker : workers) {
    TROUPE_ASSIGN(auto devices, devices_of(worker, request, deadline));
    result.push_back(std::move(devices));
  }
  return result;
}

Result<std::vector<Address>> Membership::workers_of(const std::vector<std::string>& tasks) const {
  std::vector<Address> workers;
  for (const auto& task : tasks) {
    TROUPE_ASSIGN(const uint64_t incarnation, peers_->incarnation_of(task));
    workers.push_back({task, incarnation, "worker", {}});
  }
  return workers;
}

Result<std::vector<Address>> Membership::linked_workers(std::span<const std::string> wanted) const {
  TROUPE_ASSIGN(const auto tasks, selected(wanted));
  auto workers = workers_of(tasks);
  if (workers) return workers;
  const Status status = missing(tasks);
  return status.code() == Code::DeadlineExceeded ? unavailable(status.text()) : status;
}

Status Membership::missing(const std::vector<std::string>& tasks) const {
  std::string text;
  Code code = Code::DeadlineExceeded;
  for (const auto& task : tasks) {
    const Status status = link_status(task);
    if (status.ok()) continue;
    text += "\n  " + task + " at " + others_.at(task) + ": " + status.text();
    if (is_permanent(status.code())) code = status.code();
  }
  return Status(code, code == Code::DeadlineExceeded ? "the cluster is not complete:" + text
                                                     : "the cluster cannot be complete:" + text);
}

Result<WorkerDevices> Membership::devices_of(const Address& worker, const AnyMessage& request,
                                             int64_t deadline) const {
  TROUPE_ASSIGN(const auto actor, node_.directory.find(worker));
  auto answer = node_.engine.call(actor, request, deadline);
  while (!answer && answer.status().code() == Code::Unavailable && node_.env.clock.now() < deadline) {
    node_.scheduler.wait([] { return false; }, std::min(deadline, node_.env.clock.now() + question_pause));
    answer = node_.engine.call(actor, request, deadline);
  }
  if (!answer) return answer.status();
  TROUPE_ASSIGN(auto devices, read(Message<wire::DevicesListed>(*answer)->getDevices()));
  return WorkerDevices{worker, std::move(devices)};
}

}  // namespace troupe
