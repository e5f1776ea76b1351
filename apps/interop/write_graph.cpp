#include "apps/interop/write_graph.h"

#include <google/protobuf/arena.h>
#include <google/protobuf/text_format.h>
#include <map>

#include "apps/interop/attr_value.h"
#include "apps/interop/tensor_proto.h"
#include "graph/build/functions.h"
#include "graph/build/recomputation.h"
#include "graph/build/shape_context.h"
#include "graph/build/signature.h"

namespace troupe::interop {
namespace {

/// The first version of the graph format in which a Placeholder of shape [] is a scalar.
constexpr int producer_version = 22;

AttrValue& add_attr(NodeDef& def, const std::string& name) {
  AttrEntry& entry = *def.add_attr();
  entry.set_key(name);
  return *entry.mutable_value();
}

/// How the nodes of a graph, or of a function's body, are named in the file.
class FileNames {
 public:
  explicit FileNames(const Graph& graph) : graph_(graph) {}
  /// In the body of a function the names lose the prefix that they get when the file is read.
  explicit FileNames(const Function& function) : graph_(*function.body), prefix_(function.name + '/') {
    for (size_t i = 0; i < function.arguments.size(); ++i)
      arguments_.emplace(function.arguments[i], "argument_" + std::to_string(i));
  }

  std::string of(std::string_view node) const {
    return std::string(node.starts_with(prefix_) ? node.substr(prefix_.size()) : node);
  }
  std::string of(NodeId id) const {
    const auto argument = arguments_.find(id);
    return argument == arguments_.end() ? of(graph_.node(id).name) : argument->second;
  }
  /// Returns "node:1", or "node:argument:1" in functions.
  std::string of(Output output) const {
    const std::string name = of(output.node);
    if (prefix_.empty()) return output.index == 0 ? name : name + ':' + std::to_string(output.index);
    return arguments_.contains(output.node) ? name : name + ':' + output_argument(output);
  }
  bool is_argument(NodeId id) const { return arguments_.contains(id); }

 private:
  std::string output_argument(Output output) const {
    const Node& node = graph_.node(output.node);
    size_t first = 0;
    for (const ArgDef& argument : node.op->outputs) {
      const size_t count = arity(argument, node.attrs);
      if (output.index < first + count) return argument.name + ':' + std::to_string(output.index - first);
      first += count;
    }
    return {};
  }

  const Graph& graph_;
  std::string prefix_;
  std::map<NodeId, std::string> arguments_;
};

/// Returns whether the shape function of the op yields the shapes of the outputs, so that they need not be written.
bool shapes_are_inferred(const Graph& graph, const Node& node) {
  ShapeContext context(graph, node);
  return node.op->shape(context).ok() && std::move(context).take_outputs() == node.output_shapes;
}

void write_node(const Graph& graph, const Node& node, const FileNames& names, NodeDef& def) {
  def.set_name(names.of(node.name));
  def.set_op(node.type());
  def.set_device(node.device);
  for (const Output& input : node.inputs) def.add_input(names.of(input));
  for (const NodeId control : node.control_inputs) def.add_input('^' + names.of(control));
  for (const auto& [name, value] : node.attrs) {
    const auto* const original = name == original_attr ? std::get_if<std::string>(&value) : nullptr;
    write_attr(original ? troupe::AttrValue(names.of(*original)) : value, add_attr(def, name));
  }
  if (!node.colocate_with.empty()) {
    auto& places = *add_attr(def, "_class").mutable_list();
    for (const std::string& other : node.colocate_with) places.add_s("loc:@" + names.of(other));
  }
  if (shapes_are_inferred(graph, node)) return;
  auto& shapes = *add_attr(def, "_output_shapes").mutable_list();
  for (const PartialShape& shape : node.output_shapes) write_shape(shape, *shapes.add_shape());
}

void write_function(const Function& function, FunctionDef& def) {
  const Graph& body = *function.body;
  const FileNames names(function);
  def.mutable_signature()->set_name(function.name);
  for (const NodeId argument : function.arguments) {
    auto& added = *def.mutable_signature()->add_input_arg();
    added.set_name(names.of(argument));
    added.set_type(write_dtype(body.dtype({argument, 0})));
  }
  for (size_t i = 0; i < function.results.size(); ++i) {
    auto& added = *def.mutable_signature()->add_output_arg();
    added.set_name("result_" + std::to_string(i));
    added.set_type(write_dtype(body.dtype(function.results[i])));
    NameEntry& source = *def.add_ret();
    source.set_key(added.name());
    source.set_value(names.of(function.results[i]));
  }
  for (const Node& node : body.nodes())
    if (!names.is_argument(node.id)) write_node(body, node, names, *def.add_node_def());
}

void write_graph(const Graph& graph, GraphDef& def) {
  def.mutable_versions()->set_producer(producer_version);
  const FileNames names(graph);
  for (const Node& node : graph.nodes()) write_node(graph, node, names, *def.add_node());
  const auto called = called_functions(graph);
  for (const auto& [name, function] : graph.functions())
    if (called.contains(&function)) write_function(function, *def.mutable_library()->add_function());
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

void write_tensor_attr(const Graph& graph, Output output, TensorInfo& info) {
  info.set_name(graph.name_of(output));
  info.set_dtype(write_dtype(graph.dtype(output)));
  write_shape(graph.shape(output), *info.mutable_tensor_shape());
}

void write_tensors(const Graph& graph, const std::map<std::string, Output>& tensors,
                   google::protobuf::RepeatedPtrField<TensorInfoEntry>& list) {
  for (const auto& [name, output] : tensors) {
    TensorInfoEntry& entry = *list.Add();
    entry.set_key(name);
    write_tensor_attr(graph, output, *entry.mutable_value());
  }
}

void write_meta_graph(const MetaGraph& meta, MetaGraphDef& def) {
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
  for (const auto& [name, signature] : meta.signatures) {
    SignatureEntry& entry = *def.add_signature_def();
    entry.set_key(name);
    entry.mutable_value()->set_method_name(signature.method);
    write_tensors(meta.graph, signature.inputs, *entry.mutable_value()->mutable_inputs());
    write_tensors(meta.graph, signature.outputs, *entry.mutable_value()->mutable_outputs());
  }
  if (!meta.init_op.empty() && !meta.collections.contains(init_op_collection)) {
    // TensorFlow 2 reads a model without an object graph as TensorFlow 1 does, which looks for a collection.
    CollectionEntry& entry = *def.add_collection_def();
    entry.set_key(init_op_collection);
    CollectionWriter (*entry.mutable_value())(std::vector<std::string>{meta.init_op});
  }
  for (const auto& [file, tensor] : meta.assets) {
    AssetFileDef& asset = *def.add_asset_file_def();
    asset.set_filename(file);
    write_tensor_attr(meta.graph, tensor, *asset.mutable_tensor_info());
  }
}

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
  write_meta_graph(meta, def);
  return serialise(def, format);
}

std::string write_saved_model(const MetaGraph& meta) {
  google::protobuf::Arena arena;
  SavedModel& model = *google::protobuf::Arena::CreateMessage<SavedModel>(&arena);
  model.set_saved_model_schema_version(1);
  write_meta_graph(meta, *model.add_meta_graphs());
  return serialise(model, Format::Binary);
}

}  // namespace troupe::interop
