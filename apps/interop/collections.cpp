#include "apps/interop/collections.h"

#include <algorithm>
#include <unordered_map>

#include "apps/interop/attr_value.h"
#include "apps/interop/graph_def.pb.h"
#include "graph/build/noted_attrs.h"
#include "graph/build/queue_runner.h"
#include "graph/build/variables.h"
#include "messages/protobuf/fields.h"

namespace troupe::interop {
namespace {

/// A VariableDef: names of a tensor and of a node.
struct NamedVariable {
  std::string_view variable, initializer;
  std::optional<RowSlice> slice;
};

void read_dims(const protobuf::Field& field, std::vector<int64_t>& dims) {
  protobuf::each_varint(field, [&](uint64_t dim) {
    dims.push_back(static_cast<int64_t>(dim));
    return true;
  });
}

/// Reads a SaveSliceInfoDef. Returns nothing if it is damaged, or if the part does not have whole rows.
std::optional<RowSlice> read_slice(std::string_view message) {
  std::string_view whole;
  std::vector<int64_t> whole_shape, offset, shape;
  protobuf::FieldReader fields(message);
  while (const auto field = fields.next()) {
    if (field->number == slice_def::whole) whole = field->bytes;
    if (field->number == slice_def::whole_shape) read_dims(*field, whole_shape);
    if (field->number == slice_def::offset) read_dims(*field, offset);
    if (field->number == slice_def::shape) read_dims(*field, shape);
  }
  const size_t rank = whole_shape.size();
  if (fields.damaged() || rank == 0 || offset.size() != rank || shape.size() != rank) return std::nullopt;
  for (size_t k = 1; k < rank; ++k)
    if (offset[k] != 0 || shape[k] != whole_shape[k]) return std::nullopt;
  return RowSlice{std::string(whole), whole_shape[0], offset[0], 1, shape[0]};
}

NamedVariable read_variable(std::string_view message) {
  NamedVariable read;
  protobuf::FieldReader fields(message);
  while (const auto field = fields.next()) {
    if (field->number == variable_def::variable) read.variable = field->bytes;
    if (field->number == variable_def::initializer) read.initializer = field->bytes;
    if (field->number == variable_def::slice) read.slice = read_slice(field->bytes);
  }
  return read;
}

void append_dims(std::string& message, uint32_t field, std::span<const int64_t> dims) {
  std::string packed;
  for (const int64_t dim : dims) protobuf::append_varint(packed, static_cast<uint64_t>(dim));
  protobuf::append_bytes_field(message, field, packed);
}

/// Returns a SaveSliceInfoDef for a part of this shape, which has rows that follow each other.
std::string slice_message(const RowSlice& slice, const PartialShape& shape) {
  std::vector<int64_t> whole(shape.dims().begin(), shape.dims().end()), offset(shape.rank(), 0);
  whole[0] = slice.rows;
  offset[0] = slice.first;
  std::string message;
  protobuf::append_bytes_field(message, slice_def::whole, slice.of);
  append_dims(message, slice_def::whole_shape, whole);
  append_dims(message, slice_def::offset, offset);
  append_dims(message, slice_def::shape, shape.dims());
  return message;
}

/// The nodes of a GraphDef, whose attributes are set.
class Nodes {
 public:
  explicit Nodes(GraphDef& def) {
    for (NodeDef& node : *def.mutable_node()) nodes_.emplace(node.name(), &node);
  }
  /// Sets an attribute of the node with this output, unless it has the attribute already, or there is no such node.
  void note(std::string_view output, std::string_view attr, const troupe::AttrValue& value) {
    const auto node = nodes_.find(output.substr(0, output.find(':')));
    if (node == nodes_.end()) return;
    const auto& attrs = node->second->attr();
    if (std::ranges::any_of(attrs, [&](const AttrEntry& entry) { return entry.key() == attr; })) return;
    AttrEntry& entry = *node->second->add_attr();
    entry.set_key(std::string(attr));
    write_attr(value, *entry.mutable_value());
  }
  void note(const NamedVariable& part, const RowSlice& slice) {
    Attributes attrs;
    set_row_slice(attrs, slice);
    for (const auto& [name, value] : attrs) note(part.variable, name, value);
  }

 private:
  std::unordered_map<std::string_view, NodeDef*> nodes_;
};

/// Returns the messages of a collection; none if there is no such collection.
std::vector<NamedVariable> variables_in(const MetaGraphDef& def, std::string_view collection) {
  std::vector<NamedVariable> variables;
  for (const CollectionEntry& entry : def.collection_def())
    if (entry.key() == collection)
      for (const std::string& message : entry.value().bytes_list().value())
        variables.push_back(read_variable(message));
  return variables;
}

/// Writes the messages of the collections.
class CollectionMessages {
 public:
  explicit CollectionMessages(const Graph& graph) : graph_(graph) {
    for (const Node& node : graph.nodes())
      if (node.type() == "ReadVariableOp") reads_.emplace(node.inputs[0].node, node.id);
    for (const Initializer& initializer : initializers(graph))
      initializers_.emplace(initializer.variable.node, initializer);
  }

  MetaGraph::Bytes of_variables(const std::vector<Output>& variables, bool trainable) const {
    MetaGraph::Bytes messages;
    for (const Output& variable : variables)
      if (auto message = of_variable(variable, trainable)) messages.values.push_back(std::move(*message));
    return messages;
  }

  MetaGraph::Bytes of_queue_runners() const {
    MetaGraph::Bytes messages;
    for (const QueueRunner& runner : queue_runners(graph_)) messages.values.push_back(of_runner(runner));
    return messages;
  }

 private:
  std::optional<std::string> of_variable(Output variable, bool trainable) const {
    const bool is_resource = graph_.dtype(variable) == DType::Resource;
    const auto initializer = initializers_.find(variable.node);
    const auto read = reads_.find(variable.node);
    if (initializer == initializers_.end() || (is_resource && read == reads_.end())) return std::nullopt;
    const Output snapshot = is_resource ? Output{read->second, 0} : variable;
    std::string message;
    protobuf::append_bytes_field(message, variable_def::variable, graph_.name_of(variable));
    protobuf::append_bytes_field(message, variable_def::initializer,
                                 graph_.node(initializer->second.node).name);
    protobuf::append_bytes_field(message, variable_def::snapshot, graph_.name_of(snapshot));
    const PartialShape& shape = graph_.shape(variable);
    const auto slice = row_slice_of(graph_.node(variable.node));
    if (slice && slice->stride == 1 && shape.fully_known())
      protobuf::append_bytes_field(message, variable_def::slice, slice_message(*slice, shape));
    protobuf::append_varint_field(message, variable_def::is_resource, is_resource);
    protobuf::append_bytes_field(message, variable_def::initial_value,
                                 graph_.name_of(initializer->second.value));
    protobuf::append_varint_field(message, variable_def::trainable, trainable);
    return message;
  }

  std::string of_runner(const QueueRunner& runner) const {
    std::string message;
    if (const auto queue = queue_of(runner)) append(message, queue_runner_def::queue, *queue);
    for (const Output& target : runner.enqueue) append(message, queue_runner_def::enqueue, target);
    if (runner.close) append(message, queue_runner_def::close, *runner.close);
    if (runner.cancel) append(message, queue_runner_def::cancel, *runner.cancel);
    for (const Code code : runner.ends)
      protobuf::append_varint_field(message, queue_runner_def::ends, static_cast<uint64_t>(code));
    return message;
  }

  void append(std::string& message, uint32_t field, Output target) const {
    protobuf::append_bytes_field(message, field, graph_.node(target.node).name);
  }

  /// Returns the queue that the runner closes, or that its first target fills, if that says which one it is.
  std::optional<Output> queue_of(const QueueRunner& runner) const {
    if (!runner.close && runner.enqueue.empty()) return std::nullopt;
    const Node& node = graph_.node((runner.close ? *runner.close : runner.enqueue[0]).node);
    return node.inputs.empty() ? std::nullopt : std::optional(node.inputs[0]);
  }

  const Graph& graph_;
  // By variable:
  std::map<NodeId, Initializer> initializers_;
  std::map<NodeId, NodeId> reads_;
};

}  // namespace

void note_variables(MetaGraphDef& def) {
  Nodes nodes(*def.mutable_graph_def());
  for (const NamedVariable& named : variables_in(def, "trainable_variables"))
    nodes.note(named.variable, trainable_attr, true);
  for (const NamedVariable& named : variables_in(def, "local_variables"))
    nodes.note(named.variable, local_attr, true);
  for (const char* collection : {"variables", "local_variables"})
    for (const NamedVariable& named : variables_in(def, collection)) {
      nodes.note(named.variable, trainable_attr, false);
      nodes.note(named.initializer, initializer_attr, true);
      if (named.slice) nodes.note(named, *named.slice);
    }
}

std::map<std::string, MetaGraph::Collection> collections_of(const Graph& graph) {
  const CollectionMessages messages(graph);
  const std::vector<Output> trainable = trainable_variables(graph);
  std::vector<Output> fixed = variables(graph);
  std::erase_if(fixed, [&](const Output& variable) { return std::ranges::count(trainable, variable) != 0; });
  std::map<std::string, MetaGraph::Collection> collections;
  const auto add = [&](const char* name, MetaGraph::Bytes values) {
    if (!values.values.empty()) collections[name] = std::move(values);
  };
  MetaGraph::Bytes all = messages.of_variables(trainable, true);
  add("trainable_variables", all);
  std::ranges::move(messages.of_variables(fixed, false).values, std::back_inserter(all.values));
  add("variables", std::move(all));
  add("local_variables", messages.of_variables(local_variables(graph), false));
  add("queue_runners", messages.of_queue_runners());
  return collections;
}

}  // namespace troupe::interop
