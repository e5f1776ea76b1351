// Staging requests: turn the staging ops of a step into messages to the area's actor, and its answers into the outputs of the
// op. Used by StagingService.
#pragma once

#include <optional>

#include "kernels/core/kernel.h"
#include "kernels/runtime/step_request.h"
#include "messages/wire/message.h"

namespace troupe {

enum class StagingOp : uint8_t {
  Stage,
  Unstage,
  Peek,
  MapStage,
  MapUnstage,
  MapUnstageNoKey,
  MapPeek,
  Size,
  IncompleteSize,
  Clear
};

/// Returns which staging op this is ("MapStage", "OrderedMapStage", ...), or nothing if it is none.
std::optional<StagingOp> staging_op(std::string_view type);

/// Returns whether requests of the op may wait.
bool may_wait(StagingOp op);

/// Makes the message. Moves the tensors out of the inputs. Fails with InvalidArgument if a key, an index or the number of
/// outputs is wrong.
Result<AnyMessage> staging_message(StagingOp op, const StepRequest& request, const StepInfo& step);

/// Turns the area's answer into the outputs of the op.
StepReply staging_reply(StagingOp op, Result<AnyMessage> answer);

}  // namespace troupe
