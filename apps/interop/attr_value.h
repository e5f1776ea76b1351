// Conversion between the values of attributes and TensorFlow's AttrValue. Functions without state; any thread.
#pragma once

#include <string>

#include "apps/interop/graph_def.pb.h"
#include "graph/ops/attributes.h"

namespace troupe::interop {

/// Returns the value as an attribute of the given kind. Fails with InvalidArgument if it has another kind or is malformed; the
/// caller adds the name of the attribute. The bytes of tensors are subtracted from `constant_bytes`; fails with ResourceExhausted
/// if too few are left.
Result<troupe::AttrValue> read_attr(const AttrValue& proto, AttrKind kind, uint64_t& constant_bytes);
/// Returns the value as the text form of a file shows it ("i: 3"), shortened if it is long.
std::string describe(const AttrValue& proto);
void write_attr(const troupe::AttrValue& value, AttrValue& proto);

}  // namespace troupe::interop
