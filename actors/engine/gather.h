// Gathering: collects the answers to several requests; Role::ask_all and Engine::call_all use it. The functions that gather()
// returns own the state that they share. Each may be called once, on any thread.
#pragma once

#include <vector>

#include "actors/engine/requests.h"

namespace troupe {

/// Returns one function per request, which takes the answer to that request. When all of them have been called, the last one calls
/// `then` with the answers in the order of the requests. The first one that is called with a failure calls `failed` at once. If
/// `size` is 0, gather() itself calls `then`.
std::vector<Answer> gather(size_t size, AllAnswered then, RequestFailed failed = {});

}  // namespace troupe
