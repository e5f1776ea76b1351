// Join: a node that knows one member of a cluster asks that member for its task. The function blocks the calling thread.
#pragma once

#include <string>

#include "actors/cluster.h"
#include "apps/cluster/cluster_resolver.h"

namespace troupe::cluster {

/// Asks the member options.join ("host:port") for the cluster and the task of this node. Fails with InvalidArgument if options are
/// missing, otherwise as inquire() does; the error names the member.
Result<ResolvedCluster> resolve_by_asking(const ResolverOptions& options);

}  // namespace troupe::cluster
