// LiveTraining: a training whose trainer has been lost, and which goes on with another one from where its workers are. Plain
// values; the trainer that was started anew owns it. One thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "actors/runtime.h"
#include "apps/config/run_config.h"
#include "apps/train/rounds/rounds.h"

namespace troupe::train {

struct LiveTraining {
  struct Worker {
    std::string task;
    uint64_t next = 0;             ///< its next round
    std::vector<uint32_t> shards;  ///< that it computes
    ShardLoss loss;                ///< of its last round; without samples: not known
  };
  std::vector<Worker> workers;      ///< those that have the training; at least one of them has shards
  std::vector<std::string> owners;  ///< config.cluster.owners
  uint64_t training = 0;            ///< its number
  uint32_t pushes = 0;              ///< how many pushes a shard makes per round
  bool reads_in_place = false;      ///< ReplicaGraph::reads_in_place

  /// Returns how many rounds have been completed by all workers with shards.
  uint64_t done() const;
};

/// Makes this process the client of the training of `run`, which workers keep when they lose their client. Waits until no round is
/// in progress. Returns nothing if no worker has the training, or if it cannot go on from where the workers are.
std::optional<LiveTraining> find_training(Runtime& runtime, const config::RunConfig& config, uint64_t run);

}  // namespace troupe::train
