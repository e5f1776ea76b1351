#include "graph/scope.h"

#include "graph/call.h"
#include "graph/flow_context.h"

namespace troupe {

Argument Argument::integers(std::span<const int64_t> values) {
  return std::vector<Argument>(values.begin(), values.end());
}

Scope Scope::with_prefix(std::string_view prefix) const {
  Scope scope = *this;
  scope.prefix_ += std::string(prefix) + '/';
  return scope;
}

Scope Scope::with_name(std::string_view name) const {
  Scope scope = *this;
  scope.name_ = name;
  return scope;
}

Scope Scope::with_device(std::string_view device) const {
  Scope scope = *this;
  scope.device_ = override_with(device_, value_or_throw(DeviceName::parse(device)));
  return scope;
}

Scope Scope::with_control(std::vector<NodeId> sources) const {
  Scope scope = *this;
  scope.control_.insert(scope.control_.end(), sources.begin(), sources.end());
  return scope;
}

Scope Scope::without_control() const {
  Scope scope = *this;
  scope.control_.clear();
  return scope;
}

Scope Scope::colocated_with(Output output) const {
  Scope scope = *this;
  scope.colocate_with_ = {graph_->node(output.node).name};
  return scope;
}

Scope Scope::in_context(std::shared_ptr<FlowContext> context) const {
  Scope scope = *this;
  scope.context_ = std::move(context);
  return scope;
}

NodeId Scope::add(std::string_view op, std::vector<Output> inputs, Attributes attrs) const {
  NodeSpec spec;
  spec.name = graph_->unique_name(prefix_ + (name_.empty() ? std::string(op) : name_));
  spec.op = op;
  spec.attrs = std::move(attrs);
  spec.inputs = std::move(inputs);
  spec.control_inputs = control_;
  spec.device = device_.text();
  spec.colocate_with = colocate_with_;
  if (context_) context_->bring_in(spec);
  const NodeId id = value_or_throw(graph_->add(std::move(spec)));
  if (context_) context_->note(id);
  return id;
}

Output Scope::call(std::string_view constructor, const std::vector<Argument>& positional,
                   const NamedArguments& named) const {
  return Call(*this, constructor, positional, named).build();
}

Output Scope::constant(const Tensor& value) const {
  return without_control().add_one("Const", {}, {{"dtype", value.dtype()}, {"value", value}});
}

Output Scope::group(const std::vector<Output>& sources) const {
  std::vector<NodeId> nodes;
  for (const Output& source : sources) nodes.push_back(source.node);
  return {with_control(std::move(nodes)).add("NoOp", {}), Output::control};
}

}  // namespace troupe
