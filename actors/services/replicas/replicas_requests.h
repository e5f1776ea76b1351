// How a step's SyncReplicasApply becomes a PushGradient to the replicas role: the rule inside it, prepared once, and the message
// of each step. Used by executors.
#pragma once

#include <memory>

#include "actors/services/variable/prepared_rule.h"
#include "kernels/runtime/step_host.h"
#include "messages/wire/message.h"

namespace troupe {

/// The rule that a SyncReplicasApply wraps, as a node of a graph of its own.
struct ReplicatedRule {
  std::shared_ptr<const UpdateRule> rule;
  int32_t gradient = -1;  ///< which of the rule's value inputs is averaged; -1: none
};

/// InvalidArgument when the rule is no op on variables, or does not take these inputs and options, or has no such gradient.
Result<ReplicatedRule> prepare_replicated_rule(const Graph& graph, const Node& node, const OpLibrary& library,
                                               Device& device);

/// FailedPrecondition in a step outside training, which makes no round. Moves the values from the inputs.
Result<AnyMessage> push_message(const StepRequest& request, const StepInfo& step, uint64_t rule,
                                int32_t gradient);

}  // namespace troupe
