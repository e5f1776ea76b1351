#include "apps/nn/kept_values.h"

namespace troupe::nn {

KeptValues::KeptValues(const Scope& scope, const std::string& prefix) {
  const Scope inner = scope.with_prefix(prefix);
  std::vector<Output> keep, bring_back;
  for (const Output& variable : variables(scope.graph())) {
    const Scope here = inner.colocated_with(variable);
    const Output kept =
        here.with_name(scope.graph().node(variable.node).name)
            .add_one("VariableV2", {}, {{"dtype", scope.dtype(variable)}, {"shape", scope.shape(variable)}});
    keep.push_back({here.add("Assign", {kept, variable}), Output::control});
    bring_back.push_back({here.add("Assign", {variable, kept}), Output::control});
  }
  keep_ = inner.with_name("keep").group(keep);
  bring_back_ = inner.with_name("bring_back").group(bring_back);
}

}  // namespace troupe::nn
