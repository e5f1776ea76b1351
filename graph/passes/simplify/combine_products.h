// CombineProducts: replaces a sum of matrix products by one product, which writes its result once:
//
//   AddN(a1' b1, a2' b2, ...)    Concat(a1, a2, ...)' Concat(b1, b2, ...)
//
// The gradient of weights that several steps of a recurrent layer use is such a sum. It is part of the master's second pass, after
// simplify, which leaves every bit as it is. Plain values.
#pragma once

#include "graph/passes/subgraph.h"

namespace troupe {

/// Combines the products of floats that nothing else uses or waits for, request the same device as their sum, and whose left matrix
/// is transposed, so that the rows of all matrices follow each other. The sum must have at least 64 rows and columns: then copying
/// the matrices takes little time beside the products. The matrices of a product must be no larger than it, and not be recomputed,
/// since they are kept until the last of them is computed; an unknown number of rows is taken to be 256. Nodes that are no longer
/// needed stay. Returns how many sums were replaced.
Result<size_t> combine_products(Subgraph& subgraph);

}  // namespace troupe
