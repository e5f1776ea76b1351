// Peers: the workers of a training without parameter servers, as one of them sees them: which shards each has, and how a value of
// one of them gets to all. Plain values; the builder of the graph of a worker owns it. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/config/run_config.h"
#include "graph/build/scope.h"

namespace troupe::train {

class Peers {
 public:
  /// `worker` is the number of this worker. `group` names the training; all of its workers have the same, and no other training
  /// has.
  Peers(const config::RunConfig& config, int64_t worker, std::string group);

  int64_t worker() const { return worker_; }
  const std::string& group() const { return group_; }
  /// Returns the shards of this worker. Shards are assigned to the workers in turn.
  std::vector<int64_t> shards() const;
  /// Returns the task of each worker that has shards, and of the worker of each shard.
  std::vector<std::string> tasks() const;
  std::vector<std::string> tasks_of_shards() const;
  /// Returns the GPUs on which the workers add tensors up, by worker; nothing if they do so on CPUs.
  std::vector<std::string> gpus() const;
  /// Returns the worker that owns a variable, and whether it is this one.
  static int64_t owner_of(const Scope& scope, Output variable);
  bool is_mine(const Scope& scope, Output variable) const { return owner_of(scope, variable) == worker_; }
  /// Adds this worker's part of a broadcast. `value` is what the worker `root` sends; the others need only its dtype and shape.
  /// `key` names the broadcast. Returns the value that the worker has then.
  Output broadcast(const Scope& scope, const std::string& key, Output value, int64_t root) const;

 private:
  int64_t workers_ = 1, n_shards_ = 1;
  int64_t worker_ = 0;
  bool exchanges_on_gpus_ = false;
  std::string group_;
};

}  // namespace troupe::train
