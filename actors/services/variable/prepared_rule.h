// Update rules: how an op changes variables, prepared once when a partition is registered, and named by a number in the Update
// messages of each step. Immutable; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "devices/device.h"
#include "graph/build/graph.h"
#include "kernels/core/kernel.h"

namespace troupe {

struct UpdateRule {
  std::shared_ptr<const Graph> graph;  ///< keeps the node alive
  const Node* node = nullptr;
  std::unique_ptr<Kernel> kernel;
};

/// The rules of the partitions registered on one device, by the numbers that Update and PushGradient messages name. Any thread.
class RuleTable {
 public:
  uint64_t add(std::shared_ptr<const UpdateRule> rule);
  void remove(uint64_t number);
  /// Null when there is none of this number.
  std::shared_ptr<const UpdateRule> find(uint64_t number) const;

 private:
  mutable std::mutex mutex_;
  uint64_t last_ = 0;
  std::unordered_map<uint64_t, std::shared_ptr<const UpdateRule>> rules_;
};

/// The rule that `node`, one of the graph's, stands for. NotFound and AlreadyExists as KernelTable::find says.
Result<std::shared_ptr<const UpdateRule>> prepare_rule(std::shared_ptr<const Graph> graph, const Node& node,
                                                       const KernelTable& kernels, Device& device);

}  // namespace troupe
