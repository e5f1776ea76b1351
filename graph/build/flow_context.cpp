#include "graph/build/flow_context.h"

namespace troupe {

void FlowContext::import_inputs(NodeSpec& spec) {
  for (Output& input : spec.inputs) input = import_value(input);
  std::vector<NodeId> control;
  for (const NodeId source : spec.control_inputs)
    if (const auto inside = import_control(source)) control.push_back(*inside);
  spec.control_inputs = std::move(control);
  if (needs_pivot(spec)) spec.control_inputs.push_back(pivot_);
}

Output FlowContext::import_value(Output output) {
  if (inside_.contains(output.node) || imported_.contains(output)) return output;
  if (const auto known = imports_.find(output); known != imports_.end()) return known->second;
  const Output inside = make_import(outer_ ? outer_->import_value(output) : output);
  imports_.emplace(output, inside);
  imported_.insert(inside);
  return inside;
}

std::optional<NodeId> FlowContext::import_control(NodeId node) {
  if (inside_.contains(node)) return node;
  const std::optional<NodeId> outside = outer_ ? outer_->import_control(node) : node;
  return outside ? wait(*outside) : std::nullopt;
}

void FlowContext::add_node(NodeId node) {
  inside_.insert(node);
  if (outer_) outer_->add_node(node);
}

}  // namespace troupe
