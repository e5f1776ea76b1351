#include "apps/nn/owned_variables.h"

#include <algorithm>

namespace troupe::nn {

Output OwnedVariables::value(Output variable) {
  if (std::ranges::count(used_, variable) == 0) used_.push_back(variable);
  return is_mine_(variable) ? variable : values_.of(variable);
}

Output OwnedVariables::add(const Scope& scope, const Rule& rule) {
  return is_mine_(rule.variables.front()) ? ReplicationStrategy::add(scope, rule) : scope.group({});
}

}  // namespace troupe::nn
