// The registrar role: one per process of a cluster, which tells a node that wants to join what the cluster is, and gives it a place
// that nobody has as far as this process knows. Schema: messages/schemas/registrar.capnp.
#pragma once

#include <functional>
#include <string>

#include "actors/engine/node.h"
#include "actors/net/cluster.h"
#include "actors/net/peers.h"

namespace troupe {

/// What is known of a task, "/job:ps/replica:0/task:0"; this one is always there. Any thread, until the role has ended.
using PresenceOf = std::function<Presence(const std::string& task)>;

/// Enters itself under `address`.
ActorRef spawn_registrar(ActorNode& node, const Address& address, ClusterSpec cluster, PresenceOf presence);

/// The registrar of a task, given any address there.
Address registrar_address(const Address& of_task);

}  // namespace troupe
