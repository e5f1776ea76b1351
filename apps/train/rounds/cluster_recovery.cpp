// The part of ClusterRounds that handles lost tasks: the shards of a lost worker are taken over by others, the variables of a lost
// server by its mirror.
#include <algorithm>
#include <set>
#include <utility>

#include "apps/services/trainer.h"
#include "apps/train/graphs/replication_tasks.h"
#include "apps/train/rounds/cluster_arrivals.h"
#include "apps/train/rounds/cluster_rounds.h"
#include "messages/env/process.h"
#include "messages/schemas/rounds.capnp.h"
#include "messages/schemas/trainer.capnp.h"
#include "messages/values/device_name.h"
#include "messages/wire/limits.h"
#include "messages/wire/texts_wire.h"
#include "messages/wire/wire.h"

namespace troupe::train {
namespace {

constexpr int64_t millisecond = 1'000'000;
/// How often a training is repeated from where it is without completing any round.
constexpr int max_vain_recoveries = 5;
/// For how many heartbeats nothing may move.
constexpr int stall_heartbeats = 10;

std::string text_of(const std::vector<uint32_t>& shards) {
  std::string text = shards.size() == 1 ? "shard" : "shards";
  for (const uint32_t shard : shards) text += (shard == shards.front() ? " " : ", ") + std::to_string(shard);
  return text;
}

}  // namespace

// ---- Workers that are lost and come back

/// Called when a request to a worker has failed. A request that changes nothing tells whether the worker has been lost, or
/// something that its step needs.
void ClusterRounds::failed(size_t index, const Status& failure) {
  Worker& worker = workers_[index];
  if (!worker.alive || !worker.failure.ok() || recovering_) return;
  if (!may_recover(failure)) give_up(index, failure);
  worker.failure = failure;
  call_later(index, assignment(index, -1), ArrivalKind::Probed);
}

void ClusterRounds::probed(size_t index, const Status& status) {
  const Status failure = std::exchange(workers_[index].failure, {});
  if (recovering_ || !workers_[index].alive) return;
  if (status.code() == Code::Unavailable) return lose(index, failure);
  recover_servers(failure);
}

/// Returns whether the failure of a step may be due to the loss of a task or link, so that the training may go on from where it is.
bool ClusterRounds::may_recover(const Status& failure) const {
  const bool may_be_loss = failure.code() == Code::Unavailable || failure.code() == Code::Aborted;
  return may_be_loss && !is_among_peers(config_);
}

void ClusterRounds::give_up(size_t index, const Status& failure) {
  end();
  throw Error(Status(failure).at_device(workers_[index].task));
}

/// Lets other workers take over the shards of a worker that has been lost.
void ClusterRounds::lose(size_t index, const Status& failure) {
  Worker& worker = workers_[index];
  const bool owns_variables = std::ranges::count(owners_of_variables(config_), worker.task) > 0;
  if ((owns_variables && !servers_.mirrored()) || is_among_peers(config_)) give_up(index, failure);
  worker.alive = false;
  ++worker.losses;
  worker.unanswered = worker.unassigned = 0;
  const auto shards = std::exchange(worker.shards, {});
  std::string successors;
  for (const uint32_t shard : shards) {
    const Worker* const successor = hand_over(shard);
    if (!successor) give_up(index, failure);
    successors += (successors.empty() ? "" : ", ") + successor->task;
  }
  tell_coordinator(-1);
  if (is_drained(worker)) return;
  if (events_.line)
    events_.line("lost " + worker.task + ": " + failure.text() +
                 (shards.empty() ? std::string() : "; " + text_of(shards) + " taken over by " + successors));
  if (events_.restart) events_.restart(worker.task);
}

/// Assigns a shard to one of the workers that have the values of the variables in the round that is in progress: only those with
/// shards do. Workers that may have been lost come last. Returns null if there is none.
const ClusterRounds::Worker* ClusterRounds::hand_over(uint32_t shard) {
  const auto burden = [](const Worker& worker) {
    return std::pair(!worker.failure.ok(), worker.shards.size());
  };
  Worker* successor = nullptr;
  for (Worker& worker : workers_)
    if (worker.alive && !worker.shards.empty() && (!successor || burden(worker) < burden(*successor)))
      successor = &worker;
  if (!successor) return nullptr;
  successor->shards.push_back(shard);
  const auto number = static_cast<size_t>(successor - workers_.data());
  ++successor->unassigned;
  call_later(number, assignment(number, -1), ArrivalKind::Assigned);
  return successor;
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
  if (servers_.needs_mirrors()) servers_.begin_mirrors();
  if (const auto strays = servers_.strays(); !strays.empty())
    move_variables(strays, "a parameter server has a copy of the variables that a worker had taken over");
  for (size_t i = 0; i < workers_.size(); ++i) {
    Worker& worker = workers_[i];
    const bool linked = runtime_.link_status(worker.task).ok();
    if (is_drained(worker) && !linked) worker.alive = false;  // its node was stopped, as it may be
    if (!worker.alive && !worker.joining && !is_drained(worker) && linked) join(i);
  }
  const auto is_idle = [this](const Worker& worker) {
    return worker.alive && worker.shards.empty() && !is_drained(worker);
  };
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
  worker.training = training_;
  call_later(index, begin_message(), ArrivalKind::Begun);
}

void ClusterRounds::joined(size_t index, const Status& status) {
  Worker& worker = workers_[index];
  worker.joining = false;
  if (worker.training != training_) {  // the variables have moved meanwhile: it joins again
    end_training(worker, worker.training);
    return;
  }
  worker.alive = status.ok();
  if (events_.line)
    events_.line(worker.task + (status.ok() ? " is back" : " cannot take part: " + status.message()));
}

/// Assigns the shards to the workers in turn. No round is in progress; `done` have been applied.
void ClusterRounds::share_out(uint64_t done) {
  sharing_ = done;
  do {
    share_again_ = false;
    assign_all(done);
  } while (share_again_);
  sharing_.reset();
}

void ClusterRounds::assign_all(uint64_t done) {
  std::vector<Worker*> used;
  for (Worker& worker : workers_)
    if (worker.alive) {
      worker.shards.clear();
      worker.next = 0;
      if (!is_drained(worker)) used.push_back(&worker);
    }
  for (uint32_t shard = 0; shard < static_cast<uint32_t>(config_.shards()); ++shard)
    used[shard % used.size()]->shards.push_back(shard);
  // A worker without shards is told, too, because it may be asked which it has (ResumeTraining).
  for (size_t i = 0; i < workers_.size(); ++i)
    if (workers_[i].alive) {
      ++workers_[i].unassigned;
      const int64_t applied = workers_[i].shards.empty() ? -1 : static_cast<int64_t>(done);
      call_later(i, assignment(i, applied), ArrivalKind::Assigned);
    }
  tell_coordinator(static_cast<int64_t>(done));
  const auto is_pending = [](const Worker& worker) {
    return worker.alive && (worker.unassigned > 0 || !worker.failure.ok());
  };
  Losses none;
  while (std::ranges::any_of(workers_, is_pending)) take_arrival(none);
}

// ---- Tasks that are drained

Status ClusterRounds::set_drained(const std::string& name, bool drained, uint64_t done) {
  TROUPE_ASSIGN(const std::string task, find_task(name));
  if (servers_.is_drained(task) == drained) return {};
  const auto worker = std::ranges::find(workers_, task, &Worker::task);
  const bool is_worker = worker != workers_.end();
  if (is_among_peers(config_))
    return failed_precondition(
        "the workers exchange what they need among themselves, so none of them can be drained");
  if (drained && is_worker) TROUPE_RETURN_IF_FAILED(may_drain(*worker));
  servers_.set_drained(task, drained);
  if (Status status = drained ? move_away(task) : Status(); !status.ok()) {
    servers_.set_drained(task, false);
    return status;
  }
  servers_.begin_mirrors();
  if (is_worker && worker->alive) share_out(done);  // one that is not joins when it is linked
  if (events_.line) events_.line(task + (drained ? " is drained" : " takes part again"));
  return {};
}

/// Returns the full name of a parameter server or worker. `name`: "worker/1", or its full name.
Result<std::string> ClusterRounds::find_task(const std::string& name) const {
  std::vector<std::string> tasks;
  if (const auto servers = config_.cluster.tasks.find("ps"); servers != config_.cluster.tasks.end())
    for (int64_t server = 0; server < servers->second; ++server) tasks.push_back(task_name("ps", server));
  for (const Worker& worker : workers_) tasks.push_back(worker.task);
  std::string known;
  for (const std::string& task : tasks) {
    const DeviceName parts = value_or_throw(DeviceName::parse(task));
    const std::string brief = parts.job + '/' + std::to_string(parts.task);
    if (name == brief || name == task) return task;
    known += (known.empty() ? "" : ", ") + brief;
  }
  return not_found("'" + name + "' is no task of this training; there are: " + known);
}

Status ClusterRounds::may_drain(const Worker& worker) const {
  const auto stays = [&](const Worker& other) {
    return &other != &worker && other.alive && !is_drained(other);
  };
  if (std::ranges::none_of(workers_, stays))
    return failed_precondition(worker.task + " cannot be drained: no other worker takes part");
  return {};
}

/// Moves the variables that a task owns to another one. No round is in progress.
Status ClusterRounds::move_away(const std::string& task) {
  if (std::ranges::count(owners_of_variables(config_), task) == 0) return {};
  TROUPE_RETURN_IF_FAILED(servers_.copy(task));
  Losses none;
  while (servers_.is_copying(task)) take_arrival(none);
  if (!servers_.is_copied(task))
    return unavailable(task + " cannot be drained: its variables could not be copied to another task");
  move_variables({task}, task + " gives its variables away");
  return {};
}

/// Tells the coordinator which trainers compute which shards. `applied`: see SetTrainers.
void ClusterRounds::tell_coordinator(int64_t applied) {
  if (!coordinator_ || !(fixes_rounds_ || has_bounded_staleness())) return;
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

// ---- Servers that are lost

/// Called when no answer has come for a while. If no task has done anything for long enough, the training goes on from where it is,
/// as after the loss of a server. The time doubles until a round is completed.
void ClusterRounds::look_for_stall() {
  std::set<std::string> tasks;
  if (!recovering_ && !is_among_peers(config_))  // while it recovers, owners may be lost
    for (const std::string& owner : owners_of_variables(config_)) tasks.insert(owner);
  for (const Worker& worker : workers_)
    if (worker.alive) tasks.insert(worker.task);
  const auto still = stall_watch_.still_for({tasks.begin(), tasks.end()});
  if (still < stall_heartbeats * config_.train.fault.heartbeat * (1 << vain_recoveries_)) return;
  stall_watch_.moved();
  const auto waits = [](const Worker& worker) {
    return worker.alive && worker.unanswered + worker.unassigned > 0;
  };
  std::string names;
  for (const Worker& worker : workers_)
    if (waits(worker)) names += (names.empty() ? "" : ", ") + worker.task;
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(still).count();
  const Status failure = unavailable("no task has done anything for " + std::to_string(milliseconds) +
                                     " ms, but a round has not ended on " + names);
  if (is_among_peers(config_)) give_up(0, failure);
  if (recovering_) return interrupt_again(failure);
  if (events_.line) events_.line(failure.message() + "; it is repeated");
  servers_.end_mirrors();
  recover_servers(failure);
}

/// Called when workers do not end an interrupted round: the message may have been lost on its way.
void ClusterRounds::interrupt_again(const Status& failure) {
  if (++vain_recoveries_ > max_vain_recoveries) give_up(0, failure);
  if (events_.line) events_.line(failure.message() + "; it is interrupted again");
  interrupt_workers();
}

bool ClusterRounds::recover(const Status& failure) {
  if (!may_recover(failure)) return false;
  recover_servers(failure);  // a worker that had fallen behind runs the rounds that it has missed
  return true;
}

/// Called when a step has failed though its worker is alive. Ends the training and goes on under another number, with the variables
/// where they are now. Workers repeat the round that has failed.
void ClusterRounds::recover_servers(const Status& failure) {
  const auto lost = await_lost_servers();
  if (++vain_recoveries_ > max_vain_recoveries || (!lost.empty() && !servers_.mirrored()))
    give_up(0, failure);
  move_variables(lost, failure.message());
  share_again_ = sharing_.has_value();
  for (size_t i = 0; i < workers_.size(); ++i)
    if (!share_again_ && workers_[i].alive && !workers_[i].shards.empty()) request_rounds(i, 0);
  if (events_.restart)
    for (const std::string& task : lost) events_.restart(task);
}

/// Ends the training, and goes on under another number with the variables of these owners in their mirrors.
void ClusterRounds::move_variables(const std::vector<std::string>& owners, const std::string& reason) {
  recovering_ = true;
  end_rounds();
  interrupt_workers();
  await_idle_workers();
  if (!owners.empty()) {
    const auto text = servers_.adopt_mirrors(owners);
    if (!text) give_up(0, text.status());
    if (events_.line) events_.line(reason + "; " + *text);
  }
  relocate_workers();
  recovering_ = false;
  servers_.begin_mirrors();
}

/// Returns the servers that are not linked. If all are, waits for as long as it takes to notice that one is silent.
std::vector<std::string> ClusterRounds::await_lost_servers() const {
  const int64_t end = now() + (limits::silent_heartbeats + 1) * config_.train.fault.heartbeat.count();
  const auto pause = runtime_.services().process().signal();
  auto lost = servers_.lost();
  while (lost.empty() && now() < end) {
    pause->wait([] { return false; }, now() + millisecond);
    lost = servers_.lost();
  }
  return lost;
}

void ClusterRounds::interrupt_workers() const {
  Draft<wire::InterruptRound> interrupt;
  interrupt->setTraining(training_);
  const AnyMessage message = interrupt.finish();
  for (const Worker& worker : workers_)
    if (worker.alive) runtime_.services().send(worker.trainer, message);
}

/// Waits until every request to a worker has been answered.
void ClusterRounds::await_idle_workers() {
  const auto is_busy = [](const Worker& worker) {
    return worker.alive && (worker.unanswered > 0 || worker.unassigned > 0 || !worker.failure.ok());
  };
  Losses none;
  while (std::ranges::any_of(workers_, is_busy)) take_arrival(none);
}

/// Tells the workers where the variables are, and learns which round is the next one of each.
void ClusterRounds::relocate_workers() {
  training_ = runtime_.services().process().random_id();
  coordinator_address_ = servers_.roles("rounds").front();
  std::vector<size_t> told;
  std::vector<AddressedRequest> requests;
  for (size_t i = 0; i < workers_.size(); ++i)
    if (workers_[i].alive) {
      told.push_back(i);
      requests.push_back({workers_[i].trainer, relocation()});
    }
  const Answers answers = runtime_.services().call_all(std::move(requests));
  bool has_shards = false;
  std::vector<std::pair<size_t, Status>> lost;
  uint64_t least = UINT64_MAX, most = 0;
  for (size_t i = 0; i < told.size(); ++i) {
    if (!answers[i]) {
      if (answers[i].status().code() != Code::Unavailable) give_up(told[i], answers[i].status());
      lost.emplace_back(told[i], answers[i].status());
      continue;
    }
    const auto progress = *Message<wire::Relocated>(*answers[i]);
    workers_[told[i]].next = progress.getNext();
    if (workers_[told[i]].shards.empty()) continue;  // it may have been drained many rounds ago
    has_shards = true;
    least = std::min(least, progress.getLeast());
    most = std::max(most, progress.getMost());
  }
  if (!has_shards) give_up(0, unavailable("no worker with shards is left"));
  if (sharing_) least = most = *sharing_;
  if (least != most) leave_behind(told, least);
  if (fixes_rounds_ && least != most)
    give_up(0, unavailable("a server was lost while round " + std::to_string(most) +
                           " was applied, which only the coordinator can finish"));
  if (has_coordinator()) begin_rounds(least);
  tell_coordinator(static_cast<int64_t>(least));
  for (const auto& [worker, status] : lost) lose(worker, status);
}

/// Called when the round after `least` has been applied to some variables already. Its first values, which a worker that is further
/// behind would need to take part in it, are not there any more. Gives the shards of such workers to others; they may join again.
void ClusterRounds::leave_behind(const std::vector<size_t>& told, uint64_t least) {
  std::vector<uint32_t> shards;
  for (const size_t i : told) {
    Worker& worker = workers_[i];
    if (worker.shards.empty() || worker.next > least) continue;
    worker.alive = false;
    std::ranges::move(std::exchange(worker.shards, {}), std::back_inserter(shards));
    end_training(worker, training_);
  }
  for (const uint32_t shard : shards)
    if (!hand_over(shard)) give_up(told.front(), unavailable("no worker has the values of the round"));
}

/// Goes on with the training of workers that have lost their trainer. The others take part when they have begun it.
void ClusterRounds::go_on(const LiveTraining& live) {
  std::vector<bool> assigned(static_cast<size_t>(config_.shards()));
  std::vector<ShardLoss> losses;
  for (const LiveTraining::Worker& found : live.workers) {
    Worker& worker = *std::ranges::find(workers_, found.task, &Worker::task);
    worker.alive = true;
    worker.shards = found.shards;
    worker.next = found.next;
    for (const uint32_t shard : found.shards) assigned.at(shard) = true;
    losses.push_back(found.loss);
  }
  note_loss(std::move(losses));
  training_ = live.training;
  pushes_ = live.pushes;
  fixes_rounds_ = has_backups() || live.reads_in_place;
  if (is_among_peers(config_)) return;
  recovering_ = true;
  for (uint32_t shard = 0; shard < assigned.size(); ++shard)
    if (!assigned[shard]) hand_over(shard);
  await_idle_workers();
  relocate_workers();
  recovering_ = false;
  servers_.begin_mirrors();
}

AnyMessage ClusterRounds::relocation() const {
  Draft<wire::Relocate> draft;
  draft->setTraining(training_);
  write(coordinator_address_, draft->initCoordinator());
  write(config_.cluster.owners, draft->initOwners(static_cast<uint32_t>(config_.cluster.owners.size())));
  return draft.finish();
}

}  // namespace troupe::train
