#include "apps/interop/write_graph.h"

#include <google/protobuf/arena.h>
#include <google/protobuf/text_format.h>

#include "apps/interop/attr_value.h"
#include "apps/interop/tensor_proto.h"
#include "graph/build/shape_context.h"

namespace troupe::interop {
namespace {

/// The first version of the graph format in which a Placeholder of shape [] is a scalar.
constexpr int producer_version = 22;

AttrValue& add_attr(NodeDef& def, const std::string& name) {
  AttrEntry& entry = *def.add_attr();
  entry.set_key(name);
  return *entry.mutable_value();
}

std::string reference(const Graph& graph, Output input) {
  const std::string& name = graph.node(input.node).name;
  return input.index == 0 ? name : name + ':' + std::to_string(input.index);
}

/// Returns whether the shape function of the op yields the shapes of the outputs, so that they need not be written.
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

void write_graph(const Graph& graph, GraphDef& def) {
  def.mutable_versions()->set_producer(producer_version);
  for (const Node& node : graph.nodes()) write_node(graph, node, *def.add_node());
}

void write_saver(const Saver& saver, SaverDef& def) {
  def.set_filename_tensor_name(saver.filename_tensor);
  def.set_save_tensor_name(saver.save_tensor);
  def.set_restore_op_name(saver.restore_node);
  def.set_max_to_keep(saver.max_to_keep);
  def.set_sharded(saver.sharded);
  def.set_keep_checkpoint_every_n_hours(saver.keep_every_n_hours);
  def.set_version(static_cast<SaverDef::CheckpointFormatVersion>(saver.format));
}

class CollectionWriter {
 public:
  explicit CollectionWriter(CollectionDef& def) : def_(def) {}

  void operator()(const std::vector<std::string>& names) { copy(names, *def_.mutable_node_list()); }
  void operator()(const MetaGraph::Bytes& bytes) { copy(bytes.values, *def_.mutable_bytes_list()); }
  void operator()(const std::vector<int64_t>& values) { copy(values, *def_.mutable_int64_list()); }
  void operator()(const std::vector<float>& values) { copy(values, *def_.mutable_float_list()); }
  void operator()(const std::vector<MetaGraph::Any>& values) {
    auto& list = *def_.mutable_any_list();
    for (const MetaGraph::Any& value : values) {
      Any& any = *list.add_value();
      any.set_type_url(value.type);
      any.set_value(value.value);
    }
  }

 private:
  template <class Values, class List>
  static void copy(const Values& values, List& list) {
    for (const auto& value : values) list.add_value(value);
  }

  CollectionDef& def_;
};

template <class Message>
std::string serialise(const Message& message, Format format) {
  std::string bytes;
  if (format == Format::Binary)
    message.SerializeToString(&bytes);
  else
    google::protobuf::TextFormat::PrintToString(message, &bytes);
  return bytes;
}

}  // namespace

std::string write_graph_def(const Graph& graph, Format format) {
  google::protobuf::Arena arena;
  GraphDef& def = *google::protobuf::Arena::CreateMessage<GraphDef>(&arena);
  write_graph(graph, def);
  return serialise(def, format);
}

std::string write_meta_graph(const MetaGraph& meta, Format format) {
  google::protobuf::Arena arena;
  MetaGraphDef& def = *google::protobuf::Arena::CreateMessage<MetaGraphDef>(&arena);
  auto& info = *def.mutable_meta_info_def();
  for (const std::string& tag : meta.tags) info.add_tags(tag);
  info.set_tensorflow_version(meta.tensorflow_version);
  write_graph(meta.graph, *def.mutable_graph_def());
  if (meta.saver) write_saver(*meta.saver, *def.mutable_saver_def());
  for (const auto& [name, collection] : meta.collections) {
    CollectionEntry& entry = *def.add_collection_def();
    entry.set_key(name);
    std::visit(CollectionWriter(*entry.mutable_value()), collection);
  }
  return serialise(def, format);
}

}  // namespace troupe::interop
