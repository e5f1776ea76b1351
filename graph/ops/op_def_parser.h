// Parses the notation of op definitions (graph/ops/op_def.h, OpDefBuilder). Pure functions; used by OpDefBuilder only.
#pragma once

#include <string_view>
#include <vector>

#include "graph/ops/op_def.h"

namespace troupe {

/// Each function appends what `spec` says to `def`, or fails with InvalidArgument. Arguments
/// and constructors may refer only to attributes and inputs that were parsed before them.
Status parse_attr(std::string_view spec, OpDef& def);
Status parse_argument(std::string_view spec, const OpDef& def, std::vector<ArgDef>& arguments);
Status parse_constructor(std::string_view spec, OpDef& def);

}  // namespace troupe
