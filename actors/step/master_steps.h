// What a master keeps of the signatures that it has compiled, and of the steps that run. Owned by the master; one thread.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "actors/engine/actor_ref.h"
#include "actors/step/partial_runs.h"
#include "actors/step/placement_trials.h"
#include "actors/step/step_times_wire.h"
#include "messages/values/status.h"
#include "messages/values/tensor.h"

namespace troupe {

/// A signature that has been compiled and is, or is being, registered with its workers.
struct PreparedSignature {
  struct Share {
    ActorRef worker;
    std::vector<uint32_t> feeds;
    std::vector<std::string> seeded;
  };
  std::string key;
  uint64_t handle = 0;  ///< is also the number of the partition
  size_t feeds = 0, fetches = 0;
  std::vector<Share> shares;
  /// How many workers have not answered RegisterPartition, and one more while the signature is compiled.
  size_t registering = 0;
  Status failure;
  struct Waiting {
    Reply reply;
    bool hold = false;
  };
  std::vector<Waiting> waiting;
  size_t holds = 0;                 ///< how many steps are about to begin, for which the signature must stay
  std::set<uint64_t> running = {};  ///< the ordinals of its running steps; the first is its floor
  bool retired = false;             ///< no new step may use it
  uint64_t last_use = 0;            ///< the last ordinal when it was prepared or used
  bool remote = false;              ///< at least one of the workers is in another process
  std::shared_ptr<const PartialSignature> partial = {};  ///< for partial runs only

  bool in_use() const { return !running.empty() || holds > 0 || registering > 0; }
};

struct MasterStep {
  uint64_t ordinal = 0, call = 0;
  std::shared_ptr<PreparedSignature> prepared;
  Reply reply;
  size_t pending = 0;
  Status failure;
  std::vector<Tensor> fetches;
  bool profiled = false;          ///< for its caller
  StepMeasurement measured = {};  ///< for the placement of later ones
  int64_t begun = 0;              ///< when it began, if it is measured
  StepTimes times = {};           ///< if it is profiled or its nodes are measured
  TimerId timer = 0;              ///< for StepExpired
  TimerId again = 0;              ///< for AbortAgain
};

}  // namespace troupe
