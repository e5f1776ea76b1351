#include "apps/nn/owned_variables.h"

#include <algorithm>

namespace troupe::nn {

Output OwnedVariables::value(Output variable) {
  if (std::ranges::count(used_, variable) == 0) used_.push_back(variable);
  return is_mine_(variable) ? variable : values_.of(variable);
}

Output OwnedVariables::add(const Scope& scope, const Rule& rule) {
  if (is_mine_(rule.variables.front())) return ReplicationStrategy::add(scope, rule);
  // `scope` is on the device of a variable of another member, which the sessions of this one lack.
  return Scope(scope.graph()).with_name("update_by_another_member").group({});
}

}  // namespace troupe::nn
