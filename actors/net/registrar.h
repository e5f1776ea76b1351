// The registrar role: one per process of a cluster. It describes the cluster to a node that wants to join, and reserves for that
// node a task that is free as far as this process knows. Schema: messages/schemas/registrar.capnp.
#pragma once

#include <functional>
#include <string>

#include "actors/cluster.h"
#include "actors/engine/node.h"
#include "actors/net/peers.h"

namespace troupe {

/// Returns the presence of a task, "/job:ps/replica:0/task:0". The task of this process counts as linked. It is called on any
/// thread, until the role has ended.
using PresenceOf = std::function<Presence(const std::string& task)>;

/// Spawns the role and enters it in the directory under `address`.
ActorRef spawn_registrar(ActorNode& node, const Address& address, ClusterSpec cluster, PresenceOf presence);

/// Returns the address of a task's registrar, given any address of the task.
Address registrar_address(const Address& of_task);

}  // namespace troupe
