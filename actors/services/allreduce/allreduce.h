// The allreduce role: one per device. It carries out the collectives in which ranks of this device take part, together with the
// roles of the other devices. Schema: messages/schemas/allreduce.capnp.
#pragma once

#include "actors/services/allreduce/collective.h"
#include "actors/site/device_site.h"
#include "actors/site/numbered.h"

namespace troupe {

/// `self` is the address of the actor, `collectives` are those of the registered partitions.
ActorRef spawn_allreduce(std::shared_ptr<DeviceSite> site, const Numbered<Collective>& collectives,
                         Address self);

}  // namespace troupe
