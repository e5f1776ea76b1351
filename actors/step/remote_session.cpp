#include "actors/step/remote_session.h"

#include "actors/step/session_core.h"
#include "actors/step/session_server.h"
#include "actors/step/session_wire.h"
#include "messages/wire/texts_wire.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

/// The server answers by the deadline; what is added is the time for its answer to arrive.
constexpr int64_t grace = 5'000'000'000;  // nanoseconds

Result<SessionParts> open(const std::shared_ptr<ClientNode>& client, const std::string& endpoint,
                          const Graph& graph, const SessionOptions& options, int64_t deadline) {
  ActorNode& node = client->actors();
  Draft<wire::OpenSession> draft;
  write(options, *draft);
  write(client->own_address(), draft->initClient());
  draft->setPatience(static_cast<uint64_t>(std::max<int64_t>(deadline - node.env.clock.now(), 0)));
  TROUPE_ASSIGN(const auto server, node.directory.find(client->member_address(session_server_role)));
  TROUPE_ASSIGN(const auto answer, node.engine.call(server, draft.finish(), deadline + grace));
  const Message<wire::SessionOpened> opened(answer);
  const Address master = read(opened->getMaster());
  TROUPE_ASSIGN(auto workers, read(opened->getWorkers()));
  TROUPE_ASSIGN(const auto to, node.directory.find(master));
  return SessionParts{.owner = nullptr,
                      .connection = client,
                      .endpoint = endpoint,
                      .node = node,
                      .master = to,
                      .graph = graph,
                      .container = std::string(view(opened->getContainer())),
                      .master_address = master,
                      .coordinator = read(opened->getCoordinator()),
                      .workers = std::move(workers)};
}

}  // namespace

Result<uint64_t> reset_containers(ActorNode& node, const Address& server,
                                  const std::vector<std::string>& containers, int64_t deadline) {
  Draft<wire::ResetContainers> draft;
  write(containers, draft->initContainers(static_cast<uint32_t>(containers.size())));
  draft->setPatience(static_cast<uint64_t>(std::max<int64_t>(deadline - node.env.clock.now(), 0)));
  TROUPE_ASSIGN(const auto to, node.directory.find(server));
  TROUPE_ASSIGN(const auto answer, node.engine.call(to, draft.finish(), deadline + grace));
  return Message<wire::ContainersReset>(answer)->getStates();
}

Session open_remote_session(const std::shared_ptr<ClientNode>& client, const std::string& endpoint,
                            const Graph& graph, const SessionOptions& options, int64_t deadline,
                            std::shared_ptr<void> owner) {
  auto parts = open(client, endpoint, graph, options, deadline);
  if (parts) {
    parts->owner = std::move(owner);
    return std::move(*parts).open();
  }
  throw Error(
      Status(parts.status().code(), "cannot open a session at " + endpoint + ": " + parts.status().text()));
}

}  // namespace troupe
