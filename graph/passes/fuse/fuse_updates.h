// FuseUpdates: replaces updates of several variables by one _FusedApply (kernels/ops/state/fused_updates.cpp), which changes all of
// them in one pass. On a GPU each small kernel takes as long as its launch, and a model may have hundreds of small variables. A
// pass of the master, after placement. Plain values.
#pragma once

#include "graph/passes/fuse/fuse.h"

namespace troupe {

/// Fuses updates by the same op, with the same attributes and scalars, on one device, of different variables, if that device can
/// run the fused node. None of them depends on another one, their outputs are not used, and none may be dead because of a Switch.
/// Gradients of more than 262,144 elements are left alone, because a fused node keeps all its gradients until it runs. The fused
/// node takes the place of the last one. `device` has the device of each node, and is updated. Returns how many nodes were
/// removed. Fails with InvalidArgument if the loops of the graph are malformed.
Result<size_t> fuse_updates(Graph& graph, std::vector<DeviceId>& device, const CanRun& can_run);

}  // namespace troupe
