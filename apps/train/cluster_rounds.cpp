#include "apps/train/cluster_rounds.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "apps/services/trainer.h"
#include "messages/schemas/trainer.capnp.h"
#include "messages/wire/wire.h"

namespace troupe::train {
namespace {

constexpr double seconds_per_request = 0.25;
constexpr uint64_t max_rounds_per_request = 10'000;

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

}  // namespace

ClusterRounds::ClusterRounds(Runtime& runtime, const config::RunConfig& config, uint64_t round, DType loss)
    : runtime_(runtime), config_(config), loss_(loss) {
  const std::vector<std::string> job = {"/job:worker"};
  const NodeServices& services = runtime.services();
  const auto trainers =
      value_or_throw(services.addresses(services::trainer_role, job, config.train.fault.start_timeout));
  for (const Address& trainer : trainers) {
    const DeviceName name = value_or_throw(DeviceName::parse(trainer.task));
    if (name.task < config.shards())  // workers with higher numbers have no shard
      workers_.push_back({trainer.task, value_or_throw(services.find(trainer)), {}});
  }
  begin(round);
}

ClusterRounds::~ClusterRounds() { end(); }

void ClusterRounds::begin(uint64_t round) {
  const Address client = runtime_.services().address("worker");
  const auto begun = call_all(begin_message(config_, round, client));
  for (size_t i = 0; i < begun.size(); ++i)
    workers_[i].shards = vector_of<uint32_t>(Message<wire::TrainingBegun>(begun[i])->getShards());
  std::set<uint32_t> shards;
  for (const Worker& worker : workers_) shards.insert(worker.shards.begin(), worker.shards.end());
  if (std::cmp_not_equal(shards.size(), config_.shards()) ||
      std::cmp_not_equal(*shards.rbegin() + 1, config_.shards()))
    throw Error(internal("the workers have " + std::to_string(shards.size()) + " shards; expected " +
                         std::to_string(config_.shards())));
}

void ClusterRounds::end() const {
  for (const Worker& worker : workers_)
    runtime_.services().send(worker.trainer, Draft<wire::EndTraining>().finish());
}

std::vector<AnyMessage> ClusterRounds::call_all(const AnyMessage& request) const {
  std::vector<AddressedRequest> requests;
  for (const Worker& worker : workers_) requests.push_back({worker.trainer, request});
  Status first_failure;
  auto answers = runtime_.services().call_all(std::move(requests), [&](size_t worker, const Status& failure) {
    first_failure = Status(failure).at_device(workers_[worker].task);
    end();
  });
  throw_if_failed(first_failure);
  std::vector<AnyMessage> messages;
  for (auto& answer : answers) messages.push_back(std::move(*answer));
  return messages;
}

uint32_t ClusterRounds::rounds_per_request(uint64_t done, uint64_t last) const {
  const double fitting = seconds_per_round_ > 0 ? std::max(1.0, seconds_per_request / seconds_per_round_) : 1;
  return static_cast<uint32_t>(
      std::min({last - done, max_rounds_per_request, static_cast<uint64_t>(std::min(fitting, 1e9))}));
}

std::vector<double> ClusterRounds::advance(uint64_t done, uint64_t last) {
  const uint32_t rounds = rounds_per_request(done, last);
  Draft<wire::RunRounds> draft;
  draft->setFirst(done + 1);
  draft->setRounds(rounds);
  draft->setLast(done + rounds);
  const auto begin = std::chrono::steady_clock::now();
  const auto answers = call_all(draft.finish());
  seconds_per_round_ =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / rounds;

  std::vector<std::map<uint32_t, ShardLoss>> by_round(rounds);
  waited_ = 0;
  for (size_t i = 0; i < answers.size(); ++i) {
    const auto run = *Message<wire::RoundsRun>(answers[i]);
    const auto& shards = workers_[i].shards;
    if (run.getLosses().size() != rounds * shards.size() || run.getSamples().size() != rounds * shards.size())
      throw Error(internal("worker " + workers_[i].task + " returned the losses of other rounds than the " +
                           std::to_string(rounds) + " requested ones"));
    waited_ = std::max(waited_, run.getWaited());
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
