// The device role: the actor in front of a device. An executor hands it a whole step (ExecuteStep); it sees that the step is driven
// where computing is allowed, and answers when nothing of the step runs any more. Schema: messages/schemas/device.capnp.
#pragma once

#include "actors/site/device_site.h"

namespace troupe {

ActorRef spawn_device(ActorNode& node, std::shared_ptr<DeviceSite> site);

}  // namespace troupe
