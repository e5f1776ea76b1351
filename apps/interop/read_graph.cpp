#include "apps/interop/read_graph.h"

#include <google/protobuf/arena.h>
#include <set>

#include "apps/interop/collections.h"
#include "apps/interop/functions/calls.h"
#include "apps/interop/functions/recursion.h"
#include "apps/interop/parse.h"
#include "apps/interop/unknown_ops.h"

namespace troupe::interop {
namespace {

/// Owns a message and the arena with the memory of all its parts.
template <class Message>
class Parsed {
 public:
  Status parse(std::string_view bytes, const GraphLimits& limits) {
    return interop::parse(bytes, limits, *message_);
  }
  Message& operator*() { return *message_; }

 private:
  google::protobuf::Arena arena_;
  Message* message_ = google::protobuf::Arena::CreateMessage<Message>(&arena_);
};

Status check_versions(const VersionDef& versions) {
  const auto number = [](int version) { return std::to_string(version); };
  if (versions.producer() < 0)
    return invalid_argument("versions.producer is " + number(versions.producer()) + "; expected 0 or more");
  if (versions.min_consumer() > consumer_version)
    return invalid_argument("the graph needs a reader of at least version " +
                            number(versions.min_consumer()) + "; Troupe reads version " +
                            number(consumer_version));
  for (const int bad : versions.bad_consumers())
    if (bad == consumer_version)
      return invalid_argument("the graph must not be read by version " + number(consumer_version) +
                              " (versions.bad_consumers), which is the version that Troupe reads");
  return {};
}

/// Up to this version TensorFlow wrote a Placeholder of unknown shape as one of shape [].
constexpr int last_producer_without_unknown_shape = 21;

void make_scalar_shapes_unknown(google::protobuf::RepeatedPtrField<NodeDef>& nodes) {
  for (NodeDef& node : nodes) {
    if (node.op() != "Placeholder") continue;
    for (AttrEntry& attr : *node.mutable_attr())
      if (attr.key() == "shape" && attr.value().has_shape() && attr.value().shape().dim_size() == 0)
        attr.mutable_value()->mutable_shape()->set_unknown_rank(true);
  }
}

/// Translates, in place, a graph of an older version to the current one.
void translate_from_version(GraphDef& def) {
  if (def.versions().producer() > last_producer_without_unknown_shape) return;
  make_scalar_shapes_unknown(*def.mutable_node());
  for (FunctionDef& function : *def.mutable_library()->mutable_function())
    make_scalar_shapes_unknown(*function.mutable_node_def());
}

uint64_t count_nodes(const GraphDef& def) {
  auto nodes = static_cast<uint64_t>(def.node_size());
  for (const FunctionDef& function : def.library().function())
    nodes += static_cast<uint64_t>(function.node_def_size());
  return nodes;
}

Result<Graph> build(GraphDef& def, std::shared_ptr<const OpTable> ops, const GraphLimits& limits) {
  TROUPE_RETURN_IF_FAILED(check_versions(def.versions()));
  translate_from_version(def);
  if (count_nodes(def) > limits.nodes) return limit_exceeded("nodes", limits.nodes);
  TROUPE_ASSIGN(const FunctionLibrary library, FunctionLibrary::make(def.library()));
  TROUPE_ASSIGN(const Body body, Body::make(def.node()));
  Graph graph(std::move(ops));
  graph.reserve(body.size());
  const std::vector<bool> absent = find_absent(body, library, graph);
  CalledFunctions called(find_recursive(def.node(), def.library(), library));
  Importer importer(graph, library, called, limits);
  TROUPE_RETURN_IF_FAILED(importer.place(body, {}, absent).status());
  TROUPE_RETURN_IF_FAILED(build_called_functions(importer));
  return graph;
}

/// Adds to an error of the parser the last node that was read completely, near which the error is.
Status at_last_node(const Status& status, const GraphDef& def) {
  int last = def.node_size() - 1;
  if (last >= 0 && def.node(last).op().empty()) --last;
  if (last < 0) return status;
  return {status.code(), status.text() + "; in or after node '" + def.node(last).name() + '\''};
}

MetaGraph::Collection read_collection(const CollectionDef& def) {
  const auto copy = [](const auto& values) { return std::vector(values.begin(), values.end()); };
  switch (def.kind_case()) {
    case CollectionDef::kBytesList: return MetaGraph::Bytes{copy(def.bytes_list().value())};
    case CollectionDef::kInt64List: {
      const auto& values = def.int64_list().value();
      return std::vector<int64_t>(values.begin(), values.end());
    }
    case CollectionDef::kFloatList: return copy(def.float_list().value());
    case CollectionDef::kAnyList: {
      std::vector<MetaGraph::Any> values;
      for (const Any& any : def.any_list().value()) values.push_back({any.type_url(), any.value()});
      return values;
    }
    default: return copy(def.node_list().value());
  }
}

Saver read_saver(const SaverDef& def) {
  return {def.filename_tensor_name(),
          def.save_tensor_name(),
          def.restore_op_name(),
          def.max_to_keep(),
          def.sharded(),
          def.keep_checkpoint_every_n_hours(),
          def.version()};
}

std::string text_of(const std::set<std::string>& tags) {
  std::string text;
  for (const std::string& tag : tags) text += (text.empty() ? "" : " and ") + ('\'' + tag + '\'');
  return text.empty() ? "no tag" : text;
}

/// Fails if the graph lacks one of the tensors, and says why.
Result<std::map<std::string, Output>> find_tensors(
    const Graph& graph, const char* kind, const google::protobuf::RepeatedPtrField<TensorInfoEntry>& list) {
  std::map<std::string, Output> tensors;
  for (const TensorInfoEntry& entry : list) {
    const std::string what = std::string("its ") + kind + " '" + entry.key() + "' ";
    if (entry.value().name().empty())
      return unimplemented(
          what +
          "is no tensor, but a sparse or ragged one, or another composite, which no signature may have");
    const auto output = graph.find_output(entry.value().name());
    if (!output)
      return Status(output.status().code(), what + "cannot be computed: " + output.status().text());
    tensors.emplace(entry.key(), *output);
  }
  return tensors;
}

/// Returns the name of the node that runs when a saved model has been loaded; empty if there is none. TensorFlow 2 names it by a
/// signature, TensorFlow 1 by a collection.
std::string init_op_of(const MetaGraphDef& def, const MetaGraph& meta) {
  std::string name;
  for (const SignatureEntry& entry : def.signature_def())
    if (entry.key() == init_op_signature && entry.value().outputs_size() == 1)
      name = entry.value().outputs(0).value().name();
  for (const char* const collection : {init_op_collection, "legacy_init_op"})
    if (const auto found = meta.collections.find(collection); name.empty() && found != meta.collections.end())
      if (const auto* const names = std::get_if<std::vector<std::string>>(&found->second);
          names && names->size() == 1)
        name = names->front();
  name = name.substr(0, name.find(':'));
  return meta.graph.find(name) ? name : std::string();
}

Result<MetaGraph> read_meta_graph(MetaGraphDef& def, std::shared_ptr<const OpTable> ops,
                                  const GraphLimits& limits) {
  note_variables(def);
  TROUPE_ASSIGN(Graph graph, build(*def.mutable_graph_def(), std::move(ops), limits));
  const auto& info = def.meta_info_def();
  MetaGraph result{
      std::move(graph), {info.tags().begin(), info.tags().end()}, info.tensorflow_version(), {}, {}};
  if (def.has_saver_def() && !result.graph.absent().contains(def.saver_def().restore_op_name()))
    result.saver = read_saver(def.saver_def());
  for (const CollectionEntry& entry : def.collection_def())
    result.collections[entry.key()] = read_collection(entry.value());
  for (const SignatureEntry& entry : def.signature_def()) {
    auto inputs = find_tensors(result.graph, "input", entry.value().inputs());
    auto outputs = find_tensors(result.graph, "output", entry.value().outputs());
    if (inputs && outputs)
      result.signatures[entry.key()] = {entry.value().method_name(), std::move(*inputs), std::move(*outputs)};
    else if (entry.key() != init_op_signature)
      result.absent_signatures[entry.key()] = inputs ? outputs.status() : inputs.status();
  }
  result.init_op = init_op_of(def, result);
  for (const AssetFileDef& asset : def.asset_file_def())
    if (const auto tensor = result.graph.find_output(asset.tensor_info().name()))
      result.assets.emplace(asset.filename(), *tensor);
  return result;
}

}  // namespace

Result<Graph> read_graph_def(std::string_view bytes, std::shared_ptr<const OpTable> ops,
                             const GraphLimits& limits) {
  Parsed<GraphDef> def;
  if (Status status = def.parse(bytes, limits); !status.ok()) return at_last_node(status, *def);
  return build(*def, std::move(ops), limits);
}

Result<MetaGraph> read_meta_graph(std::string_view bytes, std::shared_ptr<const OpTable> ops,
                                  const GraphLimits& limits) {
  Parsed<MetaGraphDef> def;
  if (Status status = def.parse(bytes, limits); !status.ok()) return at_last_node(status, (*def).graph_def());
  return read_meta_graph(*def, std::move(ops), limits);
}

Result<MetaGraph> read_saved_model(std::string_view bytes, const std::vector<std::string>& tags,
                                   std::shared_ptr<const OpTable> ops, const GraphLimits& limits) {
  Parsed<SavedModel> model;
  if (Status status = model.parse(bytes, limits); !status.ok())
    return status.code() == Code::InvalidArgument ? data_loss(status.text()) : status;
  const std::set<std::string> wanted(tags.begin(), tags.end());
  std::string known;
  for (MetaGraphDef& def : *(*model).mutable_meta_graphs()) {
    const auto& info = def.meta_info_def();
    const std::set<std::string> has(info.tags().begin(), info.tags().end());
    if (has == wanted) return read_meta_graph(def, std::move(ops), limits);
    known += (known.empty() ? "" : ", ") + text_of(has);
  }
  return not_found("the saved model has no graph with " + text_of(wanted) +
                   (known.empty() ? "; it has no graph at all" : "; there are graphs with " + known));
}

std::string advice_on_export(const std::string& file) {
  const std::string saved = "`troupe export RUN FOLDER` writes a saved model, which is read";
  if (file.ends_with(".onnx")) return "; Troupe writes files of ONNX, but reads none: " + saved;
  if (file.ends_with(".safetensors"))
    return "; a file of safetensors has the weights of a model without its graph: " + saved +
           ", and model.init_from of a run file takes the weights for another training";
  return {};
}

Result<MetaGraph> read_graph_file(Disk& disk, const std::string& file, std::shared_ptr<const OpTable> ops) {
  constexpr uint64_t max_bytes = uint64_t{1} << 32;
  TROUPE_ASSIGN(const std::string bytes, read_file(disk, file, max_bytes));
  if (const std::string advice = advice_on_export(file); !advice.empty())
    return invalid_argument(file + " is not a GraphDef" + advice);
  if (file.ends_with(".meta")) return read_meta_graph(bytes, std::move(ops));
  TROUPE_ASSIGN(Graph graph, read_graph_def(bytes, std::move(ops)));
  return MetaGraph{
      .graph = std::move(graph), .tags = {}, .tensorflow_version = {}, .saver = {}, .collections = {}};
}

}  // namespace troupe::interop
