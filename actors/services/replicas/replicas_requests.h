// Replicas requests: turn a SyncReplicasApply node into PushGradient messages to the replicas role, and a SyncReplicasAwait node
// into AwaitRound messages. The rule that the node wraps is prepared once; each step makes one message. Used by ReplicasService.
#pragma once

#include <memory>

#include "actors/services/variable/prepared_rule.h"
#include "kernels/runtime/step_host.h"
#include "messages/wire/message.h"

namespace troupe {

/// Which of the value inputs of a rule are averaged.
struct AveragedInputs {
  int32_t gradient = -1;  ///< the index of the gradient; -1: none
  int32_t indices = -1;   ///< the index of the numbers of its rows; -1: the gradient is dense
};

/// The rule that a SyncReplicasApply wraps. Its node belongs to a graph of its own.
struct ReplicatedRule {
  std::shared_ptr<const UpdateRule> rule;
  AveragedInputs averaged;
};

/// Prepares the rule that `node` wraps. Fails with InvalidArgument if the rule is not an op that updates variables, if it does not
/// take the inputs and options of the node, if it has no such gradient or indices, and as prepare_combination() does.
Result<ReplicatedRule> prepare_replicated_rule(const Graph& graph, const Node& node, const OpLibrary& library,
                                               Device& device);

/// Makes the PushGradient message of a step. Moves the values out of the inputs. Fails with FailedPrecondition if the step is not a
/// training step, and with InvalidArgument if the step, which is to say which shard it is, names none.
Result<AnyMessage> push_message(const StepRequest& request, const StepInfo& step, uint64_t rule,
                                AveragedInputs averaged);
/// Makes the AwaitRound message of a step. Fails with FailedPrecondition if the step is not a training step.
Result<AnyMessage> await_message(const StepRequest& request, const StepInfo& step);

}  // namespace troupe
