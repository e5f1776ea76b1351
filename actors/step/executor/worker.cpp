#include "actors/step/executor/worker.h"

#include <map>

#include "actors/engine/offloading_role.h"
#include "actors/site/session_tensors_role.h"
#include "actors/step/executor/partition_parts.h"
#include "actors/step/executor/profile_wire.h"
#include "messages/schemas/session_tensors.capnp.h"
#include "messages/schemas/worker.capnp.h"
#include "messages/wire/texts_wire.h"

namespace troupe {
namespace {

using Parts = std::vector<PartitionPart>;

/// The executors of one registered partition, and their addresses. None while it is being prepared.
struct Partition {
  std::string container;  ///< of its session's state
  std::vector<ActorRef> executors;
  std::vector<Address> addresses;
};

using PartitionKey = std::pair<uint64_t, uint64_t>;  // session, partition

class WorkerRole final : public OffloadingRole {
 public:
  WorkerRole(ActorNode& node, std::shared_ptr<TaskSites> task)
      : OffloadingRole(node), task_(std::move(task)),
        turns_(FairTurns::make(node.scheduler, node.pool.threads())) {
    on<wire::ListDevices>(
        [this](const auto& message, Reply reply) { list_devices(*message, std::move(reply)); });
    on<wire::DropContainers>(
        [this](const auto& message, Reply reply) { drop_containers(*message, std::move(reply)); });
    on<wire::RegisterPartition>(
        [this](const auto& message, Reply reply) { register_partition(message, std::move(reply)); });
    on<wire::RunPartition>([this](const auto& message, Reply reply) { run(message, std::move(reply)); });
    on<wire::AbortStep>([this](const auto& message, Reply) { abort(message); });
    on<wire::DeregisterPartition>([this](const auto& message, Reply) {
      deregister({message->getSession(), message->getPartition()});
    });
  }

 private:
  void started() override {
    for (const auto& [session, registered] : task_->sessions) watch_master(session, registered.master);
  }

  void stopping() override {
    while (!partitions_.empty()) deregister(partitions_.begin()->first);
  }

  void list_devices(wire::ListDevices::Reader request, Reply reply) const {
    for (const auto worker : request.getWorkers())
      if (const auto peer = node_.directory.find(read(worker)); !peer) return reply(peer.status());
    reply(devices());
  }

  AnyMessage devices() const {
    Draft<wire::DevicesListed> draft;
    auto list = draft->initDevices(static_cast<uint32_t>(task_->sites.size()));
    for (uint32_t i = 0; i < list.size(); ++i) {
      const Device& device = *task_->sites[i]->device;
      list[i].setName(as_text(device.name().text()));
      list[i].setIncarnation(device.incarnation());
      list[i].setMemory(device.memory_statistics().cap);
    }
    return draft.finish();
  }

  void drop_containers(wire::DropContainers::Reader request, Reply reply) {
    std::vector<std::string> containers;
    containers = read(request.getContainers());
    const auto reset = Draft<wire::ResetSession>().finish();
    for (const auto& [session, registered] : task_->sessions) {
      tell(registered.master, reset);
      drop_registered(session);
    }
    const auto cells = task_->state->reset(containers);
    drop(cells);
    Draft<wire::ContainersDropped> draft;
    draft->setStates(cells.size());
    reply(draft.finish());
  }

  void register_partition(const Message<wire::RegisterPartition>& message, Reply reply) {
    const PartitionKey key{message->getSession(), message->getPartition()};
    if (partitions_.contains(key))
      return reply(already_exists("partition " + std::to_string(key.second) + " of session " +
                                  std::to_string(key.first) + " is registered already"));
    const auto master = node_.directory.find(read(message->getMaster()));
    if (!master) return reply(master.status());
    const RegisteredSession registered{*master, std::string(view(message->getContainer()))};
    if (task_->sessions.try_emplace(key.first, registered).second) watch_master(key.first, *master);
    const auto partition = std::make_shared<Partition>();
    partition->container = registered.container;
    partitions_[key] = partition;
    auto kept = std::make_shared<Reply>(std::move(reply));
    compute<Parts>(
        [&node = node_, task = task_, message, master = *master, turns = turns_of(key.first)] {
          return prepare_parts(node, *task, message, master, turns);
        },
        [this, key, partition, kept](Result<Parts> parts) {
          (*kept)(prepared(key, partition, std::move(parts)));
        });
  }

  Result<AnyMessage> prepared(PartitionKey key, const std::shared_ptr<Partition>& partition,
                              Result<Parts> parts) {
    const auto found = partitions_.find(key);
    if (found == partitions_.end() || found->second != partition) {
      // The preparation may have made state for a session that ended meanwhile.
      if (!task_->sessions.contains(key.first)) drop_own(partition->container);
      return aborted("partition " + std::to_string(key.second) + " of session " + std::to_string(key.first) +
                     " was dropped while it was prepared");
    }
    if (!parts) {
      partitions_.erase(found);
      return parts.status();
    }
    for (PartitionPart& part : *parts) {
      const Address address = executor_address(task_->address("worker"), key.first, key.second, part.device);
      partition->executors.push_back(spawn_executor(node_, std::move(part.shared)));
      partition->addresses.push_back(address);
      node_.directory.add(address, partition->executors.back());
    }
    return AnyMessage(Draft<wire::PartitionRegistered>().finish());
  }

  std::shared_ptr<FairTurns::Session> turns_of(uint64_t session) {
    auto& turns = session_turns_[session];
    if (!turns) turns = std::make_shared<FairTurns::Session>(turns_);
    return turns;
  }

  void run(const Message<wire::RunPartition>& message, Reply reply) {
    const auto found = partitions_.find({message->getStep().getSession(), message->getPartition()});
    if (found == partitions_.end() || found->second->executors.empty())
      return reply(aborted("worker " + task_->task + " does not know partition " +
                           std::to_string(message->getPartition()) +
                           " of this session; the worker may have restarted"));
    const Partition& partition = *found->second;
    if (partition.executors.size() == 1) return forward(partition.executors[0], message, std::move(reply));
    std::vector<AddressedRequest> requests;
    for (const ActorRef& executor : partition.executors) requests.push_back({executor, message});
    const auto failure = std::make_shared<Status>();
    const auto kept = std::make_shared<Reply>(std::move(reply));
    ask_all(
        std::move(requests),
        [message, failure, kept](const Answers& answers) {
          if (!failure->ok()) return (*kept)(std::move(*failure));
          (*kept)(joined(message, answers));
        },
        [this, message, failure](size_t, const Status& status) {
          *failure = status;
          abort_executors(message, status);
        });
  }

  /// Ends the step on all devices after the first failure.
  void abort_executors(const Message<wire::RunPartition>& message, const Status& reason) {
    const auto found = partitions_.find({message->getStep().getSession(), message->getPartition()});
    if (found == partitions_.end()) return;
    Draft<wire::AbortStep> draft;
    draft->setStep(message->getStep());
    draft->setPartition(message->getPartition());
    write(reason, draft->initReason());
    const auto abort = draft.finish();
    for (const ActorRef& executor : found->second->executors) tell(executor, abort);
  }

  /// Combines the answers of a step's executors, none of which is a failure, into one.
  static AnyMessage joined(const Message<wire::RunPartition>& message, const Answers& answers) {
    std::vector<Message<wire::PartitionDone>> parts;
    std::vector<Tensor> fetches;
    std::vector<uint32_t> positions;
    for (const auto& answer : answers) {
      const auto& done = parts.emplace_back(*answer);
      fetches.insert(fetches.end(), done.attachments().begin(), done.attachments().end());
      for (const uint32_t position : done->getPositions()) positions.push_back(position);
    }
    Draft<wire::PartitionDone> draft;
    draft->setStep(message->getStep());
    draft->setPartition(message->getPartition());
    auto list = draft->initPositions(static_cast<uint32_t>(positions.size()));
    for (uint32_t i = 0; i < positions.size(); ++i) list.set(i, positions[i]);
    gather_profiles(parts, *draft);
    return draft.finish(std::move(fetches));
  }

  void abort(const Message<wire::AbortStep>& message) {
    const auto found = partitions_.find({message->getStep().getSession(), message->getPartition()});
    if (found == partitions_.end()) {
      node_.strays.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    for (const ActorRef& executor : found->second->executors) tell(executor, message);
  }

  void deregister(PartitionKey key) {
    const auto found = partitions_.find(key);
    if (found == partitions_.end()) return;
    for (const Address& address : found->second->addresses) node_.directory.remove(address);
    for (const ActorRef& executor : found->second->executors) engine().stop(executor);
    partitions_.erase(found);
  }

  void watch_master(uint64_t session, const ActorRef& master) {
    watch(master, [this, session](const Status&) { forget(session); });
  }

  /// Drops everything that the master of a session registered, and the state that is the session's own.
  void forget(uint64_t session) {
    drop_registered(session);
    session_turns_.erase(session);
    const auto registered = task_->sessions.extract(session);
    if (!registered.empty()) drop_own(registered.mapped().container);
  }

  /// Drops the state of a session's container unless it is the shared one.
  void drop_own(const std::string& container) const {
    if (!container.empty()) drop(task_->state->drop(container));
  }

  /// Drops the partitions of a session and the tensors that it keeps.
  void drop_registered(uint64_t session) {
    for (auto at = partitions_.lower_bound({session, 0});
         at != partitions_.end() && at->first.first == session; at = partitions_.lower_bound({session, 0}))
      deregister(at->first);
    drop_tensors(session);
  }

  void drop_tensors(uint64_t session) {
    Draft<wire::EndSession> draft;
    draft->setSession(session);
    const auto message = draft.finish();
    for (const auto& site : task_->sites)
      if (const auto keeper =
              node_.directory.find_local(task_->address(session_tensors_role, site->device->name().text())))
        tell(*keeper, message);
  }

  void drop(const std::vector<std::shared_ptr<StateCell>>& cells) const {
    for (const auto& cell : cells)
      for (const auto& site : task_->sites) site->drop(*cell);
  }

  std::shared_ptr<TaskSites> task_;
  std::map<PartitionKey, std::shared_ptr<Partition>> partitions_;
  const std::shared_ptr<FairTurns> turns_;
  std::map<uint64_t, std::shared_ptr<FairTurns::Session>> session_turns_;  ///< by session
};

}  // namespace

ActorRef spawn_worker(ActorNode& node, std::shared_ptr<TaskSites> task) {
  return node.engine.spawn(std::make_unique<WorkerRole>(node, std::move(task)));
}

Address executor_address(const Address& worker, uint64_t session, uint64_t partition,
                         const std::string& device) {
  return {worker.task, worker.incarnation, "executor",
          std::to_string(session) + '/' + std::to_string(partition) + device};
}

}  // namespace troupe
