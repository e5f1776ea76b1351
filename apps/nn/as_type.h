// Numbers in another type. One thread at a time per graph.
#pragma once

#include "kernels/constructors.h"

namespace troupe::nn {

/// Returns x in a type, without a node if it has that type.
inline Output as_type(const Scope& scope, Output x, DType dtype) {
  return scope.dtype(x) == dtype ? x : cast(scope, x, dtype);
}

}  // namespace troupe::nn
