// Slot: what an edge carries into a node during a step: nothing yet, a tensor, a handle of state, or dead.
// Slots belong to the step that runs and are touched by its driving thread alone.
#pragma once

#include <cstdint>

#include "messages/values/tensor.h"

namespace troupe {

class StateCell;  // kernels/core/state.h

struct Slot {
  enum class Kind : uint8_t { Empty, Value, Handle, Dead };
  Tensor tensor;              ///< Kind::Value
  StateCell* cell = nullptr;  ///< Kind::Handle; kept alive by the prepared plan
  Kind kind = Kind::Empty;

  static Slot of(Tensor value) { return {std::move(value), nullptr, Kind::Value}; }
  static Slot of(StateCell* handle) { return {{}, handle, Kind::Handle}; }
  static Slot dead() { return {{}, nullptr, Kind::Dead}; }
};

}  // namespace troupe
