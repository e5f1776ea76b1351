#include "apps/onnx/to_onnx.h"

#include <algorithm>
#include <set>

#include "apps/onnx/conversion.h"
#include "graph/passes/subgraph.h"
#include "kernels/core/state.h"
#include "kernels/runtime/simplify_step.h"

namespace troupe::onnx {
namespace {

Rules all_rules() {
  Rules rules;
  add_math_rules(rules);
  add_array_rules(rules);
  add_image_rules(rules);
  add_segment_rules(rules);
  return rules;
}

/// The inputs and outputs of a signature, by position.
struct Ends {
  std::vector<std::string> inputs, outputs;               ///< their names
  std::vector<std::pair<std::string, Output>> passed_on;  ///< outputs that are inputs, which are not fetched
  RunSignature signature;

  std::set<std::string> names() const {
    std::set<std::string> all(inputs.begin(), inputs.end());
    all.insert(outputs.begin(), outputs.end());
    for (const auto& [name, output] : passed_on) all.insert(name);
    return all;
  }
};

Ends ends_of(const interop::Signature& signature) {
  Ends ends;
  for (const auto& [name, output] : signature.inputs) {
    ends.inputs.push_back(name);
    ends.signature.feeds.push_back(output);
  }
  for (const auto& [given, output] : signature.outputs) {
    std::string name = given;
    while (signature.inputs.contains(name) || (name != given && signature.outputs.contains(name)))
      name += "_output";
    if (std::ranges::count(ends.signature.feeds, output) != 0) {
      ends.passed_on.emplace_back(name, output);
      continue;
    }
    ends.outputs.push_back(name);
    ends.signature.fetches.push_back(output);
  }
  return ends;
}

const Rules& rules() {
  static const Rules rules = all_rules();
  return rules;
}

/// Returns whether a node can be converted once its inputs are. The ops of loops cannot, so the inputs of others end.
bool can_convert(const Node& node) {
  return node.type() == "_Arg" || node.type() == "_Retval" || node.type() == "Const" || is_variable(node) ||
         rules().contains(node.type());
}

Status convert(Conversion& to, const Node& node, const Ends& ends,
               const std::map<std::string, Tensor>& values) {
  if (node.type() == "_Arg") {
    const auto& name = ends.inputs[static_cast<size_t>(node.attrs.get<int64_t>("index"))];
    to.set(node, 0, name);
    return to.model().add_input(name, node.output_types[0].dtype, node.output_shapes[0]);
  }
  if (node.type() == "_Retval") {
    const auto& name = ends.outputs[static_cast<size_t>(node.attrs.get<int64_t>("index"))];
    to.model().add_node("Identity", to.inputs(node), std::vector{name});
    return to.model().add_output(name, to.dtype(node, 0), to.shape(node, 0));
  }
  if (is_variable(node)) {
    to.set_constant(node, node.name, values.at(state_name(node)));
    return {};
  }
  if (node.type() == "Const") {
    to.set_constant(node, "const/" + node.name, node.attrs.get<Tensor>("value"));
    return {};
  }
  return rules().at(node.type())(to, node);
}

}  // namespace

Result<std::string> to_onnx(const interop::MetaGraph& model, const interop::Signature& signature,
                            const std::map<std::string, Tensor>& values, const OpLibrary& library) {
  const Ends ends = ends_of(signature);
  TROUPE_ASSIGN(Subgraph subgraph, cut_subgraph(model.graph, ends.signature));
  TROUPE_RETURN_IF_FAILED(simplify_step(subgraph, library));
  OnnxModel onnx("troupe");
  Conversion conversion(subgraph.graph, onnx, ends.names());
  std::vector<bool> converted(subgraph.graph.size());
  std::set<size_t> used_inputs;
  std::vector<NodeId> next;  // each node stays here until its inputs have been converted
  for (const NodeId root : subgraph.roots) next.push_back(root);
  while (!next.empty()) {
    const Node& node = subgraph.graph.node(next.back());
    if (!can_convert(node))
      return unimplemented("there is no rule that exports this op to ONNX").at_node(node.type(), node.name);
    const size_t before = next.size();
    for (const Output& input : node.inputs)
      if (!converted[input.node]) next.push_back(input.node);
    if (next.size() != before) continue;
    next.pop_back();
    if (converted[node.id]) continue;
    converted[node.id] = true;
    if (node.type() == "_Arg") used_inputs.insert(static_cast<size_t>(node.attrs.get<int64_t>("index")));
    if (Status status = convert(conversion, node, ends, values); !status.ok())
      return std::move(status).at_node(node.type(), node.name);
  }
  for (const auto& [name, output] : ends.passed_on) {
    const auto at =
        static_cast<size_t>(std::ranges::find(ends.signature.feeds, output) - ends.signature.feeds.begin());
    const DType dtype = model.graph.dtype(output);
    const PartialShape& shape = model.graph.shape(output);
    if (used_inputs.insert(at).second) TROUPE_RETURN_IF_FAILED(onnx.add_input(ends.inputs[at], dtype, shape));
    onnx.add_node("Identity", std::vector{ends.inputs[at]}, std::vector{name});
    TROUPE_RETURN_IF_FAILED(onnx.add_output(name, dtype, shape));
  }
  TROUPE_RETURN_IF_FAILED(conversion.status());
  return onnx.bytes();
}

}  // namespace troupe::onnx
