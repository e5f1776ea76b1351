// Fuse: replaces several nodes by single nodes that compute the same bits with fewer passes over memory. It is the fourth of
// the master's passes, after placement, because only some types of device have kernels for the fused ops. Plain values.
// - A product of floats, Conv2D of NHWC images or MatMul, with what follows it: BiasAdd, or FusedBatchNorm that does not train;
//   Add, AddV2 or AddN of one other tensor that is known to have the same shape; Relu. It becomes a _FusedConv2D or _FusedMatMul
//   (kernels/ops/nn/fused_products.cpp).
// - Elementwise ops of floats of the same shape and scalars, of which only the last one is used elsewhere. They become a
//   _FusedElementwise (kernels/ops/math/fused_elementwise.cpp), which computes a few elements of all of them at a time. What they
//   use of others' elementwise results is computed again if that needs fewer tensors: the gradients of an activation function
//   need its argument only, and the step keeps no other tensor for them.
#pragma once

#include <functional>
#include <vector>

#include "graph/passes/place/placer.h"

namespace troupe {

/// Returns whether the node can be carried out on this device.
using CanRun = std::function<bool(const Node&, DeviceId)>;

/// Fuses nodes of one device, if it can run the fused node. No other node uses or waits for one that disappears, and only the
/// first node of a product and the last one of elementwise ops may wait for control edges; these two name the fused nodes.
/// `device` has the device of each node, and is updated. Returns how many nodes were removed. Fails with InvalidArgument for a
/// cycle.
Result<size_t> fuse(Graph& graph, std::vector<DeviceId>& device, const CanRun& can_run);

}  // namespace troupe
