// Join: how a node finds its place in a cluster of which it knows one member, by asking that. A thread that may wait.
#pragma once

#include <string>

#include "actors/net/cluster.h"
#include "apps/cluster/cluster_resolver.h"

namespace troupe::cluster {

/// As for resolve_cluster(), with options.join: of a member, "host:port". What inquire() says, with what was asked.
Result<ResolvedCluster> resolve_by_asking(const ResolverOptions& options);

}  // namespace troupe::cluster
