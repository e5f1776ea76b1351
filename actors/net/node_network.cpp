#include "actors/net/node_network.h"

#include "actors/net/transport/shared_network.h"
#include "actors/net/transport/tcp_network.h"
#include "actors/net/transport/ucx_network.h"

namespace troupe {

Result<std::unique_ptr<Network>> make_network(ControlThread& loop, const ClusterSpec& cluster,
                                              std::shared_ptr<SharedArenas> arenas) {
  TROUPE_ASSIGN(auto tcp,
                TcpNetwork::make(loop.io(), {.tls = cluster.tls, .plain_anywhere = cluster.plain_anywhere}));
  loop.add(tcp->streams());
  if (cluster.transport == Transport::Tcp) return std::unique_ptr<Network>(std::move(tcp));
  if (cluster.transport == Transport::Ucx) {
    TROUPE_ASSIGN(auto ucx, make_ucx_network(loop.io(), std::move(tcp)));
    loop.add(ucx.polled);
    return std::move(ucx.network);
  }
  auto shared = std::make_unique<SharedNetwork>(loop.io(), std::move(tcp), std::move(arenas));
  loop.add(shared->streams());
  return std::unique_ptr<Network>(std::move(shared));
}

}  // namespace troupe
