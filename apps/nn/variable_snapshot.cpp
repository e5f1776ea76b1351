#include "apps/nn/variable_snapshot.h"

namespace troupe::nn {

VariableSnapshot::VariableSnapshot(const Scope& scope, const std::string& prefix) {
  const Scope inner = scope.with_prefix(prefix);
  std::vector<Output> keep, restore;
  for (const Output& variable : variables(scope.graph())) {
    const Scope here = inner.colocated_with(variable);
    const std::string name = scope.graph().node(variable.node).name;
    Attributes attrs{{"dtype", scope.dtype(variable)}, {"shape", scope.shape(variable)}};
    if (const auto slice = companion_slice(here, name, variable)) set_row_slice(attrs, *slice);
    const Output kept = here.with_name(name).add_one("VariableV2", {}, std::move(attrs));
    keep.push_back({here.add("Assign", {kept, variable}), Output::control});
    restore.push_back({here.add("Assign", {variable, kept}), Output::control});
  }
  keep_ = inner.with_name("keep").group(keep);
  restore_ = inner.with_name("restore").group(restore);
}

}  // namespace troupe::nn
