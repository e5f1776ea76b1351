// What TensorFlow says otherwise than Troupe's op table: ops of the same meaning under another name, attributes that change
// nothing. What the table knows itself comes first, so a row becomes void when its op is added there. Functions without state.
#pragma once

#include <string_view>

#include "apps/interop/graph_def.pb.h"
#include "graph/op_table.h"

namespace troupe::interop {

/// What an op of a file is in the table.
struct Translation {
  const troupe::OpDef* op = nullptr;  ///< null: there is none
  /// This input is left out; it must be a constant zero. Negative: none.
  int zero_input = -1;
};
Translation translate(std::string_view op, const OpTable& table);

/// A value of an attribute the table's op does not have that asks for nothing but what that op does.
bool changes_nothing(std::string_view op, std::string_view attr, const AttrValue& value);

/// The internal attributes ('_' first) that Troupe keeps, and of which kind they are; nothing for the others.
std::optional<AttrKind> internal_attr(std::string_view name);

}  // namespace troupe::interop
