// NodeWatch: the nodes of a training as those see them who watch it: whether they are linked, and what they tell about themselves
// (messages/schemas/monitor.capnp). Owned by the trainer; any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/runtime.h"
#include "apps/observe/run_monitor.h"

namespace troupe::train {

class NodeWatch {
 public:
  /// Watches all tasks of the cluster, or none if there is no cluster. The runtime must outlive this object.
  NodeWatch(const Runtime& runtime, const std::optional<ClusterSpec>& cluster);

  /// Returns the states of all nodes without waiting, and asks them anew: what they answer is in a later result.
  std::vector<observe::NodeState> states() const;

 private:
  struct Told;
  void ask(const std::string& task) const;

  const Runtime& runtime_;
  std::vector<std::string> tasks_;
  std::shared_ptr<Told> told_;  ///< shared with the answers that are still to come
};

}  // namespace troupe::train
