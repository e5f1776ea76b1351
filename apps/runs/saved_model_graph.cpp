#include "apps/runs/saved_model_graph.h"

#include <algorithm>

#include "apps/inference/model_source.h"
#include "apps/inference/saved_names.h"
#include "apps/nn/saver.h"
#include "graph/build/needed_part.h"
#include "graph/build/row_slice.h"
#include "kernels/constructors.h"
#include "kernels/core/state.h"
#include "kernels/tables/table_ops.h"

namespace troupe::runs {
namespace {

/// Adds the nodes that save and restore variables, of which there must be one. `roots` receives those that need the others.
interop::Saver add_saver(const Scope& root, const std::vector<Output>& variables,
                         std::vector<Output>& roots) {
  const Scope scope = root.with_prefix("save");
  const Output prefix = placeholder_with_default(
      scope.with_name("Const"), scope.constant(Tensor::scalar<std::string>("model")), PartialShape::scalar());
  const Output saved = nn::save_variables(root, prefix, variables);
  const Output done = identity(scope.with_control({saved}).with_name("control_dependency"), prefix);
  const Output restored = nn::restore_variables(root, prefix, variables);
  roots.push_back(done);
  roots.push_back(restored);
  constexpr int format_v2 = 2;
  return {.filename_tensor = root.graph().name_of(prefix),
          .save_tensor = root.graph().name_of(done),
          .restore_node = root.graph().node(restored.node).name,
          .max_to_keep = 5,
          .sharded = false,
          .keep_every_n_hours = 10000,
          .format = format_v2};
}

/// Returns, for each node, whether it yields the handle of a table that init_op fills.
std::vector<bool> filled_tables(const interop::MetaGraph& model) {
  std::vector<bool> filled(model.graph.size());
  const Node* const start = model.graph.find(model.init_op);
  if (!start) return filled;
  const std::vector<bool> needed = nodes_needed(model.graph, {{start->id, Output::control}});
  for (const Node& node : model.graph.nodes()) {
    const auto op = table_op(node.type());
    const bool fills =
        op == TableOp::Initialize || op == TableOp::InitializeFromFile || op == TableOp::Import;
    if (fills && needed[node.id]) filled[inference::source_of(model.graph, node.inputs[0]).node] = true;
  }
  return filled;
}

/// Collects the variables that signatures need, and checks that an exported model can compute them. One per model.
class NeededVariables {
 public:
  explicit NeededVariables(const interop::MetaGraph& model)
      : graph_(model.graph), filled_(filled_tables(model)) {}

  void add(const std::string& name, const interop::Signature& signature) {
    if (signature.outputs.empty())
      throw Error(invalid_argument("the signature '" + name + "' has no outputs"));
    check(name, "input", signature.inputs);
    check(name, "output", signature.outputs);
    for (const NodeId id : value_or_throw(inference::needed_nodes(graph_, signature))) {
      const Node& node = graph_.node(id);
      check_can_be_exported(name, node);
      if (is_variable(node)) add({id, 0});
    }
  }
  const std::vector<Output>& variables() const { return variables_; }

 private:
  void add(Output variable) {
    if (std::ranges::find(variables_, variable) == variables_.end()) variables_.push_back(variable);
  }

  void check(const std::string& name, const std::string& kind,
             const std::map<std::string, Output>& tensors) const {
    for (const auto& [tensor_name, output] : tensors)
      if (const Status status = graph_.check_tensor(output); !status.ok()) {
        std::string text = "the " + kind;
        text.append(" '").append(tensor_name).append("' of the signature '").append(name).append("' ");
        throw Error(Status(status.code(), text.append(status.text())));
      }
  }

  void check_can_be_exported(const std::string& signature, const Node& node) const {
    if (node.type() == "Placeholder" || node.type() == "PlaceholderV2")
      throw Error(invalid_argument("the outputs of the signature '" + signature +
                                   "' need this placeholder, which is none of its inputs")
                      .at_node(node.type(), node.name));
    if (node.type() == "PyFunc" || node.type() == "PyFuncStateless")
      throw Error(
          unimplemented("a function of this process cannot be exported").at_node(node.type(), node.name));
    const bool yields_handle = !node.output_types.empty() &&
                               (node.output_types[0].dtype == DType::Resource || node.output_types[0].is_ref);
    const bool makes_handle =
        yields_handle && (node.inputs.empty() || table_op(node.type()) == TableOp::Make);
    if (makes_handle && !is_variable(node) && !filled_[node.id])
      throw Error(unimplemented("state that is no variable cannot be exported, unless it is a table that the "
                                "model fills when it is loaded")
                      .at_node(node.type(), node.name));
  }

  const Graph& graph_;
  const std::vector<bool> filled_;
  std::vector<Output> variables_;
};

/// Adds what fills the tables that `roots` need to them, or leaves init_op and assets if there are none.
void keep_start(interop::MetaGraph& model, std::vector<Output>& roots) {
  const std::vector<bool> filled = filled_tables(model), needed = nodes_needed(model.graph, roots);
  bool is_needed = false;
  for (size_t node = 0; node < filled.size(); ++node) is_needed |= filled[node] && needed[node];
  if (!is_needed) {
    model.init_op.clear();
    model.assets.clear();
    return;
  }
  roots.push_back({model.graph.find(model.init_op)->id, Output::control});
  for (const auto& [file, tensor] : model.assets) roots.push_back(tensor);
}

}  // namespace

interop::MetaGraph saved_model_graph(interop::MetaGraph model, const std::vector<Output>& variables,
                                     const std::vector<Output>& kept) {
  model.tags = {"serve"};
  model.tensorflow_version = "1.15.0";
  model.collections.clear();
  model.saver.reset();
  std::vector<Output> roots = kept;
  for (const auto& [name, signature] : model.signatures)
    for (const auto* const tensors : {&signature.inputs, &signature.outputs})
      for (const auto& [tensor_name, output] : *tensors) roots.push_back(output);
  keep_start(model, roots);
  if (!variables.empty()) model.saver = add_saver(Scope(model.graph), variables, roots);
  NeededPart part(model.graph, roots);
  for (auto& [name, signature] : model.signatures)
    for (auto* const tensors : {&signature.inputs, &signature.outputs})
      for (auto& [tensor_name, output] : *tensors) output = part.moved(output);
  for (auto& [file, tensor] : model.assets) tensor = part.moved(tensor);
  model.graph = std::move(part).graph();
  return model;
}

std::vector<Output> variables_to_export(const interop::MetaGraph& model) {
  NeededVariables needed(model);
  for (const auto& [name, signature] : model.signatures) needed.add(name, signature);
  return needed.variables();
}

Graph without_parts(const Graph& graph) {
  Graph copy = graph.empty();
  copy.reserve(graph.size());
  for (Node node : graph.nodes()) {
    if (is_variable(node)) {
      node.attrs.erase(slice_of_attr);
      node.attrs.erase(slice_attr);
    }
    copy.append(std::move(node));
  }
  return copy;
}

}  // namespace troupe::runs
