// Costs wire: converts between the costs of steps and their wire form (messages/schemas/trainer.capnp). Any thread.
#pragma once

#include <vector>

#include "apps/observe/step_costs.h"
#include "messages/schemas/trainer.capnp.h"

namespace troupe {

/// The list must have as many places as there are devices.
void write(const std::vector<observe::DeviceCosts>& devices, capnp::List<wire::DeviceCosts>::Builder to);
std::vector<observe::DeviceCosts> read(capnp::List<wire::DeviceCosts>::Reader from);

}  // namespace troupe
