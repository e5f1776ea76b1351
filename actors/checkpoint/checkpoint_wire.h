// Checkpoint wire: converts between the files of a checkpoint and their wire form (messages/schemas/checkpoint.capnp).
#pragma once

#include "actors/checkpoint/checkpoint_shard.h"
#include "actors/site/graph_wire.h"
#include "messages/schemas/checkpoint.capnp.h"
#include "messages/wire/texts_wire.h"

namespace troupe {

void write(const ShardFile& file, wire::ShardFile::Builder builder);
ShardFile read(wire::ShardFile::Reader reader);

}  // namespace troupe
