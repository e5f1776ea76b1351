// Between the value of an attribute and TensorFlow's AttrValue. Functions without state.
#pragma once

#include <string>

#include "apps/interop/graph_def.pb.h"
#include "graph/ops/attributes.h"

namespace troupe::interop {

/// The value as an attribute of this kind. InvalidArgument says what is wrong with it, as the rest of a sentence that begins with
/// the attribute's name. Tensors take their bytes from `constant_bytes`.
Result<troupe::AttrValue> read_attr(const AttrValue& proto, AttrKind kind, uint64_t& constant_bytes);
/// The value as a file shows it ("i: 3"), cut when it is long.
std::string describe(const AttrValue& proto);
void write_attr(const troupe::AttrValue& value, AttrValue& proto);

}  // namespace troupe::interop
