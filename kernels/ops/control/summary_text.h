// The texts of tensors in errors and prints. A pure function; any thread may call it.
#pragma once

#include <string>

#include "messages/values/tensor.h"

namespace troupe {

/// Returns "[1 2 3...]": at most `max_elements` elements, all of them if that is negative.
std::string summary_text(const Tensor& tensor, int64_t max_elements);

}  // namespace troupe
