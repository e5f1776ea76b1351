#include "apps/train/rounds/rounds.h"

#include "apps/train/rounds/evaluation.h"

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

std::vector<Tensor> feeds_of_shard(const TowerInputs& inputs, const data::Dataset& batch,
                                   const data::Dataset& shard) {
  return feeds_of(inputs, shard.samples() == 0 ? batch.slice(0, 1) : shard);
}

double batch_loss(std::span<const ShardLoss> shards, DType dtype) {
  return dtype == DType::Double ? mean<double>(shards) : mean<float>(shards);
}

}  // namespace troupe::train
