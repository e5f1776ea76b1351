#include "apps/train/cluster_rounds.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "actors/runtime_impl.h"
#include "apps/train/trainer_role.h"
#include "messages/schemas/trainer.capnp.h"
#include "messages/wire/wire.h"

namespace troupe::train {
namespace {

constexpr double turn = 0.25;  // seconds of rounds sent out at once
constexpr uint64_t longest_turn = 10'000;

AnyMessage begin_message(const config::RunConfig& config, uint64_t round, const Address& client) {
  Draft<wire::BeginTraining> draft;
  draft->setConfig(as_text(config.effective_toml()));
  auto jobs = draft->initJobs(static_cast<uint32_t>(config.cluster.tasks.size()));
  uint32_t i = 0;
  for (const auto& [name, tasks] : config.cluster.tasks) {
    jobs[i].setName(as_text(name));
    jobs[i++].setTasks(static_cast<uint32_t>(tasks));
  }
  draft->setRound(round);
  write(client, draft->initClient());
  return draft.finish();
}

/// The answers of several, as they come.
struct Gather {
  explicit Gather(size_t size) : answers(size, AnyMessage{}), pending(size) {}
  std::vector<Result<AnyMessage>> answers;
  std::atomic<size_t> pending;
  std::atomic<size_t> first_failure{SIZE_MAX};
};

}  // namespace

ClusterRounds::ClusterRounds(Runtime& runtime, const config::RunConfig& config, uint64_t round, DType loss)
    : runtime_(runtime), config_(config), loss_(loss) {
  const std::vector<std::string> job = {"/job:worker"};
  const auto workers = value_or_throw(runtime.impl().workers(config.train.fault.start_timeout, job));
  for (const auto& [worker, devices] : workers) {
    const DeviceName name = value_or_throw(DeviceName::parse(worker.task));
    if (name.job == "worker" && name.task < config.shards())  // the others have no shard
      workers_.push_back(
          {worker.task, value_or_throw(runtime.impl().node->directory.find(trainer_address(worker))), {}});
  }
  begin(round);
}

ClusterRounds::~ClusterRounds() { end(); }

void ClusterRounds::begin(uint64_t round) {
  const Address client = runtime_.impl().tasks.front()->address("worker");
  const auto begun = ask_all(std::vector<AnyMessage>(workers_.size(), begin_message(config_, round, client)));
  for (size_t i = 0; i < begun.size(); ++i)
    workers_[i].shards = vector_of<uint32_t>(Message<wire::TrainingBegun>(begun[i])->getShards());
  std::set<uint32_t> shards;
  for (const Worker& worker : workers_) shards.insert(worker.shards.begin(), worker.shards.end());
  if (std::cmp_not_equal(shards.size(), config_.shards()) ||
      std::cmp_not_equal(*shards.rbegin() + 1, config_.shards()))
    throw Error(internal("the workers have " + std::to_string(shards.size()) + " shards, not " +
                         std::to_string(config_.shards())));
}

void ClusterRounds::end() const {
  for (const Worker& worker : workers_)
    runtime_.impl().node->engine.send(worker.trainer, Draft<wire::EndTraining>().finish());
}

std::vector<AnyMessage> ClusterRounds::ask_all(const std::vector<AnyMessage>& requests) const {
  ActorNode& node = *runtime_.impl().node;
  const auto gather = std::make_shared<Gather>(requests.size());
  for (size_t i = 0; i < requests.size(); ++i)
    node.engine.send(workers_[i].trainer, requests[i], Reply([gather, i, &node](Result<AnyMessage> answer) {
                       size_t none = SIZE_MAX;
                       if (!answer) gather->first_failure.compare_exchange_strong(none, i);
                       gather->answers[i] = std::move(answer);
                       gather->pending.fetch_sub(1);
                       node.scheduler.wake();
                     }));
  const auto all_answered = [&] { return gather->pending == 0; };
  const auto failed = [&] { return gather->first_failure != SIZE_MAX; };
  node.scheduler.wait([&] { return all_answered() || failed(); }, 0);
  if (failed()) end();
  node.scheduler.wait(all_answered, 0);
  if (failed())
    throw Error(
        gather->answers[gather->first_failure].status().at_device(workers_[gather->first_failure].task));
  std::vector<AnyMessage> answers;
  for (auto& answer : gather->answers) answers.push_back(std::move(*answer));
  return answers;
}

uint32_t ClusterRounds::rounds_in_a_turn(uint64_t done, uint64_t last) const {
  const double fitting = seconds_a_round_ > 0 ? std::max(1.0, turn / seconds_a_round_) : 1;
  return static_cast<uint32_t>(
      std::min({last - done, longest_turn, static_cast<uint64_t>(std::min(fitting, 1e9))}));
}

std::vector<double> ClusterRounds::advance(uint64_t done, uint64_t last) {
  const uint32_t rounds = rounds_in_a_turn(done, last);
  Draft<wire::RunRounds> draft;
  draft->setFirst(done + 1);
  draft->setRounds(rounds);
  draft->setLast(done + rounds);
  const auto begin = std::chrono::steady_clock::now();
  const auto answers = ask_all(std::vector<AnyMessage>(workers_.size(), AnyMessage(draft.finish())));
  seconds_a_round_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / rounds;

  std::vector<std::map<uint32_t, ShardLoss>> by_round(rounds);
  for (size_t i = 0; i < answers.size(); ++i) {
    const auto run = *Message<wire::RoundsRun>(answers[i]);
    const auto& shards = workers_[i].shards;
    if (run.getLosses().size() != rounds * shards.size() || run.getSamples().size() != rounds * shards.size())
      throw Error(internal("a worker ran other rounds than those it was asked for"));
    for (uint32_t k = 0; k < run.getLosses().size(); ++k)
      by_round[k / shards.size()][shards[k % shards.size()]] = {run.getLosses()[k], run.getSamples()[k]};
  }
  std::vector<double> losses;
  for (const auto& shards : by_round) {
    std::vector<ShardLoss> in_order;
    for (const auto& [shard, loss] : shards) in_order.push_back(loss);
    losses.push_back(batch_loss(in_order, loss_));
  }
  return losses;
}

}  // namespace troupe::train
