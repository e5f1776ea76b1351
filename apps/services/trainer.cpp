#include "apps/services/trainer.h"

#include <memory>
#include <mutex>
#include <optional>

#include "actors/engine/role.h"
#include "actors/node_services.h"
#include "actors/runtime_impl.h"
#include "apps/services/job_thread.h"
#include "apps/services/run_control_role.h"
#include "apps/train/graphs/replication_tasks.h"
#include "apps/train/rounds/costs_wire.h"
#include "apps/train/rounds/peer_replica.h"
#include "apps/train/rounds/replica.h"
#include "messages/schemas/rounds.capnp.h"
#include "messages/schemas/trainer.capnp.h"
#include "messages/wire/texts_wire.h"
#include "messages/wire/wire.h"

namespace troupe::services {
namespace {

using train::ShardLoss;
using train::WorkerReplica;

/// The current training of a worker. Any thread.
class Training {
 public:
  /// With bounded staleness: what this worker asks before it begins a round.
  struct Gate {
    ActorRef coordinator;
    uint64_t training = 0;
    uint32_t worker = 0;
  };
  /// Begins a training; its replica is set later. Returns false if another one is active.
  bool begin() {
    const std::lock_guard lock(mutex_);
    return !std::exchange(active_, true);
  }
  bool active() const {
    const std::lock_guard lock(mutex_);
    return active_;
  }
  /// Cancels the training, even while a round runs. Returns false if there was none. set_replica(nullptr) must follow when nothing
  /// uses the replica.
  bool end() {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(active_, false)) return false;
    if (replica_) replica_->cancel();
    return true;
  }
  void set_replica(std::shared_ptr<WorkerReplica> made) {
    {
      const std::lock_guard lock(mutex_);
      replica_.swap(made);
      if (replica_ && !active_) replica_->cancel();  // the training ended while the replica was created
    }
    made.reset();  // destroys the previous replica without the mutex, because closing its session takes time
  }
  void set_gate(std::optional<Gate> gate) {
    const std::lock_guard lock(mutex_);
    gate_ = std::move(gate);
  }
  std::optional<Gate> gate() const {
    const std::lock_guard lock(mutex_);
    return gate_;
  }
  /// Returns null if there is none.
  std::shared_ptr<WorkerReplica> replica() const {
    const std::lock_guard lock(mutex_);
    return replica_;
  }

 private:
  mutable std::mutex mutex_;  ///< guards the members below
  std::shared_ptr<WorkerReplica> replica_;
  std::optional<Gate> gate_;
  bool active_ = false;
};

std::shared_ptr<WorkerReplica> make_replica(Runtime& runtime, config::RunConfig config, int64_t worker,
                                            uint64_t training) {
  if (train::is_among_peers(config))
    return std::make_shared<train::PeerReplica>(runtime, std::move(config), worker, training);
  return std::make_shared<train::Replica>(runtime, std::move(config), worker, training);
}

/// `message` is a BeginTraining or Relocate.
Status set_gate(Training& training, Runtime& runtime, auto message) {
  TROUPE_ASSIGN(const ActorRef coordinator, runtime.services().find(read(message.getCoordinator())));
  TROUPE_ASSIGN(const DeviceName self, DeviceName::parse(runtime.services().task()));
  training.set_gate(Training::Gate{coordinator, message.getTraining(), static_cast<uint32_t>(self.task)});
  return {};
}

void describe(const WorkerReplica& replica, wire::TrainingBegun::Builder begun) {
  begun.setPushes(static_cast<uint32_t>(replica.pushes()));
  begun.setReadsInPlace(replica.reads_in_place());
}

Result<AnyMessage> begin(Training& training, Runtime& runtime, const Message<wire::BeginTraining>& message) {
  training.set_replica(nullptr);
  TROUPE_ASSIGN(auto config, config::parse_run_config(std::string(view(message->getConfig())), "run file", "",
                                                      {}, runtime.ops()));
  TROUPE_ASSIGN(const DeviceName self, DeviceName::parse(runtime.services().task()));
  auto& tasks = config.cluster.tasks;
  for (const auto job : message->getJobs()) tasks[std::string(view(job.getName()))] = job.getTasks();
  config.cluster.are_processes = true;
  config.cluster.owners = read(message->getOwners());
  config.cluster.exchanges_on_gpus = message->getExchangesOnGpus();
  config.cluster.samples = message->getSamples();
  config.cluster.checksum = message->getChecksum();
  training.set_gate({});
  if (config.train.replication.mode == config::ReplicationMode::Ssp)
    TROUPE_RETURN_IF_FAILED(set_gate(training, runtime, *message));
  const auto replica = make_replica(runtime, std::move(config), self.task, message->getTraining());
  training.set_replica(replica);
  Draft<wire::TrainingBegun> draft;
  describe(*replica, *draft);
  return AnyMessage(draft.finish());
}

Result<AnyMessage> name_gpu(const Runtime& runtime) {
  TROUPE_ASSIGN(const std::string name, runtime.impl().exchange_name_of_gpu());
  Draft<wire::GpuNamed> draft;
  draft->setName(as_text(name));
  return AnyMessage(draft.finish());
}

Result<std::shared_ptr<WorkerReplica>> current(const Training& training) {
  if (auto replica = training.replica()) return replica;
  return failed_precondition("no training has begun on this worker");
}

/// `number` counts the assignments in the order in which they have come.
Result<AnyMessage> assign(const Training& training, const Message<wire::AssignShards>& message,
                          uint64_t number) {
  TROUPE_ASSIGN(const auto replica, current(training));
  if (message->getApplied() >= 0) replica->begin(static_cast<uint64_t>(message->getApplied()));
  replica->assign(vector_of<int64_t>(message->getShards()), number);
  return AnyMessage(Draft<wire::ShardsAssigned>().finish());
}

Result<AnyMessage> relocate(Training& training, Runtime& runtime, const Message<wire::Relocate>& message) {
  TROUPE_ASSIGN(const auto replica, current(training));
  if (training.gate()) TROUPE_RETURN_IF_FAILED(set_gate(training, runtime, *message));
  const auto progress = replica->relocate({message->getTraining(), read(message->getOwners())});
  Draft<wire::Relocated> draft;
  draft->setNext(progress.next);
  draft->setLeast(progress.least);
  draft->setMost(progress.most);
  return AnyMessage(draft.finish());
}

/// Waits until this worker may begin the round after this one.
Status await_others(Runtime& runtime, const Training::Gate& gate, uint64_t round) {
  Draft<wire::FinishRound> draft;
  draft->setTraining(gate.training);
  draft->setWorker(gate.worker);
  draft->setRound(round);
  return runtime.services().call_all({{gate.coordinator, draft.finish()}})[0].status();
}

/// `last` is the loss of the last round.
Result<AnyMessage> resume(const Training& training, uint64_t number, ShardLoss last) {
  TROUPE_ASSIGN(const auto replica, current(training));
  const auto next = replica->next();
  if (!next) return not_found("the training of this run has not begun, or has failed on this worker");
  Draft<wire::TrainingResumed> draft;
  draft->setTraining(number);
  const auto owners = replica->owners();
  write(owners, draft->initOwners(static_cast<uint32_t>(owners.size())));
  const auto shards = replica->shards();
  auto list = draft->initShards(static_cast<uint32_t>(shards.size()));
  for (uint32_t i = 0; i < shards.size(); ++i) list.set(i, static_cast<uint32_t>(shards[i]));
  draft->setNext(*next);
  draft->setLoss(last.loss);
  draft->setSamples(last.samples);
  describe(*replica, draft->initBegun());
  return AnyMessage(draft.finish());
}

Result<AnyMessage> run_rounds(const Training& training, Runtime& runtime, uint64_t first, uint32_t rounds,
                              ShardLoss& last) {
  TROUPE_ASSIGN(const auto replica, current(training));
  const auto gate = training.gate();
  Draft<wire::RoundsRun> draft;
  auto losses = draft->initLosses(rounds);
  auto samples = draft->initSamples(rounds);
  double waited = 0;
  for (uint32_t i = 0; i < rounds; ++i) {
    const ShardLoss loss = last = replica->run(first + i);
    losses.set(i, loss.loss);
    samples.set(i, loss.samples);
    waited += replica->waited();
    if (gate) {
      const train::Waiting waiting(replica->steps());
      TROUPE_RETURN_IF_FAILED(await_others(runtime, *gate, first + i));
    }
  }
  draft->setWaited(waited);
  const train::Staleness staleness = replica->take_staleness();
  draft->setSteps(staleness.steps);
  draft->setStaleness(staleness.sum);
  draft->setMostStale(staleness.most);
  const auto costs = replica->sampler().take();
  write(costs, draft->initCosts(static_cast<uint32_t>(costs.size())));
  return AnyMessage(draft.finish());
}

/// Shared by the actor and the service that owns it.
struct Work {
  explicit Work(Process& process) : rounds(process), takeovers(process) {}

  Training training;
  ShardLoss last_loss;  ///< of the last round; used by the thread `rounds` alone
  JobThread rounds;     ///< begins trainings and runs rounds
  JobThread takeovers;  ///< takes over shards while a round runs

  void end_training() {
    // The replica is destroyed after the pending jobs, which fail because it is cancelled.
    if (training.end())
      rounds.post(
          [this] {
            training.set_replica(nullptr);
            return AnyMessage{};
          },
          Reply());
  }
};

class TrainerRole final : public Role {
 public:
  TrainerRole(Runtime& runtime, std::shared_ptr<Work> shared) : runtime_(runtime), work_(std::move(shared)) {
    on<wire::NameGpu>([this](const auto&, Reply reply) {
      work_->rounds.post([&runtime = runtime_] { return name_gpu(runtime); }, std::move(reply));
    });
    on<wire::BeginTraining>(
        [this](const auto& message, Reply reply) { begin_for(message, std::move(reply)); });
    on<wire::AssignShards>([this](const auto& message, Reply reply) {
      JobThread& thread = message->getApplied() >= 0 ? work_->rounds : work_->takeovers;
      thread.post([work = work_.get(), message,
                   number = ++assignments_] { return assign(work->training, message, number); },
                  std::move(reply));
    });
    on<wire::RunRounds>([this](const auto& message, Reply reply) { run(*message, std::move(reply)); });
    on<wire::Relocate>([this](const auto& message, Reply reply) {
      training_ = message->getTraining();
      work_->rounds.post([work = work_.get(), &runtime = runtime_,
                          message] { return relocate(work->training, runtime, message); },
                         std::move(reply));
    });
    on<wire::ResumeTraining>([this](const auto& message, Reply reply) { resume(message, std::move(reply)); });
    on<wire::EndTraining>([this](const auto& message, Reply) {
      if (message->getTraining() == training_) end();
    });
    on<wire::TrainingExpired>([this](const auto& message, Reply) {
      if (awaits_client_ && message->getClient() == clients_) end();
    });
    on<wire::ControlTraining>(
        [this](const auto& message, Reply reply) { pass_on(message, std::move(reply)); });
    on<wire::ReportActivity>([this](const auto&, Reply reply) { reply(activity()); });
    on<wire::InterruptRound>([this](const auto& message, Reply) {
      const auto replica = work_->training.replica();
      if (replica && message->getTraining() == training_) replica->interrupt();
    });
    on<wire::RoundFixed>([this](const auto& message, Reply) {
      const auto replica = work_->training.replica();
      if (replica && message->getTraining() == training_) replica->round_fixed(message->getRound());
    });
  }

 private:
  void begin_for(const Message<wire::BeginTraining>& message, Reply reply) {
    const auto client = runtime_.services().find(read(message->getClient()));
    if (!client) return reply(client.status());
    // A client has one training at a time: if it begins another one, that before has failed or was lost.
    if (awaits_client_ || client_ == read(message->getClient())) end();
    if (!work_->training.begin())
      return reply(failed_precondition("this worker is training for another client"));
    training_ = message->getTraining();
    run_ = {message->getRun(), std::string(view(message->getConfig()))};
    patience_ = std::chrono::nanoseconds(message->getPatience());
    client_ = read(message->getClient());
    follow(*client);
    work_->rounds.post([work = work_.get(), &runtime = runtime_,
                        message] { return begin(work->training, runtime, message); },
                       std::move(reply));
  }

  /// Ends the training when the client is lost, unless it has a number with which it may be resumed for a while.
  void follow(const ActorRef& client) {
    awaits_client_ = false;
    watch(client, [this, number = ++clients_](const Status&) {
      if (number != clients_) return;
      if (run_.number == 0 || patience_ == std::chrono::nanoseconds::zero()) return end();
      awaits_client_ = true;
      Draft<wire::TrainingExpired> expired;
      expired->setClient(number);
      runtime_.services().send_after(patience_, self(), expired.finish());
    });
  }

  void resume(const Message<wire::ResumeTraining>& message, Reply reply) {
    const auto client = runtime_.services().find(read(message->getClient()));
    if (!client) return reply(client.status());
    if (run_.number == 0 || run_ != Run{message->getRun(), std::string(view(message->getConfig()))})
      return reply(not_found("this worker has no training of this run"));
    client_ = read(message->getClient());
    follow(*client);
    work_->rounds.post(
        [work = work_.get(), number = training_] {
          return services::resume(work->training, number, work->last_loss);
        },
        std::move(reply));
  }

  /// Passes a request on to the client of the training.
  void pass_on(const Message<wire::ControlTraining>& message, Reply reply) const {
    if (!work_->training.active())
      return reply(not_found("no training runs on " + runtime_.services().task()));
    const auto control = runtime_.services().find({client_.task, client_.incarnation, control_role, {}});
    if (!control) return reply(control.status());
    runtime_.services().call(*control, message,
                             [reply = std::make_shared<Reply>(std::move(reply))](Result<AnyMessage> answer) {
                               (*reply)(std::move(answer));
                             });
  }

  AnyMessage activity() const {
    const auto replica = work_->training.replica();
    const bool waits = replica && replica->steps().waiting > 0;
    Draft<wire::Activity> draft;
    draft->setCpu(runtime_.services().process().processor_time());
    draft->setWorks(work_->rounds.busy() && !waits);
    draft->setSteps(replica ? replica->steps().begun.load() : 0);
    draft->setTraining(replica ? training_ : 0);
    return draft.finish();
  }

  void end() {
    awaits_client_ = false;
    run_ = {};
    work_->end_training();
  }

  void run(const wire::RunRounds::Reader& message, Reply reply) {
    const uint64_t first = message.getFirst(), last = message.getLast();
    const uint32_t rounds = message.getRounds();
    if (rounds == 0 || last != first + rounds - 1)
      return reply(invalid_argument("the request for rounds is inconsistent: " + std::to_string(rounds) +
                                    " rounds, from round " + std::to_string(first) + " to round " +
                                    std::to_string(last)));
    work_->rounds.post(
        [work = work_.get(), &runtime = runtime_, first, rounds] {
          return run_rounds(work->training, runtime, first, rounds, work->last_loss);
        },
        std::move(reply));
  }

  Runtime& runtime_;
  std::shared_ptr<Work> work_;
  uint64_t training_ = 0;     ///< the number of the current training
  uint64_t assignments_ = 0;  ///< how many have come; two threads carry them out
  Address client_;            ///< an actor of its client
  /// What a client that was started anew must know to resume the training.
  struct Run {
    uint64_t number = 0;  ///< 0: there is no training that can be resumed
    std::string config;

    friend bool operator==(const Run&, const Run&) = default;
  };
  Run run_;
  std::chrono::nanoseconds patience_{};  ///< for how long the training waits for a new client
  bool awaits_client_ = false;           ///< the client has been lost
  uint64_t clients_ = 0;                 ///< how many clients the trainings have had so far
};

class TrainerService final : public NodeService {
 public:
  explicit TrainerService(Runtime& runtime)
      : runtime_(runtime), work_(std::make_shared<Work>(runtime.services().process())) {
    throw_if_failed(runtime.services().start(trainer_role, std::make_unique<TrainerRole>(runtime, work_)));
  }
  ~TrainerService() override {
    runtime_.services().stop(trainer_role);
    work_->rounds.end([this] { work_->takeovers.end([this] { work_->training.end(); }); });
    work_->training.set_replica(nullptr);
  }

 private:
  Runtime& runtime_;
  std::shared_ptr<Work> work_;
};

}  // namespace

std::unique_ptr<NodeService> start_trainer(Runtime& runtime) {
  return std::make_unique<TrainerService>(runtime);
}

}  // namespace troupe::services
