#include "apps/nn/state.h"

#include <map>

namespace troupe::nn {

State::State(const Scope& scope) {
  const Scope inner = scope.with_prefix("state");
  for (const Output& variable : variables(scope.graph())) {
    const Scope here = inner.colocated_with(variable);
    names_.push_back(scope.graph().node(variable.node).name);
    variables_.push_back(here.add_one("Identity", {variable}));
    values_.push_back(here.add_one("Placeholder", {},
                                   {{"dtype", scope.dtype(variable)}, {"shape", scope.shape(variable)}}));
    assigned_.push_back({here.add("Assign", {variable, values_.back()}), Output::control});
  }
}

NamedTensors State::read(Session& session) const {
  const auto fetched = session.run(variables_);
  NamedTensors result;
  for (size_t i = 0; i < names_.size(); ++i) result.emplace_back(names_[i], fetched[i]);
  return result;
}

void State::write(Session& session, const NamedTensors& values) const {
  const std::map<std::string, Tensor> by_name(values.begin(), values.end());
  std::vector<std::pair<Output, Tensor>> feeds;
  for (size_t i = 0; i < names_.size(); ++i) {
    const auto found = by_name.find(names_[i]);
    if (found == by_name.end()) throw Error(not_found("there is no value for variable " + names_[i]));
    feeds.emplace_back(values_[i], found->second);
  }
  session.run(feeds, assigned_);
}

}  // namespace troupe::nn
