// HogwildRounds: rounds of mode "hogwild" (Niu et al. 2011). Threads of this process compute the shards of the batches. Each reads
// the variables where they are and applies its gradient at once, in place, without waiting for the others: the steps of one call of
// advance() are an unlocked phase (StepOptions::unlocked_phase). One thread, that of the trainer, calls the functions.
#pragma once

#include <deque>

#include "actors/step/session.h"
#include "apps/data/batches.h"
#include "apps/train/rounds/rounds.h"
#include "apps/train/rounds/step_sampler.h"

namespace troupe::train {

class HogwildRounds final : public Rounds {
 public:
  /// There is a thread for each shard of a batch. The arguments must outlive this object. Throws Error.
  HogwildRounds(Session& session, const TrainingGraph& graph, DType loss, const config::RunConfig& config,
                data::Batches& batches);
  /// Runs rounds for about a quarter of a second. Each of their shards has been computed when it returns.
  std::vector<double> advance(uint64_t done, uint64_t last) override;

 private:
  struct Round {
    uint64_t number = 0;
    data::Dataset batch;
    std::vector<data::Shard> shards;
    std::vector<ShardLoss> losses;  ///< of each shard; its thread writes it
  };
  /// What the threads of a call of advance() share.
  struct Phase;

  void work(Phase& phase);
  bool take_shard(Phase& phase, Round*& round, size_t& shard);
  void run(Round& round, size_t shard, uint64_t phase);

  const TrainingGraph& graph_;
  const DType loss_;
  const int64_t threads_;
  data::Batches& batches_;
  PreparedStep step_;
  StepSampler sampler_;
};

}  // namespace troupe::train
