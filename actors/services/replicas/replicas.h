// The replicas role: one per device. It gathers the gradients that all logical shards push for a group of variables, and has the
// variable role apply the update rule to their mean, once per training round. Schema: messages/schemas/replicas.capnp.
#pragma once

#include "actors/site/device_site.h"

namespace troupe {

ActorRef spawn_replicas(std::shared_ptr<DeviceSite> site);

}  // namespace troupe
