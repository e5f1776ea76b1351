// The dimensions that a reshape yields. Any thread may call the function.
#pragma once

#include <span>

#include "kernels/core/dims.h"
#include "messages/values/status.h"

namespace troupe {

/// Returns `wanted` with its -1, if any, replaced so that the shape has as many elements as a tensor of dimensions `tensor`. Fails
/// with InvalidArgument if no such shape exists.
Result<Dims> resolved_dims(std::span<const int64_t> wanted, std::span<const int64_t> tensor);

}  // namespace troupe
