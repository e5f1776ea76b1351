// The saver role: one per device. It saves tensors to checkpoint files of TensorFlow and restores them (features.md: Saver).
// The work runs on the file thread; a request whose step ends stops between two blocks of data. Schema:
// messages/schemas/saver.capnp.
#pragma once

#include "actors/site/device_site.h"

namespace troupe {

ActorRef spawn_saver(std::shared_ptr<DeviceSite> site);

}  // namespace troupe
