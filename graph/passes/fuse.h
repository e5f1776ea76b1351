// Fuse: replaces chains of nodes by single nodes that compute the same bits with fewer passes over memory. It is the fourth of
// the master's passes, after placement, because only some types of device have kernels for the fused ops. Plain values.
//
// A chain is a product of floats, Conv2D of NHWC images or MatMul, and what follows it: BiasAdd, or FusedBatchNorm that does not
// train; Add or AddV2 of a tensor that is known to have the same shape; Relu. It becomes a _FusedConv2D or _FusedMatMul
// (kernels/ops/nn/fused_products.cpp).
#pragma once

#include <functional>
#include <vector>

#include "graph/passes/placer.h"

namespace troupe {

/// Returns whether the node can be carried out on this device.
using CanRun = std::function<bool(const Node&, DeviceId)>;

/// Fuses the chains whose nodes are on one device that can run the fused node, are used by the next node alone, and of which only
/// the first waits for control edges. The fused node has the name of the product. `device` has the device of each node, and is
/// updated. Returns how many nodes were removed. Fails with InvalidArgument for a cycle.
Result<size_t> fuse(Graph& graph, std::vector<DeviceId>& device, const CanRun& can_run);

}  // namespace troupe
