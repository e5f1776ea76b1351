// Runs an update rule on the cells of variables, for Assign, AssignAdd, ApplyAdam and the like. The owner of a group of
// variables calls it, on one thread at a time, and must be the only writer of the cells meanwhile. If the rule fails, every
// cell keeps its value. In an unlocked phase, threads of steps change the values, too.
#pragma once

#include <optional>
#include <span>

#include "kernels/core/kernel.h"
#include "kernels/core/state.h"

namespace troupe {

/// Returns whether an op that changes a variable yields the value before the change (CountUpTo), instead of a reference.
inline bool yields_value(const Node& node) {
  return !node.output_types.empty() && !node.output_types[0].is_ref;
}

/// Runs the rule and publishes the new values. `inputs` are the inputs of the node in order: handles for references and
/// resources, values for the rest; the values are moved from. Each cell gets the next version, in place if nobody holds a
/// snapshot or if it is unlocked in the phase of the step. Fails with FailedPrecondition, naming the variable, if the op needs a
/// value and the variable has none; with InvalidArgument if two inputs are the same cell or a cell has another dtype than the op
/// updates; else as the rule fails.
Status apply_update(const Kernel& rule, const Node& node, std::span<Slot> inputs, DeviceContext& device,
                    const StepInfo& step);

/// Does the same in place if all cells are unlocked in the phase of the step; otherwise returns nothing and has no effect. Any
/// thread may call it, while others update the same cells.
std::optional<Status> apply_unlocked_update(const Kernel& rule, const Node& node, std::span<Slot> inputs,
                                            DeviceContext& device, const StepInfo& step);

}  // namespace troupe
