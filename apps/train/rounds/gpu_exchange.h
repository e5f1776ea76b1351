// Whether the workers of a training add gradients up on their GPUs, without the memory of the hosts. A function without state; any
// thread but those of actors.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "actors/runtime.h"
#include "apps/config/run_config.h"

namespace troupe::train {

/// The tasks that train, with the addresses of their trainers.
using Trainers = std::vector<std::pair<std::string, ActorRef>>;

/// Returns whether each worker has one shard and a GPU of its own, and the GPUs can exchange tensors. Asks the trainers. Throws
/// FailedPrecondition, with the reason, if the run file demands it and they cannot.
bool exchange_on_gpus(Runtime& runtime, const config::RunConfig& config, const Trainers& trainers);

}  // namespace troupe::train
