// The C++ functions of the op table's constructors, kernels/constructors.h, as text. Free function without state.
#pragma once

#include <string>

#include "graph/ops/op_table.h"

namespace troupe {

/// The whole header. A list of tensors is a std::vector<Output>, an attribute its C++ type, anything else an Argument; what the
/// definition gives a default has that default.
std::string constructors_header(const OpTable& ops);

}  // namespace troupe
