// The network of a node: TCP, and UCX or memory that is shared with other processes of its host. Made on a thread that may wait;
// used and destroyed on the control thread.
#pragma once

#include <memory>

#include "actors/cluster.h"
#include "actors/engine/control_thread.h"
#include "devices/shared_arenas.h"
#include "messages/env/network.h"

namespace troupe {

/// Whether nodes that are to exchange frames in this way lend each other tensors.
inline bool shares_memory(Transport transport) {
  return transport == Transport::Auto || transport == Transport::Shared;
}
/// Whether they refuse each other if that is not possible.
inline bool is_strict(Transport transport) {
  return transport == Transport::Shared || transport == Transport::Ucx;
}

/// Makes a network for a member or client of this cluster, as its certificates and its transport say. Lends tensors that lie in
/// `arenas`, which may be null. Fails with InvalidArgument if the files of the certificates cannot be used.
Result<std::unique_ptr<Network>> make_network(ControlThread& loop, const ClusterSpec& cluster,
                                              std::shared_ptr<SharedArenas> arenas = nullptr);

}  // namespace troupe
