#include "graph/build/flow_context.h"

namespace troupe {

void FlowContext::bring_in(NodeSpec& spec) {
  for (Output& input : spec.inputs) input = bring(input);
  std::vector<NodeId> control;
  for (const NodeId source : spec.control_inputs)
    if (const auto here = bring_control(source)) control.push_back(*here);
  spec.control_inputs = std::move(control);
  if (needs_pivot(spec)) spec.control_inputs.push_back(pivot_);
}

Output FlowContext::bring(Output output) {
  if (inside_.contains(output.node) || brought_.contains(output)) return output;
  if (const auto known = stand_in_.find(output); known != stand_in_.end()) return known->second;
  const Output here = wrap(around_ ? around_->bring(output) : output);
  stand_in_.emplace(output, here);
  brought_.insert(here);
  return here;
}

std::optional<NodeId> FlowContext::bring_control(NodeId node) {
  if (inside_.contains(node)) return node;
  const std::optional<NodeId> outside = around_ ? around_->bring_control(node) : node;
  return outside ? wait(*outside) : std::nullopt;
}

void FlowContext::note(NodeId node) {
  inside_.insert(node);
  if (around_) around_->note(node);
}

}  // namespace troupe
