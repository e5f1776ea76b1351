#include "apps/inference/model_tables.h"

#include <algorithm>

#include "apps/inference/model_function.h"
#include "apps/inference/saved_names.h"
#include "graph/build/needed_part.h"
#include "kernels/tables/table_ops.h"
#include "messages/tensor_files/bundle.h"

namespace troupe::inference {
namespace {

/// Returns whether a node yields the handle of a table that needs nothing else. Dense tables need keys of their own.
bool makes_table(const Node& node) {
  return node.type().starts_with("HashTable") || node.type().starts_with("MutableHashTable");
}

/// Fills the tables of a model. One per model.
class TableReader {
 public:
  TableReader(Disk& disk, const ModelSource& source, const OpLibrary& library, Device& device,
              StateTable& state)
      : disk_(disk), source_(source), graph_(source.meta.graph), library_(library), device_(device),
        state_(state), tables_(device) {}

  Result<ModelTables> read() && {
    TROUPE_RETURN_IF_FAILED(add_needed());
    if (tables_.empty()) return std::move(tables_);
    if (const Node* const start = graph_.find(source_.meta.init_op))
      TROUPE_RETURN_IF_FAILED(fill_by_nodes_of(*start));
    if (const Node* const restore =
            source_.meta.saver ? graph_.find(source_.meta.saver->restore_node) : nullptr)
      TROUPE_RETURN_IF_FAILED(fill_by_nodes_of(*restore));
    TROUPE_RETURN_IF_FAILED(tables_.complete());
    return std::move(tables_);
  }

 private:
  Status add_needed() {
    for (const auto& [name, signature] : source_.meta.signatures) {
      TROUPE_ASSIGN(const auto needed, needed_nodes(graph_, signature));
      for (const NodeId id : needed) {
        const Node& node = graph_.node(id);
        if (!makes_table(node)) continue;
        TROUPE_ASSIGN(const auto cell, state_.require("", node));
        TROUPE_RETURN_IF_FAILED(tables_.add(node, cell->name()));
      }
    }
    return {};
  }

  /// Carries out the nodes that fill tables, of those that a target needs.
  Status fill_by_nodes_of(const Node& target) {
    const std::vector<bool> needed = nodes_needed(graph_, {{target.id, Output::control}});
    for (const Node& node : graph_.nodes())
      if (needed[node.id] && node.type() == "AssignVariableOp")
        assigned_.emplace(node.inputs[0].node, node.inputs[1]);
    for (const Node& node : graph_.nodes()) {
      const auto op = table_op(node.type());
      if (!needed[node.id] || !op || node.inputs.empty()) continue;
      const Node& handle = graph_.node(source_of(graph_, node.inputs[0]).node);
      TableContents* const table = makes_table(handle) ? tables_.find(state_name(handle)) : nullptr;
      if (!table) continue;
      Status status = fill(*table, *op, node);
      if (!status.ok() && status.node().empty()) return std::move(status).at_node(node.type(), node.name);
      TROUPE_RETURN_IF_FAILED(std::move(status));
    }
    return {};
  }

  Status fill(TableContents& table, TableOp op, const Node& node) {
    if (op == TableOp::InitializeFromFile) {
      TROUPE_ASSIGN(const Tensor path, value(node.inputs[1]));
      TROUPE_ASSIGN(const VocabularyFile file, vocabulary_file(node, path));
      TROUPE_RETURN_IF_FAILED(check_is_asset(source_.model, file.path));
      TROUPE_ASSIGN(const auto rows, read_vocabulary(disk_, file, table.spec().key, table.spec().value));
      return table.initialize(rows.first, rows.second);
    }
    if (op != TableOp::Initialize && op != TableOp::Import) return {};
    TROUPE_ASSIGN(const Tensor keys, value(node.inputs[1]));
    TROUPE_ASSIGN(const Tensor values, value(node.inputs[2]));
    return op == TableOp::Initialize ? table.initialize(keys, values) : table.insert(keys, values, true);
  }

  /// Returns the output that Identity nodes pass on, and variables to which the graph has assigned it: TensorFlow keeps the paths
  /// of assets in variables.
  Output origin_of(Output output) const {
    for (size_t i = 0; i <= assigned_.size(); ++i) {
      output = source_of(graph_, output);
      const Node& node = graph_.node(output.node);
      if (node.type() != "ReadVariableOp") break;
      const auto assigned = assigned_.find(source_of(graph_, node.inputs[0]).node);
      if (assigned == assigned_.end()) break;
      output = assigned->second;
    }
    return output;
  }

  /// Returns a tensor that the graph restores from the values of the model, or computes from the paths of its assets.
  Result<Tensor> value(Output output) {
    const Output source = origin_of(output);
    const Node& node = graph_.node(source.node);
    if (node.type() == "RestoreV2") {
      TROUPE_ASSIGN(const Bundle bundle, Bundle::open(disk_, source_.model + '/' + variables_prefix));
      return bundle.read(text_at(graph_, node.inputs[1], source.index));
    }
    std::vector<Output> assets;
    std::vector<Tensor> paths;
    for (const auto& [file, tensor] : source_.meta.assets) {
      assets.push_back(tensor);
      paths.push_back(Tensor::scalar<std::string>(source_.model + '/' + assets_folder + '/' + file));
    }
    TROUPE_ASSIGN(const auto function,
                  ModelFunction::make(graph_, assets, {source}, library_, device_, state_, tables_, 0));
    TROUPE_ASSIGN(const auto values, function.run(paths, nullptr));
    return values[0];
  }

  Disk& disk_;
  const ModelSource& source_;
  const Graph& graph_;
  const OpLibrary& library_;
  Device& device_;
  StateTable& state_;
  ModelTables tables_;
  std::map<NodeId, Output> assigned_;  ///< by the nodes of variables
};

}  // namespace

Status ModelTables::add(const Node& handle, const std::string& name) {
  if (tables_.contains(name)) return {};
  TROUPE_ASSIGN(TableSpec spec, table_spec(handle));
  tables_.emplace(name, std::make_unique<TableContents>(std::move(spec), device_));
  return {};
}

TableContents* ModelTables::find(const std::string& name) const {
  const auto found = tables_.find(name);
  return found == tables_.end() ? nullptr : found->second.get();
}

Status ModelTables::complete() {
  for (const auto& [name, table] : tables_)
    if (table->spec().kind != TableKind::Constant) TROUPE_RETURN_IF_FAILED(table->open());
  return {};
}

bool ModelTables::carries_out(const Node& node) {
  const auto op = table_op(node.type());
  return op == TableOp::Find || op == TableOp::Size;
}

StepReply ModelTables::answer(const StepRequest& request) const {
  auto outputs = outputs_of(request);
  if (!outputs) return {outputs.status(), {}, false};
  return {{}, std::move(*outputs), false};
}

Result<std::vector<Tensor>> ModelTables::outputs_of(const StepRequest& request) const {
  const Slot& handle = request.inputs[0];
  TableContents* const table = handle.kind == Slot::Kind::Handle ? find(handle.cell->name()) : nullptr;
  if (!table) return internal("the table of this node has not been loaded");
  if (table_op(request.node.type()) == TableOp::Size) return std::vector{Tensor::scalar(table->size())};
  TROUPE_RETURN_IF_FAILED(check_output_types(request.node, {table->spec().value}, table->spec()));
  TROUPE_ASSIGN(Tensor values, table->find(request.inputs[1].tensor, request.inputs[2].tensor));
  return std::vector{std::move(values)};
}

Result<ModelTables> read_tables(Disk& disk, const ModelSource& source, const OpLibrary& library,
                                Device& device, StateTable& state) {
  return TableReader(disk, source, library, device, state).read();
}

}  // namespace troupe::inference
