// Checkpoint wire: converts between the files of a checkpoint and their wire form (messages/schemas/checkpoint.capnp).
#pragma once

#include "actors/checkpoint/checkpoint_shard.h"
#include "messages/schemas/checkpoint.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {

void write(const ShardFile& file, wire::ShardFile::Builder builder);
ShardFile read(wire::ShardFile::Reader reader);

void write(const std::vector<std::string>& texts, capnp::List<capnp::Text>::Builder builder);
std::vector<std::string> read(capnp::List<capnp::Text>::Reader reader);

}  // namespace troupe
