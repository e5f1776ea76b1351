// OwnedVariables: the strategy of one member of a training that shares out the variables and the state of the optimizer among its
// members (stage 1 of ZeRO, Rajbhandari et al. 2020). Each member applies only the rules of its own variables; the others send it
// the new values of theirs. All members must build the same graph, except for that. Uses only the public builder and throws Error
// as it does. Public header; one thread at a time per graph.
#pragma once

#include <functional>
#include <vector>

#include "apps/nn/replication_strategy.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

class OwnedVariables final : public ReplicationStrategy {
 public:
  /// `is_mine` returns whether this member owns a variable. `values` are those of the other members' variables; it must outlive
  /// this object.
  OwnedVariables(std::function<bool(Output variable)> is_mine, LocalValues& values)
      : is_mine_(std::move(is_mine)), values_(values) {}

  /// Returns the variable if it is this member's own, otherwise the placeholder of its value.
  Output value(Output variable) override;
  /// Returns the variables whose values have been used, in the order of their first use, which is that of all members.
  const std::vector<Output>& used() const { return used_; }

 private:
  Output add(const Scope& scope, const Rule& rule) override;

  const std::function<bool(Output variable)> is_mine_;
  LocalValues& values_;
  std::vector<Output> used_;
};

}  // namespace troupe::nn
#pragma GCC visibility pop
