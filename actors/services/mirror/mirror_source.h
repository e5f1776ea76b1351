// The mirror source role: begins and ends the mirror of the variables of its device. One per device. Schema:
// messages/schemas/mirror.capnp.
#pragma once

#include <memory>

#include "actors/engine/actor_ref.h"
#include "actors/site/device_site.h"

namespace troupe {

/// The name of the role. The key of its address is the name of the device.
inline constexpr const char* mirror_source_role = "mirror_source";

ActorRef spawn_mirror_source(std::shared_ptr<DeviceSite> site, const Address& self);

}  // namespace troupe
