#include "graph/build/graph_text.h"

#include <algorithm>
#include <sstream>

namespace troupe {
namespace {

constexpr size_t max_in_node = 4;

template <class T>
void append_elements(std::ostream& out, const Tensor& tensor, size_t max_elements) {
  const auto elements = tensor.as<T>();
  for (size_t i = 0; i < std::min(elements.size(), max_elements); ++i) {
    if (i != 0) out << ',';
    if constexpr (std::is_same_v<T, std::string>)
      out << '"' << elements[i] << '"';
    else
      out << +elements[i];
  }
  if (elements.size() > max_elements) out << ",...";
}

/// Returns true if the inputs determine the attribute: if it is a type or a number of inputs.
bool follows_from_inputs(const OpDef& op, const std::string& attr) {
  return std::any_of(op.inputs.begin(), op.inputs.end(), [&](const ArgDef& input) {
    return input.type_attr == attr || input.number_attr == attr || input.type_list_attr == attr;
  });
}

std::string source_text(const Graph& graph, Output source) {
  const std::string& name = graph.node(source.node).name;
  return source.index == 0 ? name : name + ':' + std::to_string(source.index);
}

std::string attributes_text(const Node& node) {
  std::string text;
  for (const auto& [name, value] : node.attrs) {
    const AttrDef* def = node.op->find_attr(name);
    const bool is_default = def && def->default_value && equal(*def->default_value, value);
    if (is_default || follows_from_inputs(*node.op, name)) continue;
    const Tensor* tensor = std::get_if<Tensor>(&value);
    text += ' ' + name + '=' + (tensor ? tensor_text(*tensor, max_in_node) : troupe::text(value));
  }
  return text;
}

}  // namespace

std::string tensor_text(const Tensor& tensor, size_t max_elements) {
  std::ostringstream out;
  out << tensor.signature() << '{';
  switch (tensor.dtype()) {
    case DType::Float: append_elements<float>(out, tensor, max_elements); break;
    case DType::Double: append_elements<double>(out, tensor, max_elements); break;
    case DType::Int32: append_elements<int32_t>(out, tensor, max_elements); break;
    case DType::Int64: append_elements<int64_t>(out, tensor, max_elements); break;
    case DType::UInt32: append_elements<uint32_t>(out, tensor, max_elements); break;
    case DType::UInt64: append_elements<uint64_t>(out, tensor, max_elements); break;
    case DType::Bool: append_elements<bool>(out, tensor, max_elements); break;
    case DType::String: append_elements<std::string>(out, tensor, max_elements); break;
    default: out << "...";
  }
  out << '}';
  return out.str();
}

std::string node_text(const Graph& graph, const Node& node) {
  std::string text = node.name + " = " + node.type() + '(';
  const char* separator = "";
  for (const Output& input : node.inputs) text += std::exchange(separator, ", ") + source_text(graph, input);
  for (const NodeId control : node.control_inputs)
    text += std::exchange(separator, ", ") + ('^' + graph.node(control).name);
  text += ')' + attributes_text(node);
  for (size_t i = 0; i < node.output_types.size(); ++i) {
    const auto& [dtype, is_ref] = node.output_types[i];
    text += (i == 0 ? " : " : ", ") + std::string(is_ref ? "ref " : "") + std::string(name(dtype)) +
            node.output_shapes[i].text();
  }
  if (!node.device.empty()) text += " @" + node.device;
  for (const std::string& other : node.colocate_with) text += " colocated with " + other;
  return text;
}

std::string graph_text(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes()) text += node_text(graph, node) + '\n';
  return text;
}

}  // namespace troupe
