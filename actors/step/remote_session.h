// Opening a session whose master lives in another process. For the library; not installed.
#pragma once

#include <memory>
#include <string>

#include "actors/net/client_node.h"
#include "actors/step/session.h"

namespace troupe {

/// Asks the member that the client is linked to for a session. The session owns the client. `endpoint` is that of the member, for
/// errors. The session keeps `owner` alive, which the client uses. Throws Error.
Session open_remote_session(const std::shared_ptr<ClientNode>& client, const std::string& endpoint,
                            const Graph& graph, const SessionOptions& options, int64_t deadline,
                            std::shared_ptr<void> owner);

/// Asks the member to reset these containers on all tasks of its cluster (Runtime::reset). Returns how many states were dropped.
Result<uint64_t> reset_containers(ActorNode& node, const Address& server,
                                  const std::vector<std::string>& containers, int64_t deadline);

}  // namespace troupe
