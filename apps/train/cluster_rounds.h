// ClusterRounds: between-graph replication: each worker of the cluster runs its own replica (replica.h) and the variables' tasks
// gather what all of them push; this end only says which rounds. Several rounds go out at once, as many as take about a quarter of
// a second, so that the client's distance costs nothing.
#pragma once

#include <string>
#include <vector>

#include "actors/engine/actor_ref.h"
#include "actors/runtime.h"
#include "apps/config/run_config.h"
#include "apps/train/rounds.h"
#include "messages/wire/message.h"

namespace troupe::train {

class ClusterRounds final : public Rounds {
 public:
  /// Begins the training on every worker, after `round` rounds; the variables have their values. `loss`: the type of the model's.
  /// They outlive it. Throws Error.
  ClusterRounds(Runtime& runtime, const config::RunConfig& config, uint64_t round, DType loss);
  ~ClusterRounds() override;
  std::vector<double> advance(uint64_t done, uint64_t last) override;

 private:
  struct Worker {
    std::string task;
    ActorRef trainer;
    std::vector<uint32_t> shards;
  };
  void begin(uint64_t round);
  void end() const;
  /// Asks every worker the same, and waits for all; after the first failure all are told to end. Throws that failure.
  std::vector<AnyMessage> ask_all(const AnyMessage& request) const;
  uint32_t rounds_in_a_turn(uint64_t done, uint64_t last) const;

  Runtime& runtime_;
  const config::RunConfig& config_;
  DType loss_;
  std::vector<Worker> workers_;
  double seconds_a_round_ = 0;  ///< as measured last; 0: not yet
};

}  // namespace troupe::train
