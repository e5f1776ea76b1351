// Gathering: one result out of the answers to several requests. What Role::ask_all and Engine::call_all are made of. The functions that
// gather() returns own what they share; each may be called on any thread, once.
#pragma once

#include <vector>

#include "actors/engine/requests.h"

namespace troupe {

/// Returns the function that takes the answer to each of `size` requests. When all of them have been called, the last one calls `then`
/// with the answers in the order of the requests. The first one that is called with a failure calls `failed` at once. Without requests
/// `then` is called before gather() returns.
std::vector<Answer> gather(size_t size, AllAnswered then, RequestFailed failed = {});

}  // namespace troupe
