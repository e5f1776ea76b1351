#include "apps/interop/write_graph.h"

#include <google/protobuf/arena.h>
#include <google/protobuf/text_format.h>

#include "apps/interop/attr_value.h"
#include "apps/interop/tensor_proto.h"
#include "graph/shape_context.h"

namespace troupe::interop {
namespace {

/// Of TensorFlow 1.0, whose ops the table's are.
constexpr int producer_version = 21;

AttrValue& add_attr(NodeDef& def, const std::string& name) {
  AttrEntry& entry = *def.add_attr();
  entry.set_key(name);
  return *entry.mutable_value();
}

std::string reference(const Graph& graph, Output input) {
  const std::string& name = graph.node(input.node).name;
  return input.index == 0 ? name : name + ':' + std::to_string(input.index);
}

/// Do the inputs tell all that is known of the outputs' shapes?
bool shapes_are_inferred(const Graph& graph, const Node& node) {
  ShapeContext context(graph, node);
  return node.op->shape(context).ok() && std::move(context).take_outputs() == node.output_shapes;
}

void write_node(const Graph& graph, const Node& node, NodeDef& def) {
  def.set_name(node.name);
  def.set_op(node.type());
  def.set_device(node.device);
  for (const Output& input : node.inputs) def.add_input(reference(graph, input));
  for (const NodeId control : node.control_inputs) def.add_input('^' + graph.node(control).name);
  for (const auto& [name, value] : node.attrs) write_attr(value, add_attr(def, name));
  if (!node.colocate_with.empty()) {
    auto& names = *add_attr(def, "_class").mutable_list();
    for (const std::string& other : node.colocate_with) names.add_s("loc:@" + other);
  }
  if (shapes_are_inferred(graph, node)) return;
  auto& shapes = *add_attr(def, "_output_shapes").mutable_list();
  for (const PartialShape& shape : node.output_shapes) write_shape(shape, *shapes.add_shape());
}

}  // namespace

std::string write_graph_def(const Graph& graph, Format format) {
  google::protobuf::Arena arena;
  GraphDef& def = *google::protobuf::Arena::CreateMessage<GraphDef>(&arena);
  def.mutable_versions()->set_producer(producer_version);
  for (const Node& node : graph.nodes()) write_node(graph, node, *def.add_node());
  std::string bytes;
  if (format == Format::Binary)
    def.SerializeToString(&bytes);
  else
    google::protobuf::TextFormat::PrintToString(def, &bytes);
  return bytes;
}

}  // namespace troupe::interop
