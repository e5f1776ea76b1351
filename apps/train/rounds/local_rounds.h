// LocalRounds: runs rounds as steps of the trainer's session, whose graph has all towers and the update. One round is one step, in
// local SGD followed by an averaging when it is due. One thread, that of the trainer.
#pragma once

#include <memory>

#include "actors/step/session.h"
#include "apps/data/batches.h"
#include "apps/train/rounds/rounds.h"
#include "apps/train/rounds/step_sampler.h"

namespace troupe::train {

class LocalRounds final : public Rounds {
 public:
  /// The arguments must outlive this object. Throws Error.
  LocalRounds(Session& session, const TrainingGraph& graph, const config::Train& train,
              data::Batches& batches);
  std::vector<double> advance(uint64_t done, uint64_t last) override;
  /// Makes the steps from now on put their profiles there; null: they have none.
  void profile_into(std::vector<DeviceProfile>* profile) { profile_ = profile; }

 private:
  const TrainingGraph& graph_;
  const config::Train& train_;
  data::Batches& batches_;
  PreparedStep step_, average_;
  std::vector<DeviceProfile>* profile_ = nullptr;
  StepSampler sampler_;
};

/// Makes the rounds of a run whose steps are those of the trainer's session. The arguments must outlive the result. Throws Error.
std::unique_ptr<Rounds> rounds_in_process(Session& session, const TrainingGraph& graph, DType loss,
                                          const config::RunConfig& config, data::Batches& batches);

}  // namespace troupe::train
