// How the runtime makes a Session: the parts it stands on. Not installed.
#pragma once

#include "actors/node.h"
#include "actors/session.h"

namespace troupe {

struct SessionParts {
  ActorNode& node;
  ActorRef master;
  const Graph& graph;
  Address coordinator = {};           ///< of checkpoints
  std::vector<Address> workers = {};  ///< of the processes that it runs on

  Session open() &&;
};

}  // namespace troupe
