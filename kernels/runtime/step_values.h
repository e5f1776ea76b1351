// The ways in which the outputs of a node reach the slots of its consumers: one struct for each kind of action, to be passed to
// StepState::done(). Part of StepContext; only its source files include this.
#pragma once

#include <utility>

#include "kernels/runtime/step_context.h"

namespace troupe {

inline void drop(Tensor& tensor) {
  if (tensor.buffer()) tensor.reset();
}

inline void drop(Slot& slot) {
  drop(slot.tensor);
  slot.kind = Slot::Kind::Empty;
}

struct StepContext::Values {
  StepContext& context;

  bool dead(uint32_t) const { return false; }
  void drop() {}
  void pass(uint32_t from, uint32_t to, bool last) { send(context.slots_[from], to, last); }
  void clear(uint32_t first, uint32_t count) {
    for (uint32_t i = first; i < first + count; ++i) troupe::drop(context.slots_[i]);
  }
  void grow(uint32_t slots) { context.slots_.resize(slots); }

  void send(Slot& value, uint32_t to, bool last) {
    Slot& slot = context.slots_[to];
    slot.kind = value.kind;
    if (value.kind == Slot::Kind::Handle)
      slot.cell = value.cell;
    else
      send(value.tensor, slot, last);
  }
  void send(Tensor& value, Slot& slot, bool last) {
    slot.kind = Slot::Kind::Value;
    if (last)
      slot.tensor = std::move(value);
    else
      slot.tensor = value;
  }
  void send(Tensor& value, uint32_t to, bool last) { send(value, context.slots_[to], last); }
};

/// For nodes without outputs, and for nodes with dead inputs.
struct StepContext::NoValues : Values {
  void put(uint32_t, uint32_t, bool) {}
};

struct StepContext::KernelValues : Values {
  uint32_t outputs;

  void put(uint32_t output, uint32_t slot, bool last) { send(context.outputs_[output], slot, last); }
  void drop() {
    for (uint32_t i = 0; i < outputs; ++i) troupe::drop(context.outputs_[i]);
  }
};

/// The output is one of the inputs.
struct StepContext::SlotValues : Values {
  uint32_t from;

  void put(uint32_t, uint32_t slot, bool last) { send(context.slots_[from], slot, last); }
  void drop() { troupe::drop(context.slots_[from]); }
};

/// Output i is input i.
struct StepContext::EachSlotValues : Values {
  uint32_t first, count;

  void put(uint32_t output, uint32_t slot, bool last) { send(context.slots_[first + output], slot, last); }
  void drop() { clear(first, count); }
};

struct StepContext::SwitchValues : SlotValues {
  uint32_t taken;

  bool dead(uint32_t output) const { return output != taken; }
};

struct StepContext::ConstantValues : Values {
  const Tensor& value;

  void put(uint32_t, uint32_t slot, bool) {
    context.slots_[slot].tensor = value;
    context.slots_[slot].kind = Slot::Kind::Value;
  }
};

struct StepContext::MergeValues : SlotValues {
  uint32_t winner;

  void put(uint32_t output, uint32_t slot, bool last) {
    if (output == 0) return SlotValues::put(output, slot, last);
    ConstantValues{{context}, context.prepared_.merge_index(winner)}.put(output, slot, true);
  }
};

struct StepContext::HandleValues : Values {
  StateCell* cell;

  void put(uint32_t, uint32_t slot, bool) {
    context.slots_[slot].cell = cell;
    context.slots_[slot].kind = Slot::Kind::Handle;
  }
};

struct StepContext::FeedValues : Values {
  Slot& value;

  void put(uint32_t, uint32_t slot, bool last) { send(value, slot, last); }
  void drop() { troupe::drop(value); }
};

struct StepContext::ReplyValues : Values {
  StepReply& reply;
  const Node& node;
  StateCell* cell;  ///< the cell to which outputs without a tensor refer

  bool dead(uint32_t) const { return reply.dead; }
  void put(uint32_t output, uint32_t slot, bool last) {
    if (!reply.outputs[output].valid())
      HandleValues{{context}, cell}.put(output, slot, last);
    else
      send(reply.outputs[output], slot, last);
  }
};

}  // namespace troupe
