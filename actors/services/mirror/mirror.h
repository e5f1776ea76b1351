// The mirror role: keeps copies of the variables of other devices, and makes them variables of its own device when their client
// adopts them. One per device. Schema: messages/schemas/mirror.capnp.
#pragma once

#include <memory>

#include "actors/engine/actor_ref.h"
#include "actors/site/device_site.h"

namespace troupe {

/// The name of the role. The key of its address is the name of the device.
inline constexpr const char* mirror_role = "mirror";

ActorRef spawn_mirror(std::shared_ptr<DeviceSite> site);

}  // namespace troupe
