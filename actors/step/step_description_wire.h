// Converts what a step is made of to its wire form (messages/schemas/session.capnp) and back.
#pragma once

#include "actors/step/step_compiler.h"
#include "actors/step/step_description.h"
#include "messages/wire/message.h"

namespace troupe {

namespace wire {
struct StepDescribed;
}

Message<wire::StepDescribed> describe(const PlacedStep& step);
/// Fails with InvalidArgument if the message names a device that it does not list, or has a graph that is not valid for these ops.
Result<StepDescription> read(const Message<wire::StepDescribed>& message,
                             const std::shared_ptr<const OpTable>& ops);

}  // namespace troupe
