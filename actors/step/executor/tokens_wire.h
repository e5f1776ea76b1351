// The answer to FindTokens (messages/schemas/executor.capnp), which executors and, for feeds, masters give. A pure function.
#pragma once

#include <vector>

#include "messages/schemas/executor.capnp.h"
#include "messages/wire/message_reader.h"

namespace troupe {

/// Returns TokensFound with these states, in bulk if the request asks for that.
Result<AnyMessage> tokens_found(wire::FindTokens::Reader request,
                                const std::vector<wire::TokensFound::TokenState>& states);

}  // namespace troupe
