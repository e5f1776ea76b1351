// What may be fed for an output of a graph. A pure function; any thread.
#pragma once

#include <string>

#include "graph/ops/partial_shape.h"
#include "messages/values/tensor.h"

namespace troupe {

/// Fails with InvalidArgument, naming the output, if a value that is fed for it has another dtype or a shape that does not fit.
Status check_fed_value(const Tensor& value, DType dtype, const PartialShape& shape,
                       const std::string& output);

}  // namespace troupe
