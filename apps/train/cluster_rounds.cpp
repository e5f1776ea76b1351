#include "apps/train/cluster_rounds.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <sstream>
#include <utility>

#include "actors/net/random_id.h"
#include "apps/services/trainer.h"
#include "messages/schemas/rounds.capnp.h"
#include "messages/schemas/trainer.capnp.h"
#include "messages/wire/wire.h"

namespace troupe::train {
namespace {

constexpr double seconds_per_request = 0.25;
constexpr uint64_t max_rounds_per_request = 10'000;

/// The device on which the variables of a task lie.
constexpr const char* device_of_variables = "/device:CPU:0";

AnyMessage begin_message(const config::RunConfig& config, uint64_t training, const Address& client,
                         const Address& coordinator) {
  Draft<wire::BeginTraining> draft;
  draft->setConfig(as_text(config.effective_toml()));
  auto jobs = draft->initJobs(static_cast<uint32_t>(config.cluster.tasks.size()));
  uint32_t i = 0;
  for (const auto& [name, tasks] : config.cluster.tasks) {
    jobs[i].setName(as_text(name));
    jobs[i++].setTasks(static_cast<uint32_t>(tasks));
  }
  draft->setTraining(training);
  write(client, draft->initClient());
  write(coordinator, draft->initCoordinator());
  return draft.finish();
}

std::string text_of(const std::vector<uint32_t>& shards) {
  std::string text = shards.size() == 1 ? "shard" : "shards";
  for (const uint32_t shard : shards) text += (shard == shards.front() ? " " : ", ") + std::to_string(shard);
  return text;
}

}  // namespace

struct ClusterRounds::Arrivals {
  struct Arrival {
    size_t worker = 0;
    ArrivalKind kind = ArrivalKind::Rounds;
    uint64_t first = 0;  ///< of the rounds requested
    Result<AnyMessage> answer;
  };
  void add(Arrival arrival) {
    const std::lock_guard lock(mutex);
    arrived.push_back(std::move(arrival));
    changed.notify_one();
  }
  bool has_some() {
    const std::lock_guard lock(mutex);
    return !arrived.empty();
  }
  /// Waits for an answer.
  Arrival take() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return !arrived.empty(); });
    Arrival arrival = std::move(arrived.front());
    arrived.pop_front();
    return arrival;
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Arrival> arrived;
};

/// The losses of the rounds of one request.
struct ClusterRounds::Losses {
  uint64_t first = 0;
  std::vector<std::vector<ShardLoss>> by_round;  ///< the known losses of each round
  size_t answers = 0;
  double waited = 0;
};

ClusterRounds::ClusterRounds(Runtime& runtime, const config::RunConfig& config, uint64_t round, DType loss,
                             Events events)
    : runtime_(runtime), config_(config), loss_(loss), events_(std::move(events)), training_(random_id()),
      arrivals_(std::make_shared<Arrivals>()) {
  const std::vector<std::string> job = {"/job:worker"};
  const auto trainers = value_or_throw(
      runtime.services().addresses(services::trainer_role, job, config.train.fault.start_timeout));
  for (const Address& trainer : trainers) {
    const DeviceName name = value_or_throw(DeviceName::parse(trainer.task));
    if (needs_all_workers() && name.task >= config.shards()) continue;  // it has no shard, and will get none
    workers_.push_back({trainer.task, trainer, value_or_throw(runtime.services().find(trainer)), {}});
  }
  begin(round);
}

ClusterRounds::~ClusterRounds() { end(); }

bool ClusterRounds::has_coordinator() const {
  return config_.train.replication.mode != config::ReplicationMode::Async && !needs_all_workers();
}

bool ClusterRounds::needs_all_workers() const {
  return config_.train.replication.mode == config::ReplicationMode::AllReduce;
}

bool ClusterRounds::has_bounded_staleness() const {
  return config_.train.replication.mode == config::ReplicationMode::Ssp;
}

// ---- Begin and end

void ClusterRounds::begin(uint64_t round) {
  std::vector<AddressedRequest> requests;
  coordinator_address_ = variable_roles("rounds").front();
  const AnyMessage message =
      begin_message(config_, training_, runtime_.services().address("worker"), coordinator_address_);
  for (Worker& worker : workers_) {
    requests.push_back({worker.trainer, message});
    worker.alive = true;
  }
  const Answers begun = runtime_.services().call_all(std::move(requests));
  for (size_t i = 0; i < begun.size(); ++i)
    if (!begun[i]) {
      end();
      throw Error(Status(begun[i].status()).at_device(workers_[i].task));
    }
  if (has_coordinator()) begin_rounds(round, Message<wire::TrainingBegun>(*begun.front())->getPushes());
  share_out(round);
}

/// Returns the addresses of the actors with this role beside the variables.
std::vector<Address> ClusterRounds::variable_roles(const char* role) const {
  const std::vector<std::string> tasks = {owners_of_variables(config_)};
  auto addresses =
      value_or_throw(runtime_.services().addresses(role, tasks, config_.train.fault.start_timeout));
  for (Address& address : addresses) address.key = address.task + device_of_variables;
  return addresses;
}

void ClusterRounds::begin_rounds(uint64_t round, uint32_t pushes) {
  const auto shards = static_cast<uint32_t>(config_.shards());
  const auto backups = static_cast<uint32_t>(config_.train.replication.backup_workers);
  Draft<wire::BeginRounds> draft;
  draft->setTraining(training_);
  write(runtime_.services().address("worker"), draft->initClient());
  const auto replicas = variable_roles("replicas");
  auto list = draft->initReplicas(static_cast<uint32_t>(replicas.size()));
  for (uint32_t i = 0; i < replicas.size(); ++i) write(replicas[i], list[i]);
  draft->setShards(shards);
  draft->setRequired(shards - backups);
  draft->setBackups(backups > 0);
  draft->setPushes(pushes);
  draft->setApplied(round);
  if (has_bounded_staleness()) draft->setStaleness(config_.train.replication.staleness);
  coordinator_ = value_or_throw(runtime_.services().find(coordinator_address_));
  call(coordinator_, draft.finish());
}

void ClusterRounds::end() {
  for (const Worker& worker : workers_)
    if (worker.alive || worker.joining)
      runtime_.services().send(worker.trainer, Draft<wire::EndTraining>().finish());
  if (!coordinator_) return;
  Draft<wire::EndRounds> draft;
  draft->setTraining(training_);
  const auto answers = runtime_.services().call_all({{std::exchange(coordinator_, {}), draft.finish()}});
  if (!answers[0]) return;
  const auto ended = *Message<wire::RoundsEnded>(*answers[0]);
  for (uint32_t shard = 0; shard < ended.getLeftOut().size(); ++shard)
    if (const uint64_t rounds = ended.getLeftOut()[shard]; rounds > 0)
      summary_ += (summary_.empty() ? "rounds without a shard that came too late: " : ", ") +
                  ("shard " + std::to_string(shard) + " " + std::to_string(rounds));
}

std::string ClusterRounds::finish() {
  end();
  if (staleness_.steps == 0) return summary_;
  const double mean = static_cast<double>(staleness_.sum) / static_cast<double>(staleness_.steps);
  std::ostringstream text;
  text.precision(2);
  text << "staleness of the gradients: " << std::fixed << mean << " updates in the mean, " << staleness_.most
       << " at most";
  return text.str();
}

AnyMessage ClusterRounds::call(const ActorRef& to, AnyMessage request) {
  auto answers = runtime_.services().call_all({{to, std::move(request)}});
  return value_or_throw(std::move(answers[0]));
}

// ---- Rounds

uint32_t ClusterRounds::rounds_per_request(uint64_t done, uint64_t last) const {
  const double fitting = seconds_per_round_ > 0 ? std::max(1.0, seconds_per_request / seconds_per_round_) : 1;
  return static_cast<uint32_t>(
      std::min({last - done, max_rounds_per_request, static_cast<uint64_t>(std::min(fitting, 1e9))}));
}

std::vector<double> ClusterRounds::advance(uint64_t done, uint64_t last) {
  welcome(done);
  const uint32_t rounds = rounds_per_request(done, last);
  Draft<wire::RunRounds> draft;
  draft->setFirst(done + 1);
  draft->setRounds(rounds);
  draft->setLast(done + rounds);
  const AnyMessage request = draft.finish();
  const auto begin = std::chrono::steady_clock::now();
  for (size_t i = 0; i < workers_.size(); ++i)
    if (workers_[i].alive && !workers_[i].shards.empty()) {
      ++workers_[i].unanswered;
      call_later(i, request, ArrivalKind::Rounds, done + 1);
    }
  Losses losses{done + 1, std::vector<std::vector<ShardLoss>>(rounds)};
  while (!is_complete(losses)) take_arrival(losses);
  seconds_per_round_ =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / rounds;
  waited_ = losses.waited;
  return means_of(losses);
}

/// Returns the loss of each round. A round whose loss no worker knows gets that of the round before.
std::vector<double> ClusterRounds::means_of(const Losses& losses) {
  std::vector<double> means;
  for (const auto& known : losses.by_round) {
    if (!known.empty()) last_loss_ = is_synchronous(config_) ? known.front().loss : batch_loss(known, loss_);
    means.push_back(last_loss_);
  }
  return means;
}

bool ClusterRounds::is_complete(const Losses& losses) const {
  if (has_backups() && losses.answers > 0) return true;  // the rounds have been applied; late workers follow
  return std::ranges::none_of(workers_, [](const Worker& worker) {
    return worker.alive && (worker.unanswered > 0 || !worker.failure.ok());
  });
}

void ClusterRounds::call_later(size_t worker, AnyMessage request, ArrivalKind kind, uint64_t first) {
  runtime_.services().call(workers_[worker].trainer, std::move(request),
                           [arrivals = arrivals_, worker, kind, first](Result<AnyMessage> answer) {
                             arrivals->add({worker, kind, first, std::move(answer)});
                           });
}

void ClusterRounds::take_arrival(Losses& losses) {
  const auto [index, kind, first, answer] = arrivals_->take();
  Worker& worker = workers_[index];
  if (kind == ArrivalKind::Begun) return joined(index, answer.status());
  if (kind == ArrivalKind::Probed) return probed(index, answer.status());
  if (kind == ArrivalKind::Rounds) --worker.unanswered;
  if (kind == ArrivalKind::Assigned) --worker.unassigned;
  if (!answer) return failed(index, answer.status());
  if (kind == ArrivalKind::Rounds && first == losses.first)
    add_losses(index, Message<wire::RoundsRun>(*answer), losses);
}

void ClusterRounds::add_losses(size_t worker, const Message<wire::RoundsRun>& run, Losses& losses) {
  const size_t rounds = losses.by_round.size();
  if (run->getLosses().size() != rounds || run->getSamples().size() != rounds)
    throw Error(internal("worker " + workers_[worker].task +
                         " returned the losses of other rounds than the " + std::to_string(rounds) +
                         " requested ones"));
  ++losses.answers;
  losses.waited = std::max(losses.waited, run->getWaited());
  staleness_.steps += run->getSteps();
  staleness_.sum += run->getStaleness();
  staleness_.most = std::max(staleness_.most, run->getMostStale());
  for (uint32_t i = 0; i < rounds; ++i)
    if (const int64_t samples = run->getSamples()[i]; samples > 0)
      losses.by_round[i].push_back({run->getLosses()[i], samples});
}

// ---- Workers that are lost and come back

/// Called when a request to a worker has failed. A request that changes nothing tells whether the worker has been lost, or
/// something that its step needs.
void ClusterRounds::failed(size_t index, const Status& failure) {
  Worker& worker = workers_[index];
  if (!worker.alive || !worker.failure.ok()) return;
  if (failure.code() != Code::Unavailable) give_up(index, failure);
  worker.failure = failure;
  call_later(index, assignment(index, -1), ArrivalKind::Probed);
}

void ClusterRounds::probed(size_t index, const Status& status) {
  const Status failure = std::exchange(workers_[index].failure, {});
  if (status.code() != Code::Unavailable) give_up(index, failure);
  lose(index, failure);
}

void ClusterRounds::give_up(size_t index, const Status& failure) {
  end();
  throw Error(Status(failure).at_device(workers_[index].task));
}

/// Lets other workers take over the shards of a worker that has been lost.
void ClusterRounds::lose(size_t index, const Status& failure) {
  Worker& worker = workers_[index];
  const bool owns_variables = index == 0 && !config_.cluster.tasks.contains("ps");
  if (owns_variables || needs_all_workers()) give_up(index, failure);
  worker.alive = false;
  worker.unanswered = worker.unassigned = 0;
  const auto shards = std::exchange(worker.shards, {});
  std::string successors;
  for (const uint32_t shard : shards) {
    // Only workers with shards have the values of the variables in the round that is in progress.
    Worker* successor = nullptr;
    for (Worker& other : workers_)
      if (other.alive && !other.shards.empty() &&
          (!successor || other.shards.size() < successor->shards.size()))
        successor = &other;
    if (!successor) give_up(index, failure);
    successor->shards.push_back(shard);
    const auto number = static_cast<size_t>(successor - workers_.data());
    ++successor->unassigned;
    call_later(number, assignment(number, -1), ArrivalKind::Assigned);
    successors += (successors.empty() ? "" : ", ") + successor->task;
  }
  tell_coordinator(-1);
  if (events_.line)
    events_.line("lost " + worker.task + ": " + failure.text() +
                 (shards.empty() ? std::string() : "; " + text_of(shards) + " taken over by " + successors));
  if (events_.restart) events_.restart(worker.task);
}

AnyMessage ClusterRounds::assignment(size_t worker, int64_t applied) const {
  Draft<wire::AssignShards> draft;
  const std::span<const uint32_t> shards(workers_[worker].shards);
  draft->setShards(kj::arrayPtr(shards.data(), shards.size()));
  draft->setApplied(applied);
  return draft.finish();
}

/// Begins the training on workers that are linked again, and shares the shards out anew when such a worker is ready.
void ClusterRounds::welcome(uint64_t done) {
  Losses none;
  while (arrivals_->has_some()) take_arrival(none);
  for (size_t i = 0; i < workers_.size(); ++i)
    if (!workers_[i].alive && !workers_[i].joining && runtime_.link_status(workers_[i].task).ok()) join(i);
  const auto is_idle = [](const Worker& worker) { return worker.alive && worker.shards.empty(); };
  const auto has_several = [](const Worker& worker) { return worker.alive && worker.shards.size() > 1; };
  if (std::ranges::any_of(workers_, is_idle) && std::ranges::any_of(workers_, has_several)) share_out(done);
}

void ClusterRounds::join(size_t index) {
  Worker& worker = workers_[index];
  const std::vector<std::string> task = {worker.task};
  const auto trainer = runtime_.services().addresses(services::trainer_role, task, std::chrono::seconds(1));
  if (!trainer || trainer->empty()) return;
  const auto actor = runtime_.services().find(trainer->front());
  if (!actor) return;
  worker.address = trainer->front();
  worker.trainer = *actor;
  worker.joining = true;
  call_later(index,
             begin_message(config_, training_, runtime_.services().address("worker"), coordinator_address_),
             ArrivalKind::Begun);
}

void ClusterRounds::joined(size_t index, const Status& status) {
  Worker& worker = workers_[index];
  worker.joining = false;
  worker.alive = status.ok();
  if (events_.line)
    events_.line(worker.task + (status.ok() ? " is back" : " cannot take part: " + status.message()));
}

/// Assigns the shards to the workers in turn. No round is in progress; `done` have been applied.
void ClusterRounds::share_out(uint64_t done) {
  std::vector<Worker*> alive;
  for (Worker& worker : workers_)
    if (worker.alive) {
      worker.shards.clear();
      alive.push_back(&worker);
    }
  for (uint32_t shard = 0; shard < static_cast<uint32_t>(config_.shards()); ++shard)
    alive[shard % alive.size()]->shards.push_back(shard);
  for (size_t i = 0; i < workers_.size(); ++i)
    if (workers_[i].alive && !workers_[i].shards.empty()) {
      ++workers_[i].unassigned;
      call_later(i, assignment(i, static_cast<int64_t>(done)), ArrivalKind::Assigned);
    }
  tell_coordinator(static_cast<int64_t>(done));
  const auto is_pending = [](const Worker& worker) {
    return worker.alive && (worker.unassigned > 0 || !worker.failure.ok());
  };
  Losses none;
  while (std::ranges::any_of(workers_, is_pending)) take_arrival(none);
}

/// Tells the coordinator which trainers compute which shards. `applied`: see SetTrainers.
void ClusterRounds::tell_coordinator(int64_t applied) {
  if (!coordinator_ || !(has_backups() || has_bounded_staleness())) return;
  Draft<wire::SetTrainers> draft;
  draft->setTraining(training_);
  draft->setApplied(applied);
  auto trainers = draft->initTrainers(static_cast<uint32_t>(workers_.size()));
  for (uint32_t i = 0; i < workers_.size(); ++i) {
    const std::span<const uint32_t> shards(workers_[i].shards);
    write(workers_[i].address, trainers[i].initActor());
    trainers[i].setShards(kj::arrayPtr(shards.data(), shards.size()));
  }
  runtime_.services().send(coordinator_, draft.finish());
}

}  // namespace troupe::train
