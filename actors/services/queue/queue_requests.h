// Queue requests: turn the queue ops of a step into messages to the queue's actor, and its answers into the outputs of the op. Used
// by QueueService.
#pragma once

#include <optional>

#include "actors/services/queue/queue.h"
#include "kernels/runtime/step_host.h"
#include "messages/wire/message.h"

namespace troupe {

enum class QueueOp : uint8_t {
  Enqueue,
  EnqueueMany,
  Dequeue,
  DequeueMany,
  DequeueUpTo,
  Close,
  IsClosed,
  Size
};

/// Returns which queue op this is ("QueueEnqueue", "QueueEnqueueV2", ...), or nothing if it is not a queue op.
std::optional<QueueOp> queue_op(const OpDef& op);

/// Makes the message for the queue described by `spec`. Moves the components out of the inputs. Fails with InvalidArgument if the
/// outputs of the node are not the components of the queue, or if it requests a negative number of elements.
Result<AnyMessage> queue_message(QueueOp op, const StepRequest& request, const StepInfo& step,
                                 const QueueSpec& spec);

/// Turns the queue's answer into the outputs of the op.
StepReply queue_reply(QueueOp op, Result<AnyMessage> answer);

}  // namespace troupe
