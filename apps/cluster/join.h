// Join: how a node finds its place in a cluster of which it knows one member, by asking that. A thread that may wait.
#pragma once

#include <string>

#include "actors/net/cluster.h"
#include "apps/cluster/place.h"

namespace troupe::cluster {

/// As for find_place(), with options.join: of a member, "host:port". What inquire() says, with what was asked.
Result<Place> place_by_asking(const PlaceOptions& options);

}  // namespace troupe::cluster
