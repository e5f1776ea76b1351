// What TensorFlow's files say beyond Troupe's op table: attributes that change nothing, and internal ones. Functions without state.
#pragma once

#include <string_view>

#include "apps/interop/graph_def.pb.h"
#include "graph/ops/op_table.h"

namespace troupe::interop {

/// A value of an attribute the table's op does not have that asks for nothing but what that op does.
bool changes_nothing(std::string_view op, std::string_view attr, const AttrValue& value);

/// The one value of such an attribute that asks for nothing else, in words; empty when the op has no such attribute.
std::string_view only_value(std::string_view op, std::string_view attr);

/// The internal attributes ('_' first) that Troupe keeps, and of which kind they are; nothing for the others.
std::optional<AttrKind> internal_attr(std::string_view name);

}  // namespace troupe::interop
