// Update rules: ops that change variables, prepared once when their partition is registered. The Update messages of each step name
// a rule by its number. A rule is immutable; everything here may be used from any thread.
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

/// The rules of the partitions registered on one device, by the numbers that Update and PushGradient messages contain.
class RuleTable {
 public:
  /// Adds a rule and returns its number.
  uint64_t add(std::shared_ptr<const UpdateRule> rule);
  void remove(uint64_t number);
  /// Returns null if no rule has this number.
  std::shared_ptr<const UpdateRule> find(uint64_t number) const;

 private:
  mutable std::mutex mutex_;
  uint64_t last_ = 0;
  std::unordered_map<uint64_t, std::shared_ptr<const UpdateRule>> rules_;
};

/// Prepares the rule of `node`, a node of `graph`. Fails with NotFound or AlreadyExists as KernelTable::find does.
Result<std::shared_ptr<const UpdateRule>> prepare_rule(std::shared_ptr<const Graph> graph, const Node& node,
                                                       const KernelTable& kernels, Device& device);

}  // namespace troupe
