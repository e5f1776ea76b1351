// What the SparseSegment ops and their gradients check alike. Any thread may call the function.
#pragma once

#include <string_view>

#include "graph/ops/partial_shape.h"

namespace troupe {

/// Fails with InvalidArgument if `rows`, the argument `name`, is the shape of a scalar, or the other two are not those of
/// vectors of the same size.
Status check_segment_shapes(const PartialShape& rows, std::string_view name, const PartialShape& indices,
                            const PartialShape& ids);

}  // namespace troupe
