#include "apps/runs/predictions.h"

#include <algorithm>

#include "graph/build/frames.h"
#include "graph/build/needed_part.h"
#include "kernels/constructors.h"

namespace troupe::runs {
namespace {

/// For each node of a graph, whether it is one of a set.
using Marks = std::vector<bool>;

/// Marks the nodes that depend on the given outputs, directly or through others.
Marks dependents(const Graph& graph, const std::vector<Output>& of) {
  Marks marks(graph.size());
  for (const Output& output : of) marks[output.node] = true;
  for (bool changed = true; changed;) {  // once more for each loop of the graph that is entered from its end
    changed = false;
    for (const Node& node : graph.nodes()) {
      if (marks[node.id] ||
          std::ranges::none_of(node.inputs, [&](const Output& input) { return marks[input.node]; }))
        continue;
      marks[node.id] = changed = true;
    }
  }
  return marks;
}

/// Returns the tensor from which this one differs only in shape.
Output before_reshapes(const Graph& graph, Output output) {
  const auto passes = [&] {
    const std::string& type = graph.node(output.node).type();
    return type == "Reshape" || type == "Identity";
  };
  while (passes()) output = graph.node(output.node).inputs[0];
  return output;
}

struct Compared {
  Output tensor;
  bool are_logits = false;  ///< a softmax cross-entropy compares it
};

/// Returns what softmax cross-entropies of the loss compare with labels, unless labels are used to compute it.
std::vector<Compared> logits(const Graph& graph, const LossInputs& inputs, const std::vector<bool>& of_loss) {
  const Marks of_samples = dependents(graph, inputs.samples), of_labels = dependents(graph, inputs.labels);
  std::vector<Compared> found;
  for (const Node& node : graph.nodes()) {
    if (!of_loss[node.id] || !node.type().ends_with("SoftmaxCrossEntropyWithLogits")) continue;
    const Output tensor = before_reshapes(graph, node.inputs[0]);
    if (of_samples[tensor.node] && !of_labels[tensor.node] &&
        std::ranges::find(found, tensor, &Compared::tensor) == found.end())
      found.push_back({tensor, true});
  }
  return found;
}

/// Returns the tensors computed from samples alone that nodes compare which depend on labels, too. Of those that follow from others
/// of them only the first ones are returned.
std::vector<Compared> compared(const Graph& graph, const LossInputs& inputs) {
  const std::vector<bool> of_loss = nodes_needed(graph, {inputs.loss});
  if (auto found = logits(graph, inputs, of_loss); !found.empty()) return found;
  const Marks of_samples = dependents(graph, inputs.samples), of_labels = dependents(graph, inputs.labels);
  const auto frames = assign_frames(graph);
  if (!frames) return {};
  std::vector<Compared> found;
  for (const Node& node : graph.nodes()) {
    if (!of_labels[node.id] || !of_loss[node.id] || flow_kind(node) != FlowKind::None) continue;
    for (const Output& input : node.inputs) {
      if (of_labels[input.node] || !of_samples[input.node] || !is_floating(graph.dtype(input))) continue;
      const Output tensor = before_reshapes(graph, input);
      if (frames->of_outputs[tensor.node] == root_frame &&  // what is inside a loop has no single value
          std::ranges::find(found, tensor, &Compared::tensor) == found.end())
        found.push_back({tensor});
    }
  }
  std::ranges::sort(found, {}, [](const Compared& one) { return one.tensor; });
  std::vector<Compared> first;
  for (const Compared& one : found) {
    const std::vector<bool> needed = nodes_needed(graph, {one.tensor});
    const bool follows =
        std::ranges::any_of(first, [&](const Compared& other) -> bool { return needed[other.tensor.node]; });
    if (!follows) first.push_back(one);
  }
  return first;
}

std::string name_of(Output tensor, const config::Symbols& symbols) {
  for (const auto& [name, value] : symbols.values)
    if (const auto* const output = value ? std::get_if<Output>(&value->value()) : nullptr;
        output && *output == tensor)
      return name;
  return "output";
}

}  // namespace

std::vector<std::pair<std::string, Output>> predictions(const Scope& scope, const LossInputs& inputs,
                                                        const config::Symbols& symbols) {
  const auto tensors = compared(scope.graph(), inputs);
  std::vector<std::pair<std::string, Output>> result;
  for (const auto& [tensor, are_logits] : tensors) {
    const std::string name = name_of(tensor, symbols);
    if (!are_logits) {
      result.emplace_back(name, tensor);
      continue;
    }
    const std::string prefix = tensors.size() == 1 ? std::string() : name + '_';
    Output label = argmax(scope.with_name("class"), tensor, -1, i64);
    if (!inputs.classes.empty())
      label = gather(scope.with_name("class_name"),
                     scope.constant(Tensor::vector<std::string>(inputs.classes)), label);
    result.emplace_back(prefix + "class", label);
    result.emplace_back(prefix + "probabilities", softmax(scope.with_name("probabilities"), tensor));
  }
  return result;
}

}  // namespace troupe::runs
