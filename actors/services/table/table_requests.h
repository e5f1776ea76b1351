// Table requests: turn the ops on lookup tables of a step into messages to the table's actor, and its answers into the outputs
// of the op. Used by TableService.
#pragma once

#include <optional>

#include "actors/services/table/table_spec.h"
#include "kernels/runtime/step_request.h"
#include "messages/wire/message.h"

namespace troupe {

/// `Make` stands for ops that make a table of their inputs.
enum class TableOp : uint8_t {
  Make,
  Find,
  Insert,
  Remove,
  Size,
  Export,
  Import,
  Initialize,
  InitializeFromFile
};

/// Returns which op on tables this is ("LookupTableFind", "LookupTableFindV2", ...), or nothing if it is none.
std::optional<TableOp> table_op(std::string_view type);

/// Makes the message for the table described by `spec`. Moves the tensors out of the inputs. Fails with InvalidArgument if the
/// outputs of the node are not of the table's types, or an input or attribute is not what it must be.
Result<AnyMessage> table_message(TableOp op, const StepRequest& request, const TableSpec& spec);

/// Turns the table's answer into the outputs of the op.
StepReply table_reply(TableOp op, Result<AnyMessage> answer);

}  // namespace troupe
