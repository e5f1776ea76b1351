#include "apps/train/rounds/cluster_rounds.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <sstream>
#include <utility>

#include "apps/services/trainer.h"
#include "apps/train/graphs/replication_tasks.h"
#include "apps/train/rounds/cluster_arrivals.h"
#include "apps/train/rounds/costs_wire.h"
#include "apps/train/rounds/gpu_exchange.h"
#include "messages/env/env.h"
#include "messages/schemas/rounds.capnp.h"
#include "messages/schemas/trainer.capnp.h"
#include "messages/wire/texts_wire.h"
#include "messages/wire/wire.h"

namespace troupe::train {
namespace {

constexpr double seconds_per_request = 0.25;
constexpr uint64_t max_rounds_per_request = 10'000;
/// After how many heartbeats without an answer the tasks are asked whether they still work.
constexpr int look_interval = 2;

}  // namespace

ClusterRounds::ClusterRounds(Runtime& runtime, config::RunConfig& config, const Start& start, DType loss,
                             Events events)
    : runtime_(runtime), config_(config), loss_(loss), events_(std::move(events)), run_(start.run),
      training_(runtime.services().process().random_id()), stall_watch_(runtime.services()),
      arrivals_(std::make_shared<Arrivals>(runtime.services().process())),
      servers_(runtime, config, start.attempt, [arrivals = arrivals_](std::function<void()> then) {
        arrivals->add({0, ArrivalKind::Other, 0, AnyMessage(), std::move(then)});
      }) {
  const std::vector<std::string> job = {"/job:worker"};
  const auto trainers = value_or_throw(
      runtime.services().addresses(services::trainer_role, job, config.train.fault.start_timeout));
  for (const Address& trainer : trainers) {
    const DeviceName name = value_or_throw(DeviceName::parse(trainer.task));
    if (is_among_peers(config_) && name.task >= config.shards())
      continue;  // it has no shard, and will get none
    workers_.push_back({trainer.task, trainer, value_or_throw(runtime.services().find(trainer)), {}});
  }
  start.live ? go_on(*start.live) : begin(start.round);
}

ClusterRounds::~ClusterRounds() { end(); }

int64_t ClusterRounds::now() const { return runtime_.services().clock().now(); }

bool ClusterRounds::has_coordinator() const {
  return config_.train.replication.mode != config::ReplicationMode::Async && !is_among_peers(config_);
}

bool ClusterRounds::has_bounded_staleness() const {
  return config_.train.replication.mode == config::ReplicationMode::Ssp;
}

// ---- Begin and end

AnyMessage ClusterRounds::begin_message() const {
  Draft<wire::BeginTraining> draft;
  draft->setConfig(as_text(config_.effective_toml()));
  auto jobs = draft->initJobs(static_cast<uint32_t>(config_.cluster.tasks.size()));
  uint32_t i = 0;
  for (const auto& [name, tasks] : config_.cluster.tasks) {
    jobs[i].setName(as_text(name));
    jobs[i++].setTasks(static_cast<uint32_t>(tasks));
  }
  draft->setTraining(training_);
  write(runtime_.services().address("worker"), draft->initClient());
  write(coordinator_address_, draft->initCoordinator());
  const auto& owners = config_.cluster.owners;
  write(owners, draft->initOwners(static_cast<uint32_t>(owners.size())));
  draft->setExchangesOnGpus(config_.cluster.exchanges_on_gpus);
  draft->setSamples(config_.cluster.samples);
  draft->setChecksum(config_.cluster.checksum);
  draft->setRun(run_);
  draft->setPatience(static_cast<uint64_t>(config_.train.fault.trainer_timeout.count()));
  return draft.finish();
}

void ClusterRounds::begin(uint64_t round) {
  std::vector<AddressedRequest> requests;
  coordinator_address_ = servers_.roles("rounds").front();
  servers_.begin_mirrors();
  Trainers trainers;
  for (const Worker& worker : workers_) trainers.emplace_back(worker.task, worker.trainer);
  config_.cluster.exchanges_on_gpus = exchange_on_gpus(runtime_, config_, trainers);
  const AnyMessage message = begin_message();
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
  const Message<wire::TrainingBegun> first(*begun.front());
  pushes_ = first->getPushes();
  fixes_rounds_ = has_backups() || first->getReadsInPlace();
  if (has_coordinator()) begin_rounds(round);
  share_out(round);
}

void ClusterRounds::begin_rounds(uint64_t applied) {
  const auto shards = static_cast<uint32_t>(config_.shards());
  const auto backups = static_cast<uint32_t>(config_.train.replication.backup_workers);
  if (backups > 0 && shards > workers_.size() && events_.line)
    events_.line(
        std::to_string(shards) + " shards for " + std::to_string(workers_.size()) +
        " workers: the last shard of a worker with several is late in most rounds, which leave it out; "
        "train.replication.shards = " +
        std::to_string(workers_.size()) + " gives each worker one");
  Draft<wire::BeginRounds> draft;
  draft->setTraining(training_);
  write(runtime_.services().address("worker"), draft->initClient());
  const auto replicas = servers_.roles("replicas");
  auto list = draft->initReplicas(static_cast<uint32_t>(replicas.size()));
  for (uint32_t i = 0; i < replicas.size(); ++i) write(replicas[i], list[i]);
  draft->setShards(shards);
  draft->setRequired(shards - backups);
  draft->setBackups(fixes_rounds_);
  draft->setPushes(pushes_);
  draft->setApplied(applied);
  if (has_bounded_staleness()) draft->setStaleness(config_.train.replication.staleness);
  coordinator_ = value_or_throw(runtime_.services().find(coordinator_address_));
  call(coordinator_, draft.finish());
}

void ClusterRounds::end() {
  for (const Worker& worker : workers_)
    if (worker.alive || worker.joining) end_training(worker, worker.joining ? worker.training : training_);
  end_rounds();
}

void ClusterRounds::end_training(const Worker& worker, uint64_t training) {
  Draft<wire::EndTraining> draft;
  draft->setTraining(training);
  runtime_.services().send(worker.trainer, draft.finish());
}

void ClusterRounds::end_rounds() {
  if (!coordinator_) return;
  Draft<wire::EndRounds> draft;
  draft->setTraining(training_);
  const auto answers = runtime_.services().call_all({{std::exchange(coordinator_, {}), draft.finish()}});
  if (!answers[0]) return;
  const auto left_out = Message<wire::RoundsEnded>(*answers[0])->getLeftOut();
  left_out_.resize(std::max<size_t>(left_out_.size(), left_out.size()));
  for (uint32_t shard = 0; shard < left_out.size(); ++shard) left_out_[shard] += left_out[shard];
}

std::string ClusterRounds::finish() {
  end();
  std::string summary;
  for (size_t shard = 0; shard < left_out_.size(); ++shard)
    if (left_out_[shard] > 0)
      summary += (summary.empty() ? "rounds without a shard that came too late: " : ", ") +
                 ("shard " + std::to_string(shard) + " " + std::to_string(left_out_[shard]));
  if (staleness_.steps == 0) return summary;
  const double mean = static_cast<double>(staleness_.sum) / static_cast<double>(staleness_.steps);
  std::ostringstream text;
  text.precision(2);
  text << "staleness of the gradients: " << std::fixed << mean << " updates in the mean, " << staleness_.most
       << " at most";
  return text.str();
}

std::optional<observe::GradientCounts> ClusterRounds::gradients() const {
  const uint64_t dropped = std::accumulate(left_out_.begin(), left_out_.end(), uint64_t{0});
  if (staleness_.steps == 0 && dropped == 0) return {};
  return observe::GradientCounts{staleness_.steps, staleness_.sum, staleness_.most, dropped};
}

Status ClusterRounds::set_backups(uint32_t backups) {
  const auto shards = static_cast<uint32_t>(config_.shards());
  if (backups >= shards)
    return invalid_argument("with " + std::to_string(backups) +
                            " backup workers a round would wait for none of the " + std::to_string(shards) +
                            " shards; allowed: 0 to " + std::to_string(shards - 1));
  if (!coordinator_ || has_bounded_staleness()) return Rounds::set_backups(backups);
  Draft<wire::RequireShards> draft;
  draft->setTraining(training_);
  draft->setRequired(shards - backups);
  const auto answers = runtime_.services().call_all({{coordinator_, draft.finish()}});
  if (!answers[0]) return answers[0].status();
  config_.train.replication.backup_workers = backups;
  if (events_.line)
    events_.line("a round waits for " + std::to_string(shards - backups) + " of " + std::to_string(shards) +
                 " shards");
  return {};
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
  const int64_t begin = now();
  requested_ = done + rounds;
  for (size_t i = 0; i < workers_.size(); ++i)
    if (workers_[i].alive && !workers_[i].shards.empty()) request_rounds(i, done + 1);
  Losses losses{.first = done + 1, .by_round = {rounds, std::vector<ShardLoss>(workers_.size())}};
  while (!is_complete(losses)) take_arrival(losses);
  vain_recoveries_ = 0;
  seconds_per_round_ =
      std::chrono::duration<double>(std::chrono::nanoseconds(now() - begin)).count() / rounds;
  waited_ = losses.waited;
  costs_ = std::move(losses.costs);
  return means_of(losses);
}

/// Requests the rounds from `first`, or from the worker's next one, to the last one that is requested.
void ClusterRounds::request_rounds(size_t worker, uint64_t first) {
  first = std::max(first, workers_[worker].next);
  if (first > requested_) return;
  Draft<wire::RunRounds> draft;
  draft->setFirst(first);
  draft->setRounds(static_cast<uint32_t>(requested_ - first + 1));
  draft->setLast(requested_);
  ++workers_[worker].unanswered;
  call_later(worker, draft.finish(), ArrivalKind::Rounds, first);
}

/// Returns the loss of each round. A round whose loss no worker knows gets that of the round before.
std::vector<double> ClusterRounds::means_of(const Losses& losses) {
  std::vector<double> means;
  for (const auto& of_workers : losses.by_round) {
    note_loss(of_workers);
    means.push_back(last_loss_);
  }
  return means;
}

/// Takes the loss of a round, of which some workers may not know theirs.
void ClusterRounds::note_loss(std::vector<ShardLoss> of_workers) {
  std::erase_if(of_workers, [](const ShardLoss& loss) { return loss.samples == 0; });
  if (of_workers.empty()) return;
  last_loss_ = is_synchronous(config_) ? of_workers.front().loss : batch_loss(of_workers, loss_);
}

bool ClusterRounds::is_complete(const Losses& losses) const {
  if (has_backups() && losses.answers > 0) return true;  // the rounds have been applied; late workers follow
  return std::ranges::none_of(workers_, [](const Worker& worker) {
    return worker.alive && (worker.unanswered > 0 || !worker.failure.ok());
  });
}

void ClusterRounds::call_later(size_t worker, AnyMessage request, ArrivalKind kind, uint64_t first) {
  runtime_.services().call(workers_[worker].trainer, std::move(request),
                           [arrivals = arrivals_, worker, kind, first,
                            losses = workers_[worker].losses](Result<AnyMessage> answer) {
                             arrivals->add({worker, kind, first, std::move(answer), {}, losses});
                           });
}

void ClusterRounds::take_arrival(Losses& losses) {
  const auto arrival = arrivals_->take(now() + look_interval * config_.train.fault.heartbeat.count());
  if (!arrival) return look_for_stall();
  stall_watch_.moved();
  const auto& [index, kind, first, answer, then, lost_before] = *arrival;
  if (then) return then();
  Worker& worker = workers_[index];
  if (lost_before != worker.losses) return;
  if (kind == ArrivalKind::Begun) return joined(index, answer.status());
  if (kind == ArrivalKind::Probed) return probed(index, answer.status());
  if (kind == ArrivalKind::Rounds) --worker.unanswered;
  if (kind == ArrivalKind::Assigned) --worker.unassigned;
  if (!answer) return failed(index, answer.status());
  if (kind == ArrivalKind::Rounds && first >= losses.first && first - losses.first < losses.by_round.size())
    add_losses(index, Message<wire::RoundsRun>(*answer), first - losses.first, losses);
}

/// `skipped`: of the rounds of `losses`, how many come before those of the answer.
void ClusterRounds::add_losses(size_t worker, const Message<wire::RoundsRun>& run, size_t skipped,
                               Losses& losses) {
  const size_t rounds = losses.by_round.size() - skipped;
  if (run->getLosses().size() != rounds || run->getSamples().size() != rounds)
    throw Error(internal("worker " + workers_[worker].task +
                         " returned the losses of other rounds than the " + std::to_string(rounds) +
                         " requested ones"));
  ++losses.answers;
  losses.waited = std::max(losses.waited, run->getWaited());
  std::ranges::move(read(run->getCosts()), std::back_inserter(losses.costs));
  staleness_.steps += run->getSteps();
  staleness_.sum += run->getStaleness();
  staleness_.most = std::max(staleness_.most, run->getMostStale());
  for (uint32_t i = 0; i < rounds; ++i)
    losses.by_round[skipped + i][worker] = {run->getLosses()[i], run->getSamples()[i]};
}

}  // namespace troupe::train
