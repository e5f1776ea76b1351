// Short ways to write graphs as files have them and to read them, for tests of apps/interop. Test code.
#pragma once

#include <string>
#include <string_view>

#include "apps/interop/read_graph.h"
#include "tests/support/ops/op_library.h"

namespace troupe::test {

inline Result<Graph> read(std::string_view bytes, const interop::GraphLimits& limits = {}) {
  return interop::read_graph_def(bytes, op_library()->ops, limits);
}

/// Why it cannot be read; "Ok" when it can.
inline std::string refusal(std::string_view bytes, const interop::GraphLimits& limits = {}) {
  return read(bytes, limits).status().message();
}

/// A node in the text form; `inputs` separated by blanks, `attrs` as they stand there.
inline std::string node(const std::string& name, const std::string& op, const std::string& inputs = "",
                        const std::string& attrs = "") {
  std::string text = "node { name: '" + name + "' op: '" + op + "' ";
  for (size_t at = 0; at < inputs.size();) {
    const size_t end = std::min(inputs.find(' ', at), inputs.size());
    text += "input: '" + inputs.substr(at, end - at) + "' ";
    at = end + 1;
  }
  return text + attrs + " }\n";
}
inline std::string attr(const std::string& name, const std::string& value) {
  return "attr { key: '" + name + "' value { " + value + " } } ";
}

/// A float placeholder of two elements, and a constant int32 scalar.
inline std::string placeholder(const std::string& name) {
  return node(name, "Placeholder", "",
              attr("dtype", "type: DT_FLOAT") + attr("shape", "shape { dim { size: 2 } }"));
}
inline std::string constant(const std::string& name, const std::string& dtype, const std::string& tensor) {
  return node(name, "Const", "",
              attr("dtype", "type: " + dtype) +
                  attr("value", "tensor { dtype: " + dtype + " tensor_shape {} " + tensor + " }"));
}

}  // namespace troupe::test
