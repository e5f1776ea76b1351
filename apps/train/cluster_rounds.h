// ClusterRounds: runs rounds by between-graph replication. Each worker of the cluster runs its own replica (replica.h), and the
// tasks that own the variables collect the gradients; this class only requests rounds. It requests as many rounds at once as take
// about a quarter of a second, so that the latency between client and workers does not matter. One thread, that of the trainer.
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
  /// Begins the training on every worker, after `round` rounds. The variables must have values. `loss` is the dtype of the model's
  /// loss. `runtime` and `config` must outlive this object. Throws Error.
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
  /// Sends the request to every worker and waits for all replies. After the first failure it tells all workers to end the training,
  /// and throws that failure.
  std::vector<AnyMessage> call_all(const AnyMessage& request) const;
  uint32_t rounds_per_request(uint64_t done, uint64_t last) const;

  Runtime& runtime_;
  const config::RunConfig& config_;
  DType loss_;
  std::vector<Worker> workers_;
  double seconds_per_round_ = 0;  ///< the last measurement; 0: none yet
};

}  // namespace troupe::train
