// The kernel behind every op of training_ops.cpp: it reads off the op's arguments what is a variable, the gradient, its rows, or a
// scalar, and applies a rule of update_rules.h to all of it or to those rows. Prepared once for a node; concurrent steps run it.
#pragma once

#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"
#include "kernels/loops/update_rules.h"

namespace troupe {

/// All variables have one shape. So has the gradient, or it has one row of them for each index; the rest are scalars.
Status training_shape(ShapeContext& context);

Result<std::unique_ptr<Kernel>> training_kernel(Rule rule, const PrepareContext& context);

}  // namespace troupe
