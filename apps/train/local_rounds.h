// LocalRounds: all towers and the update in one graph, run by the trainer's session: in this process, or wherever the graph's
// devices are. One round is one step.
#pragma once

#include "actors/step/session.h"
#include "apps/train/rounds.h"

namespace troupe::train {

class LocalRounds final : public Rounds {
 public:
  /// They outlive it. Throws Error.
  LocalRounds(Session& session, const TrainingGraph& graph, data::Batches& batches);
  std::vector<double> advance(uint64_t done, uint64_t last) override;

 private:
  const TrainingGraph& graph_;
  data::Batches& batches_;
  PreparedStep step_;
};

}  // namespace troupe::train
