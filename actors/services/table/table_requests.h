// Table requests: turn the ops on lookup tables of a step into messages to the table's actor, and its answers into the outputs
// of the op. Used by TableService.
#pragma once

#include "kernels/runtime/step_request.h"
#include "kernels/tables/table_ops.h"
#include "messages/wire/message.h"

namespace troupe {

/// Makes the message for the table described by `spec`. Moves the tensors out of the inputs. Fails with InvalidArgument if the
/// outputs of the node are not of the table's types, or an input or attribute is not what it must be.
Result<AnyMessage> table_message(TableOp op, const StepRequest& request, const TableSpec& spec);

/// Turns the table's answer into the outputs of the op.
StepReply table_reply(TableOp op, Result<AnyMessage> answer);

}  // namespace troupe
