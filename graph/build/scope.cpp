#include "graph/build/scope.h"

#include <algorithm>

#include "graph/build/call.h"
#include "graph/build/flow_context.h"
#include "graph/build/recomputation.h"

namespace troupe {
namespace {

/// Throws if `status`, a result of Graph::check, is a failure. `what` is the subject of the message.
void require(const Status& status, const char* what) {
  if (!status.ok()) throw Error(invalid_argument(std::string(what) + ' ' + status.text()));
}

/// A node of a segment and its copy must read the same value of a variable, whatever changes the variable between them. So a node
/// before them reads the value.
void put_into_segment(NodeSpec& spec, const std::string& segment, const Scope& reads) {
  spec.attrs.set(segment_attr, segment);
  const Graph& graph = reads.graph();
  const OpDef* const op = graph.ops()->find(spec.op);
  if (!op || std::ranges::any_of(op->inputs, &ArgDef::is_ref)) return;
  for (Output& input : spec.inputs)
    if (graph.check_tensor(input).ok() && graph.type(input).is_ref)
      input = reads.add_one("Identity", {input});
}

}  // namespace

void Argument::refuse(uint64_t value) {
  throw Error(invalid_argument("an argument is the number " + std::to_string(value) +
                               ", which int64 cannot hold; a tensor of uint64 can"));
}

/// A device function, and what the scopes around it request.
struct Scope::DeviceLayer {
  DeviceFunction function;
  DeviceName around;
  std::shared_ptr<const DeviceLayer> outer;
};

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

Scope Scope::with_device(DeviceFunction function) const {
  if (!function) throw Error(invalid_argument("a device function is null"));
  Scope scope = *this;
  if (!colocate_with_.empty()) return scope;
  scope.devices_ = std::make_shared<const DeviceLayer>(DeviceLayer{std::move(function), device_, devices_});
  scope.device_ = {};
  return scope;
}

/// Returns the device to request for a node. Scopes inside win over those around them.
std::string Scope::device_of(const NodeSpec& node) const {
  if (!devices_) return device_.text();
  NodeSpec asked = node;
  DeviceName device = device_;
  for (const DeviceLayer* layer = devices_.get(); layer; layer = layer->outer.get()) {
    asked.device = device.text();
    const std::string requested = layer->function(*graph_, asked);
    device = override_with(layer->around, value_or_throw(DeviceName::parse(requested)));
  }
  return device.text();
}

Scope Scope::with_control(const std::vector<Output>& sources) const {
  Scope scope = *this;
  for (const Output& source : sources) {
    require(graph_->check(source), "a source of control edges");
    scope.control_.push_back(source.node);
  }
  return scope;
}

Scope Scope::without_control() const {
  Scope scope = *this;
  scope.control_.clear();
  return scope;
}

Scope Scope::colocated_with(Output output) const {
  require(graph_->check(output), "an output to colocate with");
  Scope scope = *this;
  scope.colocate_with_ = {graph_->node(output.node).name};
  scope.device_ = value_or_throw(DeviceName::parse(requested_device(*graph_, output.node)));
  scope.devices_ = nullptr;
  return scope;
}

Scope Scope::recomputed(std::string_view segment) const {
  Scope scope = *this;
  if (segment_.empty()) scope.segment_ = prefix_ + std::string(segment);
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
  if (!segment_.empty()) {
    Scope outside = *this;
    outside.segment_.clear();
    put_into_segment(spec, segment_, outside.with_name("read"));
  }
  spec.control_inputs = control_;
  spec.colocate_with = colocate_with_;
  spec.device = device_of(spec);
  if (context_) {
    for (const Output& input : spec.inputs) checked(input);
    context_->import_inputs(spec);
  }
  const NodeId id = value_or_throw(graph_->add(std::move(spec)));
  if (context_) context_->add_node(id);
  return id;
}

Output Scope::call(std::string_view constructor, const std::vector<Argument>& positional,
                   const NamedArguments& named) const {
  return Call(*this, constructor, positional, named).build();
}

std::vector<Output> Scope::outputs(Output output) const {
  std::vector<Output> result;
  for (uint32_t i = 0; i < graph_->node(checked(output).node).output_types.size(); ++i)
    result.push_back(graph_->output(output.node, i));
  return result;
}

Output Scope::checked(Output output) const {
  require(graph_->check_tensor(output), "an output used as a tensor");
  return output;
}

Output Scope::constant(const Tensor& value) const {
  return without_control().add_one("Const", {}, {{"dtype", value.dtype()}, {"value", value}});
}

Output Scope::group(const std::vector<Output>& sources) const {
  return graph_->output(with_control(sources).add("NoOp", {}), Output::control);
}

}  // namespace troupe
