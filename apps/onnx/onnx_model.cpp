#include "apps/onnx/onnx_model.h"

#include "messages/protobuf/fields.h"

namespace troupe::onnx {
namespace {

using protobuf::append_bytes_field;
using protobuf::append_fixed_field;
using protobuf::append_varint_field;

constexpr int64_t ir_version = 8;

// The numbers of fields, by message.
namespace model_proto {
constexpr uint32_t version = 1, producer = 2, graph = 7, opsets = 8;
constexpr uint32_t opset_domain = 1, opset_version = 2;  // of OperatorSetIdProto
}  // namespace model_proto
namespace graph_proto {
constexpr uint32_t node = 1, name = 2, initializer = 5, input = 11, output = 12;
}  // namespace graph_proto
namespace node_proto {
constexpr uint32_t input = 1, output = 2, op = 4, attribute = 5, domain = 7;
}  // namespace node_proto
namespace attribute_proto {
constexpr uint32_t name = 1, number = 2, integer = 3, text = 4, integers = 8, texts = 9, type = 20;
constexpr uint64_t is_number = 1, is_integer = 2, is_text = 3, is_integers = 7, is_texts = 8;
}  // namespace attribute_proto
namespace tensor_proto {
constexpr uint32_t dims = 1, type = 2, texts = 6, name = 8, bytes = 9;
}  // namespace tensor_proto
namespace value_proto {
constexpr uint32_t name = 1, type = 2;                  // ValueInfoProto
constexpr uint32_t tensor = 1, element = 1, shape = 2;  // TypeProto, TypeProto.Tensor
constexpr uint32_t dim = 1, size = 1, symbol = 2;       // TensorShapeProto, its Dimension
}  // namespace value_proto

Result<int64_t> required_type(DType dtype, const std::string& name) {
  const int64_t number = type_number(dtype);
  if (number != 0) return number;
  return unimplemented("ONNX has no tensors of type " + std::string(troupe::name(dtype)) + ", which '" +
                       name + "' is");
}

Result<std::string> value_info(const std::string& name, DType dtype, const PartialShape& shape) {
  TROUPE_ASSIGN(const int64_t number, required_type(dtype, name));
  std::string tensor;
  append_varint_field(tensor, value_proto::element, static_cast<uint64_t>(number));
  if (shape.known_rank()) {
    std::string dims;
    for (size_t i = 0; i < shape.rank(); ++i) {
      std::string dim;
      if (shape[i] == unknown_dim)
        append_bytes_field(dim, value_proto::symbol, i == 0 ? "batch" : name + '_' + std::to_string(i));
      else
        append_varint_field(dim, value_proto::size, static_cast<uint64_t>(shape[i]));
      append_bytes_field(dims, value_proto::dim, dim);
    }
    append_bytes_field(tensor, value_proto::shape, dims);
  }
  std::string type, info;
  append_bytes_field(type, value_proto::tensor, tensor);
  append_bytes_field(info, value_proto::name, name);
  append_bytes_field(info, value_proto::type, type);
  return info;
}

struct AttributeWriter {
  void operator()(int64_t value) const {
    append_varint_field(to, attribute_proto::integer, static_cast<uint64_t>(value));
    append_varint_field(to, attribute_proto::type, attribute_proto::is_integer);
  }
  void operator()(float value) const {
    append_fixed_field(to, attribute_proto::number, value);
    append_varint_field(to, attribute_proto::type, attribute_proto::is_number);
  }
  void operator()(const std::string& value) const {
    append_bytes_field(to, attribute_proto::text, value);
    append_varint_field(to, attribute_proto::type, attribute_proto::is_text);
  }
  void operator()(const std::vector<int64_t>& values) const {
    for (const int64_t value : values)
      append_varint_field(to, attribute_proto::integers, static_cast<uint64_t>(value));
    append_varint_field(to, attribute_proto::type, attribute_proto::is_integers);
  }
  void operator()(const std::vector<std::string>& values) const {
    for (const std::string& value : values) append_bytes_field(to, attribute_proto::texts, value);
    append_varint_field(to, attribute_proto::type, attribute_proto::is_texts);
  }

  std::string& to;
};

}  // namespace

int64_t type_number(DType dtype) {
  switch (dtype) {
    case DType::Float: return 1;
    case DType::UInt8: return 2;
    case DType::Int8: return 3;
    case DType::UInt16: return 4;
    case DType::Int16: return 5;
    case DType::Int32: return 6;
    case DType::Int64: return 7;
    case DType::String: return 8;
    case DType::Bool: return 9;
    case DType::Half: return 10;
    case DType::Double: return 11;
    case DType::UInt32: return 12;
    case DType::UInt64: return 13;
    case DType::BFloat16: return 16;
    default: return 0;
  }
}

Status OnnxModel::add_input(const std::string& name, DType dtype, const PartialShape& shape) {
  TROUPE_ASSIGN(const std::string info, value_info(name, dtype, shape));
  append_bytes_field(graph_, graph_proto::input, info);
  return {};
}

Status OnnxModel::add_output(const std::string& name, DType dtype, const PartialShape& shape) {
  TROUPE_ASSIGN(const std::string info, value_info(name, dtype, shape));
  append_bytes_field(graph_, graph_proto::output, info);
  return {};
}

Status OnnxModel::add_constant(const std::string& name, const Tensor& value) {
  TROUPE_ASSIGN(const int64_t number, required_type(value.dtype(), name));
  std::string tensor;
  for (const int64_t dim : value.shape().dims())
    append_varint_field(tensor, tensor_proto::dims, static_cast<uint64_t>(dim));
  append_varint_field(tensor, tensor_proto::type, static_cast<uint64_t>(number));
  append_bytes_field(tensor, tensor_proto::name, name);
  if (value.dtype() == DType::String)
    for (const std::string& text : value.as<std::string>())
      append_bytes_field(tensor, tensor_proto::texts, text);
  else
    append_bytes_field(tensor, tensor_proto::bytes,
                       {reinterpret_cast<const char*>(value.data()), value.bytes()});
  append_bytes_field(graph_, graph_proto::initializer, tensor);
  return {};
}

void OnnxModel::add_node(std::string_view op, std::span<const std::string> inputs,
                         std::span<const std::string> outputs, const NodeAttributes& attributes) {
  std::string node;
  for (const std::string& input : inputs) append_bytes_field(node, node_proto::input, input);
  for (const std::string& output : outputs) append_bytes_field(node, node_proto::output, output);
  const std::string ml_prefix = std::string(ml_domain) + '/';
  if (op.starts_with(ml_prefix)) {
    uses_ml_ops_ = true;
    op.remove_prefix(ml_prefix.size());
    append_bytes_field(node, node_proto::domain, ml_domain);
  }
  append_bytes_field(node, node_proto::op, op);
  for (const auto& [name, value] : attributes) {
    std::string attribute;
    append_bytes_field(attribute, attribute_proto::name, name);
    std::visit(AttributeWriter{attribute}, value);
    append_bytes_field(node, node_proto::attribute, attribute);
  }
  append_bytes_field(graph_, graph_proto::node, node);
}

std::string OnnxModel::bytes() const {
  std::string graph = graph_, model, ops;
  append_bytes_field(graph, graph_proto::name, name_);
  append_varint_field(ops, model_proto::opset_version, static_cast<uint64_t>(opset));
  append_varint_field(model, model_proto::version, static_cast<uint64_t>(ir_version));
  append_bytes_field(model, model_proto::producer, "troupe");
  append_bytes_field(model, model_proto::graph, graph);
  append_bytes_field(model, model_proto::opsets, ops);
  if (uses_ml_ops_) {
    std::string ml_ops;
    append_bytes_field(ml_ops, model_proto::opset_domain, ml_domain);
    append_varint_field(ml_ops, model_proto::opset_version, static_cast<uint64_t>(ml_opset));
    append_bytes_field(model, model_proto::opsets, ml_ops);
  }
  return model;
}

}  // namespace troupe::onnx
