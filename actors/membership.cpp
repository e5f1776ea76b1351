#include "actors/membership.h"

#include <algorithm>

#include "messages/wire.h"
#include "messages/worker.capnp.h"

namespace troupe {
namespace {

std::string task_text(const std::string& job, int task) {
  return DeviceName{job, 0, task, "", DeviceName::unset}.text();
}

}  // namespace

Result<std::unique_ptr<Membership>> Membership::join(ActorNode& node, const MembershipOptions& options) {
  std::unique_ptr<Membership> membership(new Membership(node, options));
  TROUPE_RETURN_IF_FAILED(membership->open(options));
  return membership;
}

Membership::Membership(ActorNode& node, const MembershipOptions& options) : node_(node) {
  for (const auto& [job, tasks] : options.cluster.jobs)
    for (const auto& [task, endpoint] : tasks)
      if (job != options.job || task != options.task) others_.emplace(task_text(job, task), endpoint);
}

Membership::~Membership() {
  run_on_control(node_.scheduler, [this] { peers_.reset(); });
}

Status Membership::open(const MembershipOptions& options) {
  const std::string self = task_text(options.job, options.task);
  const std::string endpoint = options.cluster.endpoint(options.job, options.task);
  const std::string listen = options.listen.empty() ? endpoint : options.listen;
  Status status;
  run_on_control(node_.scheduler, [&] {
    peers_ = std::make_unique<Peers>(node_,
                                     PeersOptions{.self = {options.cluster.name, self, options.incarnation}});
    if (!listen.empty()) status = peers_->listen(listen).status();
    // Of two members the later one connects; who is no member connects to all.
    for (const auto& [task, where] : others_)
      if (status.ok() && (endpoint.empty() || task < self)) peers_->connect(task, where);
  });
  return status;
}

Result<std::vector<WorkerDevices>> Membership::others(int64_t deadline) const {
  std::vector<WorkerDevices> result;
  const auto all_linked = [this] {
    return std::ranges::all_of(others_, [this](const auto& other) { return linked(other.first); });
  };
  if (!node_.scheduler.wait(all_linked, deadline)) return missing();
  for (const auto& [task, endpoint] : others_) {
    TROUPE_ASSIGN(auto devices, devices_of(task, deadline));
    result.push_back(std::move(devices));
  }
  return result;
}

Status Membership::missing() const {
  std::string text;
  for (const auto& [task, endpoint] : others_)
    if (const auto linked = peers_->incarnation_of(task); !linked)
      text += "\n  " + task + " at " + endpoint + ": " + linked.status().text();
  return deadline_exceeded("the cluster is not complete:" + text);
}

Result<WorkerDevices> Membership::devices_of(const std::string& task, int64_t deadline) const {
  TROUPE_ASSIGN(const uint64_t incarnation, peers_->incarnation_of(task));
  WorkerDevices result{{task, incarnation, "worker", {}}, {}};
  TROUPE_ASSIGN(const auto worker, node_.directory.find(result.worker));
  TROUPE_ASSIGN(const auto answer, node_.engine.call(worker, Draft<wire::ListDevices>().finish(), deadline));
  for (const auto device : Message<wire::DevicesListed>(answer)->getDevices()) {
    TROUPE_ASSIGN(auto name, DeviceName::parse(view(device.getName())));
    result.devices.push_back({std::move(name), device.getIncarnation(), device.getMemory()});
  }
  return result;
}

}  // namespace troupe
