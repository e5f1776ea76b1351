// Attributes in TensorFlow's files that are not in Troupe's op table: those that can be ignored, and internal ones. Functions
// without state; any thread.
#pragma once

#include <string_view>

#include "apps/interop/graph_def.pb.h"
#include "graph/ops/op_table.h"

namespace troupe::interop {

/// Returns whether an attribute that the op table lacks can be ignored because, with this value, the op does what Troupe's op does.
bool can_ignore(std::string_view op, std::string_view attr, const AttrValue& value);

/// Describes the only value with which such an attribute can be ignored; empty if there is no such attribute, or if every value can
/// be ignored.
std::string_view supported_value(std::string_view op, std::string_view attr);

/// Returns the kind of an internal attribute (whose name begins with '_') that Troupe keeps; nothing for all other attributes.
std::optional<AttrKind> internal_attr(std::string_view name);

}  // namespace troupe::interop
