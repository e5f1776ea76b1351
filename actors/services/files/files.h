// The files role: reads, writes and finds files for the ops of one device, on the file thread. The files service starts it, and a
// successor may continue where it ended. Schema: messages/schemas/files.capnp.
#pragma once

#include <memory>

#include "actors/engine/offloading_role.h"

namespace troupe {

std::unique_ptr<Role> make_files(ActorNode& node);

}  // namespace troupe
