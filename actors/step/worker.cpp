#include "actors/step/worker.h"

#include <map>

#include "actors/site/graph_wire.h"
#include "actors/site/session_tensors_role.h"
#include "actors/step/executor.h"
#include "actors/step/profile_wire.h"
#include "messages/schemas/session_tensors.capnp.h"
#include "messages/schemas/worker.capnp.h"
#include "messages/wire/texts_wire.h"

namespace troupe {
namespace {

/// The executors of one registered partition, and their addresses.
struct Partition {
  std::vector<ActorRef> executors;
  std::vector<Address> addresses;
};

using PartitionKey = std::pair<uint64_t, uint64_t>;  // session, partition

class WorkerRole final : public Role {
 public:
  WorkerRole(ActorNode& node, std::shared_ptr<TaskSites> task)
      : node_(node), task_(std::move(task)), turns_(FairTurns::make(node.scheduler, node.pool.threads())) {
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
    std::unordered_map<std::string, Address> peers;
    for (const auto executor : message->getExecutors())
      peers[std::string(view(executor.getDevice()))] = read(executor.getAddress());
    partitions_[key];
    for (const auto part : message->getParts())
      if (Status status = spawn_part(message, part, peers, *master); !status.ok()) {
        deregister(key);
        return reply(std::move(status));
      }
    reply(Draft<wire::PartitionRegistered>().finish());
  }

  Status spawn_part(const Message<wire::RegisterPartition>& message, wire::Part::Reader part,
                    const std::unordered_map<std::string, Address>& peers, const ActorRef& master) {
    const std::string device(view(part.getDevice()));
    const auto site = find_site(device);
    if (!site) return not_found("task " + task_->task + " has no device " + device);
    if (digest_of(part.getGraph()) != part.getGraphDigest())
      return data_loss("the graph for " + device +
                       " has another digest than the message says: it was damaged on its way");
    auto graph = std::make_shared<Graph>(node_.library->ops);
    TROUPE_RETURN_IF_FAILED(read_into(*graph, part.getGraph(), message));
    ExecutorOptions options;
    options.site = site;
    options.session = message->getSession();
    options.partition = message->getPartition();
    options.container = view(message->getContainer());
    options.seed = message->getSeed();
    options.master = master;
    options.turns = turns_of(options.session);
    options.client = read(message->getMaster());
    options.executors = peers;
    TROUPE_ASSIGN(options.plan, prepare(part, std::move(graph), *site, options));
    const Address address =
        executor_address(task_->address("worker"), options.session, options.partition, device);
    Partition& partition = partitions_[{options.session, options.partition}];
    TROUPE_ASSIGN(auto executor, spawn_executor(node_, std::move(options)));
    node_.directory.add(address, executor);
    partition.executors.push_back(std::move(executor));
    partition.addresses.push_back(address);
    return {};
  }

  std::shared_ptr<FairTurns::Session> turns_of(uint64_t session) {
    auto& turns = session_turns_[session];
    if (!turns) turns = std::make_shared<FairTurns::Session>(turns_);
    return turns;
  }

  Result<std::shared_ptr<const PreparedPlan>> prepare(wire::Part::Reader part,
                                                      std::shared_ptr<const Graph> graph, DeviceSite& site,
                                                      ExecutorOptions& options) {
    TROUPE_ASSIGN(const auto feeds, ends(*graph, part.getFeeds(), options.feeds));
    TROUPE_ASSIGN(const auto fetches, ends(*graph, part.getFetches(), options.fetches));
    TROUPE_ASSIGN(auto plan, Plan::make(std::move(graph), feeds, fetches));
    return PreparedPlan::make(std::move(plan), node_.library->kernels, *site.device,
                              [this, &options, home = site.device->name().text()](const Node& node) {
                                return task_->state->require(options.container, node, home);
                              });
  }

  static Result<std::vector<Output>> ends(const Graph& graph, capnp::List<wire::End>::Reader list,
                                          std::vector<uint32_t>& positions) {
    std::vector<Output> outputs;
    for (const auto end : list) {
      outputs.push_back({end.getOutput().getNode(), end.getOutput().getIndex()});
      positions.push_back(end.getPosition());
      if (const Status status = graph.check(outputs.back()); !status.ok())
        return invalid_argument("output " + std::to_string(end.getOutput().getIndex()) + " of node number " +
                                std::to_string(end.getOutput().getNode()) + " is to be fed or fetched; it " +
                                status.text());
    }
    return outputs;
  }

  void run(const Message<wire::RunPartition>& message, Reply reply) {
    const auto found = partitions_.find({message->getStep().getSession(), message->getPartition()});
    if (found == partitions_.end())
      return reply(aborted("worker " + task_->task + " does not know partition " +
                           std::to_string(message->getPartition()) +
                           " of this session; the worker may have restarted"));
    const Partition& partition = found->second;
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
    for (const ActorRef& executor : found->second.executors) tell(executor, abort);
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
    for (const ActorRef& executor : found->second.executors) tell(executor, message);
  }

  void deregister(PartitionKey key) {
    const auto found = partitions_.find(key);
    if (found == partitions_.end()) return;
    for (const Address& address : found->second.addresses) node_.directory.remove(address);
    for (const ActorRef& executor : found->second.executors) engine().stop(executor);
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
    if (!registered.empty() && !registered.mapped().container.empty())
      drop(task_->state->drop(registered.mapped().container));
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

  std::shared_ptr<DeviceSite> find_site(const std::string& device) const {
    for (const auto& site : task_->sites)
      if (site->device->name().text() == device) return site;
    return nullptr;
  }

  ActorNode& node_;
  std::shared_ptr<TaskSites> task_;
  std::map<PartitionKey, Partition> partitions_;
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
