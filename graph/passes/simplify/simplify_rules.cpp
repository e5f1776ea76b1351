#include "graph/passes/simplify/simplify_rules.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace troupe {
namespace {

/// Returns true if every element is this number. Zeros must also have its sign.
template <class T>
bool filled_with(const Tensor& tensor, double value) {
  const auto elements = tensor.as<T>();
  return std::all_of(elements.begin(), elements.end(), [&](T element) {
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<double>(element) == value && std::signbit(element) == std::signbit(value);
    else
      return element == static_cast<T>(value);
  });
}

bool is_filled_with(const Tensor& tensor, double value) {
  switch (tensor.dtype()) {
    case DType::Float: return filled_with<float>(tensor, value);
    case DType::Double: return filled_with<double>(tensor, value);
    case DType::Int8: return filled_with<int8_t>(tensor, value);
    case DType::UInt8: return filled_with<uint8_t>(tensor, value);
    case DType::Int16: return filled_with<int16_t>(tensor, value);
    case DType::UInt16: return filled_with<uint16_t>(tensor, value);
    case DType::UInt32: return filled_with<uint32_t>(tensor, value);
    case DType::UInt64: return filled_with<uint64_t>(tensor, value);
    case DType::Int32: return filled_with<int32_t>(tensor, value);
    case DType::Int64: return filled_with<int64_t>(tensor, value);
    default: return false;
  }
}

/// Returns the number c for which x op c == x for every x, where input number `side` is c.
std::optional<double> neutral_number(const std::string& op, size_t side) {
  if (op == "Mul") return 1;
  if ((op == "Div" || op == "RealDiv") && side == 1) return 1;
  if (op == "Sub" && side == 1) return 0.0;
  if (op == "Add" || op == "AddV2") return -0.0;  // for floats, because -0.0 + 0.0 is 0.0
  return std::nullopt;
}

/// Returns true if the node of this output may be left out: it has no control inputs, so it is dead only if its inputs are.
bool always_there(const GraphDraft& draft, Output output) {
  return draft.node(output.node).control_inputs.empty();
}

std::optional<Output> without_neutral(const GraphDraft& draft, const Node& node) {
  for (const size_t side : {1, 0})
    if (const auto number = neutral_number(node.type(), side))
      if (const auto x = operand_beside(draft, node, side, *number)) return x;
  return std::nullopt;
}

/// Returns true for a reduction along no axis.
bool reduces_nothing(const GraphDraft& draft, const Node& node) {
  static constexpr std::string_view reductions[] = {"Max", "Mean", "Min", "Prod", "Sum"};
  if (std::ranges::find(reductions, node.type()) == std::end(reductions)) return false;
  const Tensor* const axes = draft.constant(node.inputs[1]);
  return axes && axes->elements() == 0 && always_there(draft, node.inputs[1]);
}

std::vector<int64_t> integers(const Tensor& tensor) {
  if (tensor.dtype() == DType::Int32) return {tensor.as<int32_t>().begin(), tensor.as<int32_t>().end()};
  if (tensor.dtype() == DType::Int64) return {tensor.as<int64_t>().begin(), tensor.as<int64_t>().end()};
  return {};
}

/// Removes Transpose(Transpose(x, p), q) if p[q[i]] == i for every i.
std::optional<Output> without_inverse_transposes(const GraphDraft& draft, const Node& node) {
  const Node& inner = draft.node(node.inputs[0].node);
  if (inner.op != node.op || !always_there(draft, node.inputs[0])) return std::nullopt;
  if (!always_there(draft, node.inputs[1]) || !always_there(draft, inner.inputs[1])) return std::nullopt;
  const Tensor *p = draft.constant(inner.inputs[1]), *q = draft.constant(node.inputs[1]);
  if (!p || !q) return std::nullopt;
  const std::vector<int64_t> first = integers(*p), second = integers(*q);
  if (first.size() != second.size() || first.empty() || !draft.shape(inner.inputs[0]).has_rank(first.size()))
    return std::nullopt;
  for (size_t i = 0; i < second.size(); ++i) {
    if (second[i] < 0 || second[i] >= static_cast<int64_t>(first.size())) return std::nullopt;
    if (first[static_cast<size_t>(second[i])] != static_cast<int64_t>(i)) return std::nullopt;
  }
  return inner.inputs[0];
}

/// Returns the size of the node's outputs, or nothing if their shapes are not fully known.
std::optional<uint64_t> known_bytes(const Node& node) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < node.output_types.size(); ++i) {
    const auto shape = node.output_shapes[i].to_shape(node.output_types[i].dtype);
    if (!shape) return std::nullopt;
    bytes += static_cast<uint64_t>(shape->elements()) * size_of(node.output_types[i].dtype);
  }
  return bytes;
}

bool may_be_folded(const GraphDraft& draft, const Node& node, const SimplifyOptions& options) {
  if (!options.evaluate || node.op->effect != Effect::Pure || node.op->served_by != ServedBy::Kernel)
    return false;
  if (node.inputs.empty() || node.output_types.empty()) return false;
  for (const Output& input : node.inputs)
    if (!draft.constant(input)) return false;
  for (const EdgeType& type : node.output_types)
    if (type.is_ref || is_local(type.dtype)) return false;
  return known_bytes(node).value_or(0) <= options.largest_constant;
}

}  // namespace

std::optional<Output> operand_beside(const GraphDraft& draft, const Node& node, size_t side, double number) {
  if (node.inputs.size() != 2 || node.output_types.size() != 1) return std::nullopt;
  const Tensor* const c = draft.constant(node.inputs[side]);
  if (!c || !always_there(draft, node.inputs[side]) || !is_filled_with(*c, number)) return std::nullopt;
  const Output x = node.inputs[1 - side];
  const PartialShape& shape = draft.shape(x);
  const bool keeps_shape = c->shape().is_scalar() || (shape.fully_known() && shape == node.output_shapes[0]);
  return keeps_shape && draft.type(x).dtype == node.output_types[0].dtype ? std::optional(x) : std::nullopt;
}

std::optional<Output> forwarded_output(const GraphDraft& draft, const Node& node) {
  const std::string& op = node.type();
  if (op == "Identity" || op == "Snapshot" || op == "StopGradient") return node.inputs[0];
  if (op == "Cast" && draft.type(node.inputs[0]).dtype == node.output_types[0].dtype) return node.inputs[0];
  if (op == "Neg") {
    const Node& inner = draft.node(node.inputs[0].node);
    if (inner.op == node.op && always_there(draft, node.inputs[0])) return inner.inputs[0];
  }
  if (op == "Transpose") return without_inverse_transposes(draft, node);
  if (reduces_nothing(draft, node)) return node.inputs[0];
  return without_neutral(draft, node);
}

std::optional<Tensor> known_metadata(const GraphDraft& draft, const Node& node) {
  const std::string& op = node.type();
  if (op != "Shape" && op != "Size" && op != "Rank") return std::nullopt;
  const PartialShape& shape = draft.shape(node.inputs[0]);
  if (op == "Rank") {
    if (!shape.known_rank()) return std::nullopt;
    return Tensor::scalar(static_cast<int32_t>(shape.rank()));
  }
  const auto known = shape.to_shape(draft.type(node.inputs[0]).dtype);
  const DType dtype = node.output_types[0].dtype;
  if (!known || (dtype != DType::Int32 && dtype != DType::Int64)) return std::nullopt;
  std::vector<int64_t> dims(known->dims().begin(), known->dims().end());
  if (op == "Size") dims = {known->elements()};
  if (dtype == DType::Int32 &&
      std::any_of(dims.begin(), dims.end(), [](int64_t dim) { return dim > INT32_MAX; }))
    return std::nullopt;
  const std::vector<int32_t> narrow(dims.begin(), dims.end());
  const Tensor vector =
      dtype == DType::Int64 ? Tensor::vector<int64_t>(dims) : Tensor::vector<int32_t>(narrow);
  return op == "Size" ? vector.reshaped(Shape{}) : vector;
}

std::optional<std::vector<Tensor>> folded(const GraphDraft& draft, const Node& node, const Graph& empty,
                                          const SimplifyOptions& options) {
  if (!may_be_folded(draft, node, options)) return std::nullopt;
  Graph graph = empty.empty();  // holds the node and its constants only
  std::vector<Tensor> values;
  Node copy = node;
  copy.control_inputs.clear();
  for (Output& input : copy.inputs) {
    Node constant = draft.node(input.node);
    values.push_back(constant.attrs.get<Tensor>("value"));
    constant.control_inputs.clear();
    const Node* known = graph.find(constant.name);
    input = {known ? known->id : graph.append(std::move(constant)), 0};
  }
  const NodeId id = graph.append(std::move(copy));
  auto results = options.evaluate(graph, graph.node(id), values);
  if (!results || results->size() != node.output_types.size()) return std::nullopt;
  for (const Tensor& tensor : *results)
    if (!tensor.valid() || tensor.bytes() > options.largest_constant) return std::nullopt;
  return std::move(*results);
}

}  // namespace troupe
