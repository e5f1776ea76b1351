// Saver requests: the messages of the ops that a saver carries out. Pure functions; any thread.
#pragma once

#include <optional>

#include "kernels/core/kernel.h"
#include "kernels/runtime/step_request.h"
#include "messages/wire/message.h"

namespace troupe {

enum class SaverOp : uint8_t {
  Save,
  SaveSlices,
  SaveV2,
  Restore,
  RestoreSlice,
  RestoreV2,
  Merge,
  LoadMatrix,
  RemapVocabulary,
  DisableCopyOnRead
};

/// Returns which op this is, or nothing if it is not one of a saver.
std::optional<SaverOp> saver_op(const OpDef& op);

/// Returns the message for a request. Fails with InvalidArgument if the inputs that give names do not have the shapes that the op
/// needs. Moves the tensors out of the request.
Result<AnyMessage> saver_message(SaverOp op, const StepRequest& request, const StepInfo& step);

}  // namespace troupe
