// The session server: one per member of a cluster. It opens sessions for clients without devices
// (messages/schemas/sessions.capnp).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actors/engine/node.h"
#include "actors/site/task_sites.h"
#include "messages/values/address.h"

namespace troupe {

/// Returns the workers of the other tasks that `wanted` names ("/job:ps"; empty: all). While one of them is not linked, fails
/// with Unavailable, or with a permanent code (actors/net/refusal.h); the text says what is missing. It is called on any
/// thread, until the role has ended.
using OtherWorkers = std::function<Result<std::vector<Address>>(std::span<const std::string> wanted)>;

/// Spawns the role and enters it in the directory. The masters of its sessions, and the coordinator of their checkpoints,
/// belong to `task`, a task of this node. It has at most `max_sessions` at a time, those being opened included.
ActorRef spawn_session_server(ActorNode& node, std::shared_ptr<TaskSites> task, OtherWorkers others,
                              size_t max_sessions = 1024);

/// The role of the server in its address.
inline constexpr const char* session_server_role = "sessions";

}  // namespace troupe
