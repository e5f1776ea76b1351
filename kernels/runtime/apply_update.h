// Runs an update rule on the cells of variables: what the owner of a group does for Assign, AssignAdd, ApplyAdam and the like.
// All or none: a rule that fails leaves every cell as it was. The caller is the only writer of the cells meanwhile.
#pragma once

#include <span>

#include "kernels/core/kernel.h"
#include "kernels/core/state.h"

namespace troupe {

/// `inputs` are those of the node in order: handles for references and resources, values for the rest, which are moved from. Each
/// cell gets the next version, in place where nobody holds a snapshot. FailedPrecondition naming a variable that has no value yet
/// when the op needs one; InvalidArgument when two inputs are the same cell, or one is of another dtype than the op updates;
/// else what the rule says.
Status apply_update(const Kernel& rule, const Node& node, std::span<Slot> inputs, DeviceContext& device,
                    const StepInfo& step);

}  // namespace troupe
