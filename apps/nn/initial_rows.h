// The initial values of a part of a variable: some rows of what initializes the whole, so that they do not depend on how the
// variable is cut. Of random, constant and elementwise nodes only these rows are computed, of any others the whole. Uses only
// the public builder and throws Error as it does. One thread at a time per graph.
#pragma once

#include "graph/build/row_slice.h"
#include "graph/build/scope.h"

namespace troupe::nn {

/// Returns rows of `whole`, whose shape must be fully known, with the least nodes. New nodes are added in `scope`.
Output initial_rows(const Scope& scope, Output whole, const RowSlice& slice);

}  // namespace troupe::nn
