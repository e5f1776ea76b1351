#include "actors/net/registrar.h"

#include <map>

#include "messages/schemas/registrar.capnp.h"
#include "messages/values/device_name.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

constexpr int64_t reserved_time = 10'000'000'000;  // nanoseconds

class RegistrarRole final : public Role {
 public:
  RegistrarRole(ActorNode& node, ClusterSpec cluster, PresenceOf presence)
      : node_(node), cluster_(std::move(cluster)), presence_(std::move(presence)) {
    on<wire::DescribeCluster>([this](const auto& message, Reply reply) {
      const std::string job(view(message->getJob()));
      const auto task = free_task(job, message->getTask());
      if (!task) return reply(task.status());
      if (message->getTake()) reserve(name_of(job, *task));
      reply(describe(*task));
    });
  }

 private:
  /// A task is reserved until this time, or until a process has opened a link as this task.
  struct Reservation {
    int64_t until = 0;
    uint64_t links = 0;  ///< how many links to the task had been opened when it was reserved
  };

  static std::string name_of(const std::string& job, int task) {
    return DeviceName{job, 0, task, "", DeviceName::unset}.text();
  }

  void reserve(const std::string& task) {
    reservations_[task] = {node_.env.clock.now() + reserved_time, presence_(task).links};
  }

  /// Returns the wanted task of the job, or its lowest free task if `wanted` is -1.
  Result<int> free_task(const std::string& job, int wanted) const {
    const auto tasks = cluster_.jobs.find(job);
    if (tasks == cluster_.jobs.end() || (wanted >= 0 && !tasks->second.contains(wanted)))
      return not_found("cluster " + cluster_.name + " has no " +
                       (wanted < 0 ? "" : "task " + std::to_string(wanted) + " of ") + "job '" + job +
                       "': growing a cluster at run time is not available yet");
    if (wanted >= 0) {
      if (Status taken = is_taken(name_of(job, wanted)); !taken.ok()) return taken;
      return wanted;
    }
    std::string all;
    for (const auto& [task, endpoint] : tasks->second) {
      const Status taken = is_taken(name_of(job, task));
      if (taken.ok()) return task;
      all += "\n  " + taken.text();
    }
    return already_exists("no task of job '" + job + "' is free:" + all);
  }

  Status is_taken(const std::string& task) const {
    const Presence presence = presence_(task);
    if (presence.linked) return already_exists(task + " is there already");
    const auto reservation = reservations_.find(task);
    if (reservation == reservations_.end() || reservation->second.until <= node_.env.clock.now() ||
        reservation->second.links != presence.links)
      return {};
    return already_exists(task + " was reserved for another node a moment ago");
  }

  AnyMessage describe(int task) const {
    Draft<wire::ClusterDescribed> draft;
    size_t count = 0;
    for (const auto& [job, tasks] : cluster_.jobs) count += tasks.size();
    auto members = draft->initTasks(static_cast<uint32_t>(count));
    uint32_t i = 0;
    for (const auto& [job, tasks] : cluster_.jobs)
      for (const auto& [number, endpoint] : tasks) {
        members[i].setJob(as_text(job));
        members[i].setTask(number);
        members[i++].setEndpoint(as_text(endpoint));
      }
    draft->setTask(task);
    return draft.finish();
  }

  ActorNode& node_;
  const ClusterSpec cluster_;
  const PresenceOf presence_;
  std::map<std::string, Reservation> reservations_;  ///< by task
};

}  // namespace

ActorRef spawn_registrar(ActorNode& node, const Address& address, ClusterSpec cluster, PresenceOf presence) {
  auto registrar =
      node.engine.spawn(std::make_unique<RegistrarRole>(node, std::move(cluster), std::move(presence)));
  node.directory.add(address, registrar);
  return registrar;
}

Address registrar_address(const Address& of_task) {
  return {of_task.task, of_task.incarnation, "registrar", {}};
}

}  // namespace troupe
