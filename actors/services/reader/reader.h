// The reader role: one actor per reader. It takes the names of files from a queue and reads them on the file thread. The reader
// service starts the role. Schema: messages/schemas/reader.capnp.
#pragma once

#include <memory>

#include "actors/engine/node.h"
#include "actors/engine/role.h"
#include "actors/services/reader/reader_spec.h"

namespace troupe {

std::unique_ptr<Role> make_reader(ActorNode& node, ReaderSpec spec);

}  // namespace troupe
