// Requests to several actors at once, and their answers: plain values. Public header: it uses only std and Troupe's own types.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "actors/engine/actor_ref.h"
#include "messages/wire/message.h"

#pragma GCC visibility push(default)
namespace troupe {

using Answer = std::function<void(Result<AnyMessage>)>;

/// A request and the actor that it is for.
struct AddressedRequest {
  ActorRef to;
  AnyMessage message;
};
/// One answer per request, in the order of the requests.
using Answers = std::vector<Result<AnyMessage>>;
using AllAnswered = std::function<void(Answers)>;
using RequestFailed = std::function<void(size_t request, const Status& failure)>;

}  // namespace troupe
#pragma GCC visibility pop
