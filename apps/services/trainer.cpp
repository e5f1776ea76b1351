#include "apps/services/trainer.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "actors/engine/role.h"
#include "actors/node_services.h"
#include "apps/train/replica.h"
#include "messages/schemas/trainer.capnp.h"
#include "messages/wire/wire.h"

namespace troupe::services {
namespace {

using train::Replica;
using train::ShardLoss;

/// The queue of jobs for the trainer's thread, and the current replica.
struct Work {
  using Job = std::function<Result<AnyMessage>(Work&)>;

  void post(Job job, Reply reply) {
    const std::lock_guard lock(mutex);
    jobs.emplace_back(std::move(job), std::move(reply));
    changed.notify_all();
  }
  /// Runs jobs until close() is called.
  void run();
  /// Cancels the current training, even while a job runs. Any thread.
  void end_training();
  /// Cancels the current training and ends the thread. Any thread.
  void close();
  void set_replica(std::shared_ptr<Replica> made);

  std::shared_ptr<Replica> replica;  ///< changed only by the trainer's thread, which holds the mutex then

  std::mutex mutex;  ///< guards the members below
  std::deque<std::pair<Job, Reply>> jobs;
  std::condition_variable changed;
  bool busy = false;  ///< whether a training has begun and not ended
  bool closing = false;
};

void Work::run() {
  for (;;) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return closing || !jobs.empty(); });
    if (closing) break;
    auto [job, reply] = std::move(jobs.front());
    jobs.pop_front();
    lock.unlock();
    try {
      reply(job(*this));
    } catch (const Error& error) {
      reply(error.status());
    } catch (const std::exception& error) {
      reply(internal(error.what()));
    }
  }
  replica.reset();
}

void Work::end_training() {
  const std::lock_guard lock(mutex);
  if (!std::exchange(busy, false)) return;
  if (replica) replica->cancel();
  const auto drop = [](Work& work) -> Result<AnyMessage> {
    work.set_replica(nullptr);
    return AnyMessage{};
  };
  // This job runs after the pending ones, which fail because the replica is cancelled.
  jobs.emplace_back(drop, Reply());
  changed.notify_all();
}

void Work::close() {
  end_training();
  const std::lock_guard lock(mutex);
  closing = true;
  changed.notify_all();
}

void Work::set_replica(std::shared_ptr<Replica> made) {
  {
    const std::lock_guard lock(mutex);
    replica.swap(made);
    if (replica && !busy) replica->cancel();  // the training ended while the replica was created
  }
  made.reset();  // destroys the previous replica without the mutex, because closing its session takes time
}

Result<AnyMessage> begin(Work& work, Runtime& runtime, const Message<wire::BeginTraining>& message) {
  work.set_replica(nullptr);
  TROUPE_ASSIGN(auto config, config::parse_run_config(std::string(view(message->getConfig())), "run file", "",
                                                      {}, runtime.ops()));
  TROUPE_ASSIGN(const DeviceName self, DeviceName::parse(runtime.services().task()));
  for (const auto job : message->getJobs())
    config.cluster.tasks[std::string(view(job.getName()))] = job.getTasks();
  work.set_replica(std::make_shared<Replica>(runtime, std::move(config), self.task));
  work.replica->begin(message->getRound());
  Draft<wire::TrainingBegun> draft;
  const auto& shards = work.replica->shards();
  auto list = draft->initShards(static_cast<uint32_t>(shards.size()));
  for (uint32_t i = 0; i < shards.size(); ++i) list.set(i, static_cast<uint32_t>(shards[i]));
  return AnyMessage(draft.finish());
}

Result<AnyMessage> run_rounds(Work& work, uint64_t first, uint32_t rounds) {
  if (!work.replica) return failed_precondition("no training has begun on this worker");
  std::vector<ShardLoss> all;
  double waited = 0;
  for (uint64_t round = first; round < first + rounds; ++round) {
    for (const ShardLoss& loss : work.replica->run(round)) all.push_back(loss);
    waited += work.replica->waited();
  }
  Draft<wire::RoundsRun> draft;
  auto losses = draft->initLosses(static_cast<uint32_t>(all.size()));
  auto samples = draft->initSamples(static_cast<uint32_t>(all.size()));
  for (uint32_t i = 0; i < all.size(); ++i) {
    losses.set(i, all[i].loss);
    samples.set(i, all[i].samples);
  }
  draft->setWaited(waited);
  return AnyMessage(draft.finish());
}

class TrainerRole final : public Role {
 public:
  TrainerRole(Runtime& runtime, std::shared_ptr<Work> shared) : runtime_(runtime), work_(std::move(shared)) {
    on<wire::BeginTraining>(
        [this](const auto& message, Reply reply) { begin_for(message, std::move(reply)); });
    on<wire::RunRounds>([this](const auto& message, Reply reply) {
      if (message->getRounds() == 0 || message->getLast() != message->getFirst() + message->getRounds() - 1)
        return reply(invalid_argument(
            "the request for rounds is inconsistent: " + std::to_string(message->getRounds()) +
            " rounds, from round " + std::to_string(message->getFirst()) + " to round " +
            std::to_string(message->getLast())));
      work_->post([first = message->getFirst(),
                   rounds = message->getRounds()](Work& work) { return run_rounds(work, first, rounds); },
                  std::move(reply));
    });
    on<wire::EndTraining>([this](const auto&, Reply) { work_->end_training(); });
  }

 private:
  void begin_for(const Message<wire::BeginTraining>& message, Reply reply) {
    const auto client = runtime_.services().find(read(message->getClient()));
    if (!client) return reply(client.status());
    {
      const std::lock_guard lock(work_->mutex);
      if (std::exchange(work_->busy, true))
        return reply(failed_precondition("this worker is training for another client"));
    }
    watch(*client, [this, training = ++trainings_](const Status&) {
      if (training == trainings_) work_->end_training();
    });
    work_->post([&runtime = runtime_, message](Work& work) { return begin(work, runtime, message); },
                std::move(reply));
  }

  Runtime& runtime_;
  std::shared_ptr<Work> work_;
  uint64_t trainings_ = 0;
};

class TrainerService final : public NodeService {
 public:
  explicit TrainerService(Runtime& runtime) : runtime_(runtime) {
    throw_if_failed(runtime.services().start(trainer_role, std::make_unique<TrainerRole>(runtime, work_)));
    thread_ = std::thread([work = work_] { work->run(); });
  }
  ~TrainerService() override {
    runtime_.services().stop(trainer_role);
    work_->close();
    thread_.join();
  }

 private:
  Runtime& runtime_;
  std::shared_ptr<Work> work_ = std::make_shared<Work>();
  std::thread thread_;
};

}  // namespace

std::unique_ptr<NodeService> start_trainer(Runtime& runtime) {
  return std::make_unique<TrainerService>(runtime);
}

}  // namespace troupe::services
