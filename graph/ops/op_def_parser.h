// The notation of op definitions (graph/ops/op_def.h, OpDefBuilder) turned into OpDef. Used by OpDefBuilder alone.
#pragma once

#include <string_view>
#include <vector>

#include "graph/ops/op_def.h"

namespace troupe {

/// Each appends to `def` what `spec` says, or tells the mistake. Arguments and constructors refer to attributes and inputs
/// parsed before them.
Status parse_attr(std::string_view spec, OpDef& def);
Status parse_argument(std::string_view spec, const OpDef& def, std::vector<ArgDef>& arguments);
Status parse_constructor(std::string_view spec, OpDef& def);

}  // namespace troupe
