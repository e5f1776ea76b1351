// Writes kernels/constructors.h: the constructors of the op table as C++ functions. A free function without state.
#pragma once

#include <string>

#include "graph/ops/op_table.h"

namespace troupe {

/// Returns the text of the whole header. A parameter that is a list of tensors is a std::vector<Output>, an attribute has its
/// C++ type, and any other parameter is an Argument. Defaults are those of the op definition.
std::string constructors_header(const OpTable& ops);

}  // namespace troupe
