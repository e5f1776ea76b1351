// How a step's ops on queues become messages to the queue's actor, and its answers the outputs of the op. Used by the running
// step, on its driving thread.
#pragma once

#include <optional>

#include "actors/services/queue/queue.h"
#include "kernels/runtime/step_host.h"
#include "messages/wire/message.h"

namespace troupe {

enum class QueueOp : uint8_t { Enqueue, EnqueueMany, Dequeue, DequeueMany, DequeueUpTo, Close, Size };

/// Of "QueueEnqueue", "QueueEnqueueV2" and the like; nothing for other ops.
std::optional<QueueOp> queue_op(const OpDef& op);

/// What to ask of the queue, which is `spec`; moves the components from the inputs. InvalidArgument when the node yields other
/// components than the queue has, or wants a negative number of elements.
Result<AnyMessage> queue_message(QueueOp op, const StepRequest& request, const StepInfo& step,
                                 const QueueSpec& spec);

StepReply queue_reply(QueueOp op, Result<AnyMessage> answer);

}  // namespace troupe
