// The replicas role: one per device, beside variable. It gathers the gradients that all logical shards push for a group of
// variables and has the update rule applied to their mean, once per training round (design.md section 4, "Replication").
// Schema: messages/schemas/replicas.capnp.
#pragma once

#include "actors/site/device_site.h"

namespace troupe {

ActorRef spawn_replicas(std::shared_ptr<DeviceSite> site);

}  // namespace troupe
