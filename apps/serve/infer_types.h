// The types of elements of the Open Inference Protocol. A pure function; any thread.
#pragma once

#include <string_view>

#include "messages/values/dtype.h"

namespace troupe::serve {

/// Returns the name that a type has in the protocol: "FP32"; empty if it has none there.
std::string_view datatype_of(DType dtype);

}  // namespace troupe::serve
