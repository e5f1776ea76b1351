// The table role: one actor per lookup table. It carries requests out one after the other, so that each sees the whole effect
// of those before it: short ones in the handler, long ones on the pool, files on the file thread. The table service starts the
// role. Schema: messages/schemas/table.capnp.
#pragma once

#include <memory>

#include "actors/engine/node.h"
#include "actors/engine/role.h"
#include "devices/device.h"
#include "kernels/tables/table_spec.h"

namespace troupe {

/// Returns the role of an empty table. Keys and values are allocated on `device`, whose memory must be host memory.
std::unique_ptr<Role> make_table(ActorNode& node, TableSpec spec, std::shared_ptr<Device> device);

}  // namespace troupe
