#include "apps/interop/functions/caller.h"

#include <limits>

#include "apps/interop/functions/recursion.h"
#include "apps/interop/parse.h"
#include "apps/interop/tensor_proto.h"
#include "messages/values/device_name.h"

namespace troupe::interop {
namespace {

bool is_switch(const Node& node) { return node.type() == "Switch" || node.type() == "RefSwitch"; }

/// Returns the number of tensors of an argument, or a negative number if the attributes do not determine it.
int64_t arity(const OpDef::ArgDef& argument, const Site& site) {
  const auto attr = [&](const std::string& name) {
    const auto at = site.attrs.find(name);
    return at == site.attrs.end() ? nullptr : at->second;
  };
  if (!argument.number_attr().empty()) {
    const AttrValue* number = attr(argument.number_attr());
    return number && number->has_i() ? number->i() : -1;
  }
  if (!argument.type_list_attr().empty()) {
    const AttrValue* types = attr(argument.type_list_attr());
    return types && types->has_list() ? types->list().type_size() : -1;
  }
  return 1;
}

/// Returns the dtype of an element of an argument, or DT_INVALID if the attributes do not determine it.
DataType type_of(const OpDef::ArgDef& argument, int64_t element, const Site& site) {
  if (argument.type() != DT_INVALID) return argument.type();
  const bool is_list = !argument.type_list_attr().empty();
  const auto at = site.attrs.find(is_list ? argument.type_list_attr() : argument.type_attr());
  if (at == site.attrs.end()) return DT_INVALID;
  return is_list ? at->second->list().type(static_cast<int>(element)) : at->second->type();
}

}  // namespace

std::string output_name(size_t i, size_t count) { return count == 1 ? "" : "_output_" + std::to_string(i); }

Result<PlacedCall> Caller::run() {
  if (const FunctionDef* function = importer_.library().find(node_.op()))
    return plain_call({function, &node_.attr()});
  switch (call_kind(node_.op())) {
    case CallKind::If: return conditional();
    case CallKind::Case: return choice();
    case CallKind::While: return loop();
    case CallKind::For: return counted_loop();
    case CallKind::Map: return map();
    case CallKind::Gradient: return symbolic_gradient();
    case CallKind::RemoteCall: return remote_call();
    case CallKind::Call:
    case CallKind::None: break;
  }
  TROUPE_ASSIGN(const Callee callee, callee_of("f"));
  return plain_call(callee);
}

Result<Caller::Callee> Caller::callee_of(const char* attr) const {
  const AttrValue* value = find_attr(node_, attr);
  if (!value || !site_.resolve(*value).has_func())
    return invalid_argument(std::string("attribute ") + attr + " is missing or is not a function");
  return callee_named(attr, site_.resolve(*value).func());
}

Result<Caller::Callee> Caller::callee_named(const char* attr, const NameAttrList& name) const {
  if (const FunctionDef* function = importer_.library().find(name.name()))
    return Callee{function, &name.attr()};
  return not_found(std::string("attribute ") + attr + ": there is no function '" + name.name() + "'");
}

Result<NodeId> Caller::add(const std::string& op, const std::string& name, std::vector<Output> inputs,
                           std::vector<NodeId> control, Attributes attrs) {
  return importer_.add({spec_.name + (name.empty() ? "" : '/' + name),
                        op,
                        std::move(attrs),
                        std::move(inputs),
                        std::move(control),
                        spec_.device,
                        {}});
}

Result<Output> Caller::add_one(const std::string& op, const std::string& name, std::vector<Output> inputs,
                               std::vector<NodeId> control, Attributes attrs) {
  TROUPE_ASSIGN(const NodeId id, add(op, name, std::move(inputs), std::move(control), std::move(attrs)));
  return Output{id, 0};
}

Result<std::vector<NodeId>> Caller::joined(std::vector<NodeId> nodes, const std::string& name) {
  if (nodes.size() < 2) return nodes;
  TROUPE_ASSIGN(const NodeId all, add("NoOp", name, {}, std::move(nodes)));
  return std::vector<NodeId>{all};
}

// Instances of functions

Status Caller::check_depth() const {
  if (site_.depth() >= importer_.limits().function_depth)
    return limit_exceeded("function_depth", static_cast<uint64_t>(importer_.limits().function_depth));
  return {};
}

void Caller::bind_attrs(const Callee& callee, Site& inside) const {
  for (const auto& attr : callee.function->signature().attr())
    if (attr.has_default_value()) inside.attrs[attr.name()] = &attr.default_value();
  for (const AttrEntry& attr : *callee.attrs) inside.attrs[attr.key()] = &site_.resolve(attr.value());
}

Status Caller::bind_arguments(const Callee& callee, Values inputs, Site& inside) const {
  size_t next = 0;
  for (const auto& argument : callee.function->signature().input_arg()) {
    const int64_t count = arity(argument, inside);
    if (count < 0 || static_cast<uint64_t>(count) > inputs.size() - next)
      return invalid_argument(
          "function " + callee.name() + " takes more than the " + std::to_string(inputs.size()) +
          " inputs of the call, or does not say how many tensors argument '" + argument.name() + "' has");
    auto& values = inside.arguments.emplace_back();
    for (int64_t i = 0; i < count; ++i) {
      values.push_back(inputs[next++]);
      TROUPE_RETURN_IF_FAILED(check_type(callee, argument, type_of(argument, i, inside), values.back()));
    }
  }
  if (next != inputs.size())
    return invalid_argument("function " + callee.name() + " takes " + std::to_string(next) + " inputs, got " +
                            std::to_string(inputs.size()));
  return {};
}

Status Caller::check_type(const Callee& callee, const OpDef::ArgDef& argument, DataType type,
                          Output value) const {
  TROUPE_ASSIGN(const DType expected, read_dtype(type));
  if (graph_.dtype(value) == expected) return {};
  return invalid_argument("'" + argument.name() + "' of function " + callee.name() + " is " +
                          std::string(name(graph_.dtype(value))) + ", expected " +
                          std::string(name(expected)));
}

Result<Caller::Instance> Caller::instantiate(const Callee& callee, const std::string& part, Values inputs,
                                             std::optional<NodeId> start, bool start_before_all) {
  if (importer_.called().is_recursive(*callee.function))
    return call(callee, part, inputs, inputs.empty() || start_before_all ? start : std::nullopt);
  TROUPE_RETURN_IF_FAILED(check_depth());
  Site inside{&site_, callee.function, spec_.name + '/' + part, spec_.device, {},
              {},     start,           start_before_all};
  bind_attrs(callee, inside);
  TROUPE_RETURN_IF_FAILED(bind_arguments(callee, inputs, inside));
  TROUPE_ASSIGN(const Body* const body, importer_.body_of(*callee.function));
  TROUPE_ASSIGN(Placed placed, importer_.place(*body, inside));
  Instance instance;
  TROUPE_ASSIGN(instance.outputs, outputs_of(callee, *body, inside, placed));
  TROUPE_ASSIGN(std::vector<NodeId> effects, effects_of(callee, *body, placed));
  TROUPE_ASSIGN(instance.effects, joined(std::move(effects), part + "_effects"));
  instance.has_effects = !instance.effects.empty();
  return instance;
}

Result<std::vector<DType>> Caller::types_of_argument(const Callee& callee, const OpDef::ArgDef& argument,
                                                     const Site& inside) const {
  const int64_t count = arity(argument, inside);
  if (count < 0 || count > std::numeric_limits<int16_t>::max())
    return invalid_argument("function " + callee.name() + " does not say how many tensors argument '" +
                            argument.name() + "' has");
  std::vector<DType> types;
  for (int64_t i = 0; i < count; ++i) {
    TROUPE_ASSIGN(types.emplace_back(), read_dtype(type_of(argument, i, inside)));
  }
  return types;
}

Result<DType> Caller::type_of_result(const Callee& callee, const OpDef::ArgDef& output,
                                     const Site& inside) const {
  if (arity(output, inside) == 1) return read_dtype(type_of(output, 0, inside));
  return unimplemented("output '" + output.name() + "' of function " + callee.name() +
                       ": it has several tensors, which is not available");
}

Result<Outputs> Caller::outputs_of(const Callee& callee, const Body& body, const Site& inside,
                                   const Placed& placed) const {
  std::unordered_map<std::string_view, std::string_view> results;
  for (const NameEntry& entry : callee.function->ret()) results.emplace(entry.key(), entry.value());
  Outputs outputs;
  for (const auto& output : callee.function->signature().output_arg()) {
    const auto fail = [&](const std::string& what) {
      return invalid_argument("output '" + output.name() + "' of function " + callee.name() + ": " + what);
    };
    TROUPE_ASSIGN([[maybe_unused]] const DType type, type_of_result(callee, output, inside));
    const auto result = results.find(output.name());
    if (result == results.end()) return fail("the function does not say which node yields it");
    const auto source = body.find(result->second);
    if (!source) return fail(source.status().text());
    const auto value = importer_.find(body, *source, inside, placed);
    if (!value) return fail(value.status().text());
    TROUPE_RETURN_IF_FAILED(check_type(callee, output, type_of(output, 0, inside), *value));
    outputs.arguments.emplace(output.name(), outputs.values.size());
    outputs.values.push_back(*value);
  }
  return outputs;
}

Result<std::vector<NodeId>> Caller::effects_of(const Callee& callee, const Body& body,
                                               const Placed& placed) const {
  if (callee.function->control_ret().empty()) return placed.effects;
  std::vector<NodeId> effects;
  for (const NameEntry& control : callee.function->control_ret()) {
    const auto source = body.find(control.value());
    if (!source || source->source >= body.size())
      return invalid_argument("control output '" + control.key() + "' of function " + callee.name() +
                              ": there is no node '" + control.value() + "'");
    effects.push_back(placed.nodes[source->source]);
  }
  return effects;
}

Status Caller::wait_for_effects(Instance& instance, const std::string& part) {
  if (instance.effects.empty()) return {};
  for (size_t i = 0; i < instance.outputs.values.size(); ++i) {
    Output& value = instance.outputs.values[i];
    TROUPE_ASSIGN(value,
                  add_one("Identity", part + "_result_" + std::to_string(i), {value}, instance.effects));
  }
  return {};
}

Result<PlacedCall> Caller::finish(Outputs outputs, bool has_effects, std::vector<NodeId> after) {
  if (outputs.values.size() == 1) return PlacedCall{outputs, outputs.values[0].node, has_effects};
  const char* const op = outputs.values.empty() ? "NoOp" : "IdentityN";
  TROUPE_ASSIGN(const NodeId done, add(op, "", outputs.values, std::move(after)));
  return PlacedCall{std::move(outputs), done, has_effects};
}

// Plain calls

Result<std::optional<NodeId>> Caller::start_of_call() {
  std::vector<NodeId> after = spec_.control_inputs;
  for (size_t i = 0; i < spec_.inputs.size(); ++i) {
    Output input = spec_.inputs[i];
    // A Switch runs whichever output is alive, so the call must wait for the value and not for the Switch.
    if (is_switch(graph_.node(input.node))) {
      TROUPE_ASSIGN(input, add_one("Identity", "_input_" + std::to_string(i), {input}));
    }
    after.push_back(input.node);
  }
  if (after.empty()) return site_.start;
  TROUPE_ASSIGN(const NodeId start, add("NoOp", "_start", {}, std::move(after)));
  return std::optional<NodeId>(start);
}

Result<PlacedCall> Caller::plain_call(const Callee& callee) {
  TROUPE_ASSIGN(const auto start, start_of_call());
  TROUPE_ASSIGN(Instance instance,
                instantiate(callee, "", spec_.inputs, start, !spec_.control_inputs.empty()));
  Outputs& outputs = instance.outputs;
  for (size_t i = 0; i < outputs.values.size(); ++i) {
    Output& value = outputs.values[i];
    TROUPE_ASSIGN(value,
                  add_one("Identity", output_name(i, outputs.values.size()), {value}, instance.effects));
  }
  if (call_kind(node_.op()) != CallKind::None) outputs.arguments = {{"output", 0}};
  std::vector<NodeId> after = instance.effects;
  if (start) after.push_back(*start);
  return finish(std::move(outputs), instance.has_effects, std::move(after));
}

Result<PlacedCall> Caller::remote_call() {
  const Node* const target = spec_.inputs.empty() ? nullptr : &graph_.node(spec_.inputs[0].node);
  if (!target || target->type() != "Const" || graph_.dtype(spec_.inputs[0]) != DType::String)
    return unimplemented("target must be a constant that names a device");
  const Tensor& name = target->attrs.get<Tensor>("value");
  if (name.elements() != 1)
    return invalid_argument("target is " + name.signature() + "; it must be string[]");
  spec_.device = name.as<std::string>()[0];
  TROUPE_RETURN_IF_FAILED(DeviceName::parse(spec_.device).status());
  spec_.inputs.erase(spec_.inputs.begin());
  TROUPE_ASSIGN(const Callee callee, callee_of("f"));
  return plain_call(callee);
}

Result<PlacedCall> place_call(Importer& importer, const NodeDef& node, NodeSpec spec, const Site& site) {
  return Caller(importer, node, std::move(spec), site).run();
}

}  // namespace troupe::interop
