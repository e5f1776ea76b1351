#include "actors/site/graph_wire.h"

#include <capnp/message.h>

#include <utility>

#include "graph/build/functions.h"
#include "graph/build/shape_context.h"
#include "messages/values/crc32c.h"

namespace troupe {

void write(const PartialShape& shape, wire::PartialShape::Builder builder) {
  builder.setUnknownRank(!shape.known_rank());
  auto dims = builder.initDims(static_cast<uint32_t>(shape.rank()));
  for (uint32_t i = 0; i < shape.rank(); ++i) dims.set(i, shape[i]);
}

Result<PartialShape> read(wire::PartialShape::Reader reader) {
  if (reader.getUnknownRank()) return PartialShape{};
  return PartialShape::make(vector_of<int64_t>(reader.getDims()));
}

void write(const RowSlice& slice, wire::RowSlice::Builder builder) {
  builder.setOf(as_text(slice.of));
  builder.setRows(slice.rows);
  builder.setFirst(slice.first);
  builder.setStride(slice.stride);
  builder.setCount(slice.count);
}

RowSlice read(wire::RowSlice::Reader reader) {
  return {std::string(view(reader.getOf())), reader.getRows(), reader.getFirst(), reader.getStride(),
          reader.getCount()};
}

namespace {

class AttrWriter {
 public:
  AttrWriter(wire::Attr::Builder builder, std::vector<Tensor>& attachments)
      : builder_(builder), attachments_(attachments) {}

  void operator()(const std::string& value) { builder_.setString(as_data(value)); }
  void operator()(int64_t value) { builder_.setInt(value); }
  void operator()(float value) { builder_.setFloat(value); }
  void operator()(bool value) { builder_.setBool(value); }
  void operator()(DType value) { builder_.setType(static_cast<uint8_t>(value)); }
  void operator()(const PartialShape& value) { write(value, builder_.initShape()); }
  void operator()(const Tensor& value) { builder_.setTensor(attach(value)); }
  void operator()(const FunctionName& value) { builder_.setFunction(as_text(value.name)); }
  void operator()(const std::vector<std::string>& values) {
    fill(builder_.initStrings(count(values)), values, [](const auto& value) { return as_data(value); });
  }
  void operator()(const std::vector<int64_t>& values) {
    fill(builder_.initInts(count(values)), values, as_it_is);
  }
  void operator()(const std::vector<float>& values) {
    fill(builder_.initFloats(count(values)), values, as_it_is);
  }
  void operator()(const std::vector<bool>& values) {
    fill(builder_.initBools(count(values)), values, as_it_is);
  }
  void operator()(const std::vector<DType>& values) {
    fill(builder_.initTypes(count(values)), values, [](DType value) { return static_cast<uint8_t>(value); });
  }
  void operator()(const std::vector<PartialShape>& values) {
    auto list = builder_.initShapes(count(values));
    for (uint32_t i = 0; i < values.size(); ++i) write(values[i], list[i]);
  }
  void operator()(const std::vector<Tensor>& values) {
    fill(builder_.initTensors(count(values)), values, [this](const auto& value) { return attach(value); });
  }
  void operator()(const std::vector<FunctionName>& values) {
    fill(builder_.initFunctions(count(values)), values,
         [](const auto& value) { return as_text(value.name); });
  }

 private:
  static constexpr auto as_it_is = [](auto value) { return value; };
  template <class T>
  static uint32_t count(const std::vector<T>& values) {
    return static_cast<uint32_t>(values.size());
  }
  template <class List, class T, class F>
  static void fill(List list, const std::vector<T>& values, F convert) {
    for (uint32_t i = 0; i < values.size(); ++i) list.set(i, convert(values[i]));
  }
  uint32_t attach(const Tensor& tensor) {
    attachments_.push_back(tensor);
    return static_cast<uint32_t>(attachments_.size() - 1);
  }

  wire::Attr::Builder builder_;
  std::vector<Tensor>& attachments_;
};

template <class T, class List, class F>
Result<AttrValue> read_list(List list, F convert) {
  std::vector<T> values;
  values.reserve(list.size());
  for (const auto element : list) {
    TROUPE_ASSIGN(auto value, convert(element));
    values.push_back(std::move(value));
  }
  return AttrValue(std::move(values));
}

template <class T>
Result<AttrValue> as_attr(Result<T> value) {
  if (!value) return value.status();
  return AttrValue(std::move(*value));
}

Result<AttrValue> read_attr(wire::Attr::Reader attr, const AnyMessage& message) {
  const auto tensor = [&](uint32_t index) { return message.attachment(index); };
  const auto type = [](uint8_t number) { return dtype_from_number(number); };
  switch (attr.which()) {
    case wire::Attr::STRING: return AttrValue(std::string(view(attr.getString())));
    case wire::Attr::INT: return AttrValue(attr.getInt());
    case wire::Attr::FLOAT: return AttrValue(attr.getFloat());
    case wire::Attr::BOOL: return AttrValue(attr.getBool());
    case wire::Attr::TYPE: return as_attr(type(attr.getType()));
    case wire::Attr::SHAPE: return as_attr(read(attr.getShape()));
    case wire::Attr::TENSOR: return as_attr(tensor(attr.getTensor()));
    case wire::Attr::FUNCTION: return AttrValue(FunctionName{std::string(view(attr.getFunction()))});
    case wire::Attr::STRINGS:
      return read_list<std::string>(attr.getStrings(),
                                    [](auto text) { return Result<std::string>(std::string(view(text))); });
    case wire::Attr::INTS: return AttrValue(vector_of<int64_t>(attr.getInts()));
    case wire::Attr::FLOATS: return AttrValue(vector_of<float>(attr.getFloats()));
    case wire::Attr::BOOLS: return AttrValue(vector_of<bool>(attr.getBools()));
    case wire::Attr::TYPES: return read_list<DType>(attr.getTypes(), type);
    case wire::Attr::SHAPES:
      return read_list<PartialShape>(attr.getShapes(), [](auto shape) { return read(shape); });
    case wire::Attr::TENSORS: return read_list<Tensor>(attr.getTensors(), tensor);
    case wire::Attr::FUNCTIONS:
      return read_list<FunctionName>(attr.getFunctions(), [](auto text) {
        return Result<FunctionName>(FunctionName{std::string(view(text))});
      });
  }
  return invalid_argument("attribute " + std::string(view(attr.getName())) + " is of unknown kind " +
                          std::to_string(attr.which()));
}

/// An input from a node that is added later; it is set when that node has been added. Index Output::control: a control edge.
struct LaterEdge {
  NodeId node;
  size_t input;
  Output source;
};

Result<NodeSpec> read_spec(wire::Node::Reader reader, const AnyMessage& message, const Graph& graph,
                           std::vector<LaterEdge>& later) {
  NodeSpec spec;
  spec.name = view(reader.getName());
  spec.op = view(reader.getOp());
  const auto fail = [&](Status status) { return std::move(status).at_node(spec.op, spec.name); };
  for (const auto attr : reader.getAttrs()) {
    auto value = read_attr(attr, message);
    if (!value) return fail(value.status());
    spec.attrs.set(view(attr.getName()), std::move(*value));
  }
  for (const auto input : reader.getInputs()) {
    const Output source{input.getNode(), input.getIndex()};
    if (source.node < graph.size()) {
      spec.inputs.push_back(source);
    } else {
      if (spec.inputs.empty()) return fail(invalid_argument("the first input comes from a later node"));
      later.push_back({static_cast<NodeId>(graph.size()), spec.inputs.size(), source});
      spec.inputs.push_back(spec.inputs.front());  // a placeholder of the same type
    }
  }
  for (const NodeId control : reader.getControlInputs()) {
    if (control < graph.size())
      spec.control_inputs.push_back(control);
    else
      later.push_back({static_cast<NodeId>(graph.size()), 0, {control, Output::control}});
  }
  spec.device = view(reader.getDevice());
  for (const auto name : reader.getColocateWith()) spec.colocate_with.emplace_back(view(name));
  return spec;
}

Status read_shapes(Graph& graph, NodeId node, wire::Node::Reader reader) {
  const auto shapes = reader.getShapes();
  if (shapes.size() > graph.node(node).output_types.size())
    return invalid_argument("node " + graph.node(node).name + " has " +
                            std::to_string(graph.node(node).output_types.size()) +
                            " outputs, but the message has " + std::to_string(shapes.size()) + " shapes");
  for (uint32_t i = 0; i < shapes.size(); ++i) {
    TROUPE_ASSIGN(const auto shape, read(shapes[i]));
    TROUPE_RETURN_IF_FAILED(graph.refine_shape({node, i}, shape));
  }
  return {};
}

void write_functions(const Graph& graph, NodeId first, wire::Graph::Builder builder,
                     std::vector<Tensor>& attachments) {
  const std::set<const Function*> called = called_functions(graph, first);
  auto functions = builder.initFunctions(static_cast<uint32_t>(called.size()));
  uint32_t at = 0;
  for (const auto& [name, function] : graph.functions()) {
    if (!called.contains(&function)) continue;
    auto out = functions[at++];
    out.setName(as_text(name));
    write(*function.body, 0, out.initBody(), attachments);
    auto arguments = out.initArguments(static_cast<uint32_t>(function.arguments.size()));
    for (uint32_t i = 0; i < function.arguments.size(); ++i) arguments.set(i, function.arguments[i]);
    auto results = out.initResults(static_cast<uint32_t>(function.results.size()));
    for (uint32_t i = 0; i < function.results.size(); ++i) {
      results[i].setNode(function.results[i].node);
      results[i].setIndex(function.results[i].index);
    }
  }
}

Status read_function(Graph& graph, wire::Function::Reader reader, const AnyMessage& message) {
  if (graph.find_function(view(reader.getName()))) return {};
  auto body = std::make_shared<Graph>(graph.ops());
  TROUPE_RETURN_IF_FAILED(read_into(*body, reader.getBody(), message));
  Function function;
  function.name = view(reader.getName());
  function.arguments = vector_of<NodeId>(reader.getArguments());
  for (const NodeId argument : function.arguments)
    if (argument >= body->size())
      return invalid_argument("function " + function.name + ": its argument is node number " +
                              std::to_string(argument) + ", but its body has " +
                              std::to_string(body->size()) + " nodes");
  for (const auto result : reader.getResults()) {
    function.results.push_back({result.getNode(), result.getIndex()});
    if (!body->contains(function.results.back()))
      return invalid_argument("function " + function.name + ": its result is output " +
                              std::to_string(result.getIndex()) + " of node number " +
                              std::to_string(result.getNode()) + ", which its body does not have");
  }
  function.body = std::move(body);
  return graph.add_function(std::move(function));
}

}  // namespace

void write(const Graph& graph, NodeId first, wire::Graph::Builder builder, std::vector<Tensor>& attachments) {
  builder.setFirstNode(first);
  auto nodes = builder.initNodes(static_cast<uint32_t>(graph.size() - first));
  for (NodeId id = first; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    auto out = nodes[id - first];
    out.setName(as_text(node.name));
    out.setOp(as_text(node.op->name));
    out.setDevice(as_text(node.device));
    auto inputs = out.initInputs(static_cast<uint32_t>(node.inputs.size()));
    for (uint32_t i = 0; i < node.inputs.size(); ++i) {
      inputs[i].setNode(node.inputs[i].node);
      inputs[i].setIndex(node.inputs[i].index);
    }
    auto controls = out.initControlInputs(static_cast<uint32_t>(node.control_inputs.size()));
    for (uint32_t i = 0; i < node.control_inputs.size(); ++i) controls.set(i, node.control_inputs[i]);
    auto attrs = out.initAttrs(static_cast<uint32_t>(node.attrs.size()));
    uint32_t at = 0;
    for (const auto& [name, value] : node.attrs) {
      attrs[at].setName(as_text(name));
      std::visit(AttrWriter(attrs[at++], attachments), value);
    }
    auto colocate = out.initColocateWith(static_cast<uint32_t>(node.colocate_with.size()));
    for (uint32_t i = 0; i < node.colocate_with.size(); ++i) colocate.set(i, as_text(node.colocate_with[i]));
    if (node.op->shape != unknown_shape) continue;
    auto shapes = out.initShapes(static_cast<uint32_t>(node.output_shapes.size()));
    for (uint32_t i = 0; i < node.output_shapes.size(); ++i) write(node.output_shapes[i], shapes[i]);
  }
  write_functions(graph, first, builder, attachments);
}

Status read_into(Graph& graph, wire::Graph::Reader reader, const AnyMessage& message) {
  if (reader.getFirstNode() != graph.size())
    return aborted("the graph has " + std::to_string(graph.size()) +
                   " nodes, but the first node to add has number " + std::to_string(reader.getFirstNode()));
  std::vector<LaterEdge> later;
  for (const auto node : reader.getNodes()) {
    TROUPE_ASSIGN(auto spec, read_spec(node, message, graph, later));
    TROUPE_ASSIGN(const NodeId id, graph.add(std::move(spec)));
    TROUPE_RETURN_IF_FAILED(read_shapes(graph, id, node));
  }
  for (const LaterEdge& edge : later)
    TROUPE_RETURN_IF_FAILED(edge.source.is_control()
                                ? graph.add_control_input(edge.node, edge.source.node)
                                : graph.replace_input(edge.node, edge.input, edge.source));
  for (const auto function : reader.getFunctions())
    TROUPE_RETURN_IF_FAILED(read_function(graph, function, message));
  return {};
}

uint32_t digest_of(wire::Graph::Reader reader) {
  const auto words = capnp::canonicalize(reader);
  const auto bytes = words.asBytes();
  return crc32c({reinterpret_cast<const char*>(bytes.begin()), bytes.size()});
}

}  // namespace troupe
