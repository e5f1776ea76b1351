// Slot: the value that an edge carries into a node during a step: nothing yet, a tensor, a handle of state, or dead. Slots
// belong to the running step; only the thread that drives the step may use them.
#pragma once

#include <cstdint>

#include "messages/values/tensor.h"

namespace troupe {

class StateCell;  // kernels/core/state.h

struct Slot {
  enum class Kind : uint8_t { Empty, Value, Handle, Dead };
  Tensor tensor;              ///< if Kind::Value, the value
  StateCell* cell = nullptr;  ///< if Kind::Handle, the cell; the prepared plan keeps it alive
  Kind kind = Kind::Empty;

  static Slot of(Tensor value) { return {std::move(value), nullptr, Kind::Value}; }
  static Slot of(StateCell* handle) { return {{}, handle, Kind::Handle}; }
  static Slot dead() { return {{}, nullptr, Kind::Dead}; }
};

}  // namespace troupe
