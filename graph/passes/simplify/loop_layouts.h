// LoopLayouts: brings tensors into the order in which the iterations of loops read or write them, where that costs least. It is
// part of the master's second pass, after simplify. Plain values.
//
//   TensorListFromTensor(ReverseV2(x, [0]))    _TensorListReverse(TensorListFromTensor(x)), which moves no element
//   ReverseV2(TensorListStack(l), [0])         TensorListStack(_TensorListReverse(l))
//   MatMul(a, w') in a loop, w is invariant    MatMul(a, v), v = w' is computed once, before the loop
#pragma once

#include "graph/passes/subgraph.h"

namespace troupe {

/// Applies the rules above to all nodes; nodes that are no longer needed stay. Products keep their value except for its last bits.
/// A product by a variable itself, rather than by its value, stays if a loop contains a node with an effect on state. Returns how
/// many nodes were replaced. Fails as assign_frames() does.
Result<size_t> lay_out_loops(Subgraph& subgraph);

}  // namespace troupe
