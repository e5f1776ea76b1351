// The names of instances in messages, for .cpp files. Pure functions; any thread.
#pragma once

#include <string>

#include "actors/services/allreduce/lane.h"
#include "messages/schemas/allreduce.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {

inline void write(const Instance& instance, wire::Instance::Builder builder) {
  builder.setGroup(as_text(instance.what().group));
  builder.setKey(as_text(instance.what().key));
  builder.setNumber(instance.number);
  builder.setAttempt(instance.attempt);
  builder.setTraining(instance.training);
}

/// Writes when an instance that GPUs carry out has its turn.
inline void write_turn(const Instance& instance, wire::GpuTurn::Builder builder) {
  builder.setCommunicator(instance.turn.communicator);
  builder.setId(as_data(instance.turn.id));
  builder.setPlace(instance.turn.place);
  auto samples = builder.initSamples(static_cast<uint32_t>(instance.samples.size()));
  for (uint32_t rank = 0; rank < samples.size(); ++rank) samples.set(rank, instance.samples[rank]);
}

/// Returns the name of the lane of an instance.
inline std::string lane_name(wire::Instance::Reader instance) {
  return lane_name(view(instance.getGroup()), view(instance.getKey()), instance.getTraining());
}

}  // namespace troupe
