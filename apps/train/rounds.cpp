#include "apps/train/rounds.h"

#include <set>

#include "apps/train/evaluation.h"
#include "messages/values/device_name.h"

namespace troupe::train {
namespace {

template <class T>
double mean(std::span<const ShardLoss> shards) {
  if (shards.size() == 1) return shards[0].loss;
  T sum = 0, total = 0;
  for (const ShardLoss& shard : shards) {
    const T term = static_cast<T>(shard.loss) * static_cast<T>(shard.samples);
    sum = sum + term;
    total = total + static_cast<T>(shard.samples);
  }
  return static_cast<double>(sum / total);
}

}  // namespace

Status Rounds::set_drained(const std::string& name, bool /*drained*/, uint64_t /*done*/) {
  return failed_precondition(
      "this run trains in one session, without '" + name +
      "'; only tasks of trainings whose workers have replicas of their own can be drained");
}

Status Rounds::set_backups(uint32_t /*backups*/) {
  return failed_precondition(
      "only trainings over parameter servers with train.replication.mode = \"sync\" have backup workers");
}

std::string task_name(const std::string& job, int64_t task) {
  return DeviceName{job, 0, static_cast<int>(task), "", DeviceName::unset}.text();
}

std::vector<std::string> first_owners(const config::RunConfig& config) {
  const auto servers = config.cluster.tasks.find("ps");
  if (servers == config.cluster.tasks.end()) return {task_name("worker", 0)};
  std::vector<std::string> owners;
  for (int64_t task = 0; task < servers->second; ++task) owners.push_back(task_name("ps", task));
  return owners;
}

std::vector<std::string> owners_of_variables(const config::RunConfig& config) {
  const std::set<std::string> owners(config.cluster.owners.begin(), config.cluster.owners.end());
  if (!owners.empty()) return {owners.begin(), owners.end()};
  if (config.train.replication.shares_out_variables()) return {"/job:worker"};
  return {config.cluster.tasks.contains("ps") ? "/job:ps" : "/job:worker/task:0"};
}

std::vector<Tensor> feeds_of_shard(const TowerInputs& inputs, const data::Dataset& batch,
                                   const data::Dataset& shard) {
  return feeds_of(inputs, shard.samples() == 0 ? batch.slice(0, 1) : shard);
}

double batch_loss(std::span<const ShardLoss> shards, DType dtype) {
  return dtype == DType::Double ? mean<double>(shards) : mean<float>(shards);
}

}  // namespace troupe::train
