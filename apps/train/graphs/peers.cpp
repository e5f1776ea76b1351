#include "apps/train/graphs/peers.h"

#include <algorithm>

namespace troupe::train {
namespace {

std::string task_of(int64_t worker) { return "/job:worker/task:" + std::to_string(worker); }

}  // namespace

Peers::Peers(const config::RunConfig& config, int64_t worker, std::string group)
    : n_shards_(config.shards()), worker_(worker), group_(std::move(group)) {
  const auto found = config.cluster.tasks.find("worker");
  if (found != config.cluster.tasks.end()) workers_ = std::max<int64_t>(1, found->second);
  exchanges_on_gpus_ = config.cluster.exchanges_on_gpus;
}

std::vector<int64_t> Peers::shards() const {
  std::vector<int64_t> mine;
  for (int64_t shard = worker_; shard < n_shards_; shard += workers_) mine.push_back(shard);
  return mine;
}

std::vector<std::string> Peers::tasks() const {
  std::vector<std::string> tasks;
  for (int64_t worker = 0; worker < std::min(workers_, n_shards_); ++worker) tasks.push_back(task_of(worker));
  return tasks;
}

std::vector<std::string> Peers::tasks_of_shards() const {
  std::vector<std::string> tasks;
  for (int64_t shard = 0; shard < n_shards_; ++shard) tasks.push_back(task_of(shard % workers_));
  return tasks;
}

std::vector<std::string> Peers::gpus() const {
  std::vector<std::string> gpus;
  if (!exchanges_on_gpus_) return gpus;
  for (const std::string& task : tasks()) gpus.push_back(task + "/device:GPU:0");
  return gpus;
}

int64_t Peers::owner_of(const Scope& scope, Output variable) {
  const std::string& device = requested_device(scope.graph(), variable.node);
  return std::max(0, value_or_throw(DeviceName::parse(device)).task);
}

Output Peers::broadcast(const Scope& scope, const std::string& key, Output value, int64_t root) const {
  Attributes attrs{{"members", tasks()}, {"rank", worker_}, {"group", group_}, {"key", key}};
  if (worker_ == root) return scope.add_one("BroadcastSend", {value}, std::move(attrs));
  attrs.set("root", root);
  attrs.set("T", scope.dtype(value));
  attrs.set("shape", scope.shape(value));
  return scope.add_one("BroadcastReceive", {}, std::move(attrs));
}

}  // namespace troupe::train
