// Requests to several actors at once, and their answers. Plain values and functions. Public header: std and our own types.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "actors/engine/actor_ref.h"
#include "messages/wire/message.h"

#pragma GCC visibility push(default)
namespace troupe {

using Answer = std::function<void(Result<AnyMessage>)>;

/// What is asked of whom.
struct AddressedRequest {
  ActorRef to;
  AnyMessage message;
};
using Answers = std::vector<Result<AnyMessage>>;  ///< in the order of the requests
using AllAnswered = std::function<void(Answers)>;
using RequestFailed = std::function<void(size_t request, const Status& failure)>;

}  // namespace troupe
#pragma GCC visibility pop
