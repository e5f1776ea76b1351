#include "apps/runs/saved_model_graph.h"

#include <algorithm>

#include "apps/inference/model_source.h"
#include "apps/nn/saver.h"
#include "graph/build/needed_part.h"
#include "graph/build/row_slice.h"
#include "kernels/constructors.h"
#include "kernels/core/state.h"

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

/// Collects the variables that signatures need, and checks that an exported model can compute them. One per model.
class NeededVariables {
 public:
  explicit NeededVariables(const Graph& graph) : graph_(graph) {}

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
        throw Error(Status(status.code(), text.append(status.message())));
      }
  }

  static void check_can_be_exported(const std::string& signature, const Node& node) {
    if (node.type() == "Placeholder" || node.type() == "PlaceholderV2")
      throw Error(invalid_argument("the outputs of the signature '" + signature +
                                   "' need this placeholder, which is none of its inputs")
                      .at_node(node.type(), node.name));
    if (node.type() == "PyFunc" || node.type() == "PyFuncStateless")
      throw Error(
          unimplemented("a function of this process cannot be exported").at_node(node.type(), node.name));
    const bool makes_handle = node.inputs.empty() && !node.output_types.empty() &&
                              (node.output_types[0].dtype == DType::Resource || node.output_types[0].is_ref);
    if (makes_handle && !is_variable(node))
      throw Error(
          unimplemented("state that is no variable cannot be exported").at_node(node.type(), node.name));
  }

  const Graph& graph_;
  std::vector<Output> variables_;
};

}  // namespace

interop::MetaGraph saved_model_graph(Graph graph, std::map<std::string, interop::Signature> signatures,
                                     const std::vector<Output>& variables, const std::vector<Output>& kept) {
  interop::MetaGraph meta{.graph = Graph(graph.ops()),
                          .tags = {"serve"},
                          .tensorflow_version = "1.15.0",
                          .saver = {},
                          .collections = {},
                          .signatures = std::move(signatures)};
  std::vector<Output> roots = kept;
  if (!variables.empty()) meta.saver = add_saver(Scope(graph), variables, roots);
  for (const auto& [name, signature] : meta.signatures)
    for (const auto* const tensors : {&signature.inputs, &signature.outputs})
      for (const auto& [tensor_name, output] : *tensors) roots.push_back(output);
  NeededPart part(graph, roots);
  for (auto& [name, signature] : meta.signatures)
    for (auto* const tensors : {&signature.inputs, &signature.outputs})
      for (auto& [tensor_name, output] : *tensors) output = part.moved(output);
  meta.graph = std::move(part).graph();
  return meta;
}

std::vector<Output> variables_to_export(const Graph& graph,
                                        const std::map<std::string, interop::Signature>& signatures) {
  NeededVariables needed(graph);
  for (const auto& [name, signature] : signatures) needed.add(name, signature);
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
