#include "apps/interop/calls.h"

#include <algorithm>

#include "apps/interop/parse.h"
#include "apps/interop/tensor_proto.h"

namespace troupe::interop {
namespace {

using FunctionAttrs = google::protobuf::RepeatedPtrField<AttrEntry>;

/// A function and the attributes with which it is called.
struct Callee {
  const FunctionDef* function = nullptr;
  const FunctionAttrs* attrs = nullptr;
  const std::string& name() const { return function->signature().name(); }
};

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

class Caller {
 public:
  Caller(Importer& importer, const NodeDef& node, NodeSpec spec, const Site& site)
      : importer_(importer), graph_(importer.graph()), node_(node), spec_(std::move(spec)), site_(site) {}

  Result<PlacedCall> run() {
    if (const FunctionDef* function = importer_.library().find(node_.op()))
      return plain_call({function, &node_.attr()});
    switch (call_kind(node_.op())) {
      case CallKind::If: return conditional();
      case CallKind::While: return loop();
      default: break;
    }
    TROUPE_ASSIGN(const Callee callee, callee_of("f"));
    return plain_call(callee);
  }

 private:
  /// One instance of a function.
  struct Instance {
    Outputs outputs;
    std::vector<NodeId> effects;  ///< at most one node, which runs after all effects
  };

  Result<Callee> callee_of(const char* attr) const {
    const AttrValue* value = find_attr(node_, attr);
    if (!value || !site_.resolve(*value).has_func())
      return invalid_argument(std::string("attribute ") + attr + " is missing or is not a function");
    const NameAttrList& name = site_.resolve(*value).func();
    const FunctionDef* function = importer_.library().find(name.name());
    if (!function)
      return not_found(std::string("attribute ") + attr + ": there is no function '" + name.name() + "'");
    return Callee{function, &name.attr()};
  }

  /// Adds a node "call/name"; if `name` is empty, the node has the name of the call.
  Result<NodeId> add(const std::string& op, const std::string& name, std::vector<Output> inputs,
                     std::vector<NodeId> control = {}, Attributes attrs = {}) {
    return importer_.add({spec_.name + (name.empty() ? "" : '/' + name),
                          op,
                          std::move(attrs),
                          std::move(inputs),
                          std::move(control),
                          spec_.device,
                          {}});
  }
  Result<Output> add_one(const std::string& op, const std::string& name, std::vector<Output> inputs,
                         std::vector<NodeId> control = {}, Attributes attrs = {}) {
    TROUPE_ASSIGN(const NodeId id, add(op, name, std::move(inputs), std::move(control), std::move(attrs)));
    return Output{id, 0};
  }
  /// Replaces several nodes by one NoOp that runs after them.
  Result<std::vector<NodeId>> joined(std::vector<NodeId> nodes, const std::string& name) {
    if (nodes.size() < 2) return nodes;
    TROUPE_ASSIGN(const NodeId all, add("NoOp", name, {}, std::move(nodes)));
    return std::vector<NodeId>{all};
  }
  /// Returns the name of the node of an output. If the call has one output, that node has the name of the call.
  static std::string output_name(size_t i, size_t count) {
    return count == 1 ? "" : "_output_" + std::to_string(i);
  }

  // Instances of functions.

  Status check_depth(const Callee& callee) const {
    for (const Site* site = &site_; site; site = site->around)
      if (site->function == callee.function)
        return invalid_argument("function " + callee.name() + " calls itself; recursion is not available");
    if (site_.depth() >= importer_.limits().function_depth)
      return limit_exceeded("function_depth", static_cast<uint64_t>(importer_.limits().function_depth));
    return {};
  }

  void bind_attrs(const Callee& callee, Site& inside) const {
    for (const auto& attr : callee.function->signature().attr())
      if (attr.has_default_value()) inside.attrs[attr.name()] = &attr.default_value();
    for (const AttrEntry& attr : *callee.attrs) inside.attrs[attr.key()] = &site_.resolve(attr.value());
  }

  Status bind_arguments(const Callee& callee, std::span<const Output> inputs, Site& inside) const {
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
      return invalid_argument("function " + callee.name() + " takes " + std::to_string(next) +
                              " inputs, got " + std::to_string(inputs.size()));
    return {};
  }
  Status check_type(const Callee& callee, const OpDef::ArgDef& argument, DataType type, Output value) const {
    TROUPE_ASSIGN(const DType expected, read_dtype(type));
    if (graph_.dtype(value) == expected) return {};
    return invalid_argument("'" + argument.name() + "' of function " + callee.name() + " is " +
                            std::string(name(graph_.dtype(value))) + ", expected " +
                            std::string(name(expected)));
  }

  /// Adds the nodes of a function with names under "call/part/". The node `start` runs before the nodes without inputs or, if
  /// `start_before_all`, before all nodes.
  Result<Instance> instantiate(const Callee& callee, const std::string& part, std::span<const Output> inputs,
                               std::optional<NodeId> start, bool start_before_all = false) {
    TROUPE_RETURN_IF_FAILED(check_depth(callee));
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
    return instance;
  }

  Result<Outputs> outputs_of(const Callee& callee, const Body& body, const Site& inside,
                             const Placed& placed) const {
    std::unordered_map<std::string_view, std::string_view> results;
    for (const NameEntry& entry : callee.function->ret()) results.emplace(entry.key(), entry.value());
    Outputs outputs;
    for (const auto& output : callee.function->signature().output_arg()) {
      const auto fail = [&](const std::string& what) {
        return invalid_argument("output '" + output.name() + "' of function " + callee.name() + ": " + what);
      };
      if (arity(output, inside) != 1)
        return unimplemented(fail("it has several tensors, which is not available").text());
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

  /// Returns the nodes that must have run when the call is done: the control outputs of the function or, if it declares none, all
  /// nodes that change state or have effects outside the graph.
  Result<std::vector<NodeId>> effects_of(const Callee& callee, const Body& body, const Placed& placed) const {
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

  /// Delays the outputs of an instance until its effects have happened.
  Status wait_for_effects(Instance& instance, const std::string& part) {
    if (instance.effects.empty()) return {};
    for (size_t i = 0; i < instance.outputs.values.size(); ++i) {
      Output& value = instance.outputs.values[i];
      TROUPE_ASSIGN(value,
                    add_one("Identity", part + "_result_" + std::to_string(i), {value}, instance.effects));
    }
    return {};
  }

  /// Adds a node with the name of the call that has its outputs and runs after `after`. If the call has one output, the node of
  /// that output already has the name.
  Result<PlacedCall> finish(Outputs outputs, bool has_effects, std::vector<NodeId> after = {}) {
    if (outputs.values.size() == 1) return PlacedCall{outputs, outputs.values[0].node, has_effects};
    const char* const op = outputs.values.empty() ? "NoOp" : "IdentityN";
    TROUPE_ASSIGN(const NodeId done, add(op, "", outputs.values, std::move(after)));
    return PlacedCall{std::move(outputs), done, has_effects};
  }

  // Plain calls.

  /// Adds a node that runs once all inputs and control inputs of the call are available. If the call has none, returns the start
  /// node of the surrounding call, if any.
  Result<std::optional<NodeId>> start_of_call() {
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

  Result<PlacedCall> plain_call(const Callee& callee) {
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
    return finish(std::move(outputs), !instance.effects.empty(), std::move(after));
  }

  // Conditionals.

  Result<Instance> branch(const char* attr, const std::string& part, Output predicate,
                          const std::vector<Output>& switches, uint32_t side) {
    TROUPE_ASSIGN(const Callee callee, callee_of(attr));
    TROUPE_ASSIGN(const Output start, add_one("Identity", part + "/_start", {{predicate.node, side}}));
    std::vector<Output> inputs;
    for (const Output& value : switches) inputs.push_back({value.node, side});
    TROUPE_ASSIGN(Instance instance, instantiate(callee, part + '/', inputs, start.node));
    // A branch without outputs yields its start node's value, so that the Merge knows that it has run.
    if (instance.outputs.values.empty()) instance.outputs.values.push_back(start);
    TROUPE_RETURN_IF_FAILED(wait_for_effects(instance, part + '/'));
    return instance;
  }

  Result<PlacedCall> conditional() {
    if (spec_.inputs.empty()) return invalid_argument("input cond is missing");
    TROUPE_ASSIGN(const Output condition, as_bool(spec_.inputs[0], "_is_true"));
    TROUPE_ASSIGN(const std::vector<NodeId> after, joined(spec_.control_inputs, "_after"));
    TROUPE_ASSIGN(const Output predicate, add_one("Switch", "_cond", {condition, condition}, after));
    std::vector<Output> switches;
    for (size_t i = 1; i < spec_.inputs.size(); ++i) {
      TROUPE_ASSIGN(const Output value,
                    add_one("Switch", "_input_" + std::to_string(i), {spec_.inputs[i], condition}, after));
      switches.push_back(value);
    }
    TROUPE_ASSIGN(const Instance taken, branch("then_branch", "_then", predicate, switches, 1));
    TROUPE_ASSIGN(const Instance other, branch("else_branch", "_else", predicate, switches, 0));
    return merge(taken, other);
  }

  /// Converts a condition to bool: numbers and strings are conditions, too.
  Result<Output> as_bool(Output condition, const std::string& name) {
    if (graph_.dtype(condition) == DType::Bool) return condition;
    return add_one("ToBool", name, {condition});
  }

  Result<PlacedCall> merge(const Instance& taken, const Instance& other) {
    const auto &a = taken.outputs.values, &b = other.outputs.values;
    if (a.size() != b.size() || taken.outputs.arguments.size() != other.outputs.arguments.size())
      return invalid_argument("the branches yield different numbers of values: then_branch " +
                              std::to_string(taken.outputs.arguments.size()) + ", else_branch " +
                              std::to_string(other.outputs.arguments.size()));
    Outputs outputs{{}, {{"output", 0}}};
    for (size_t i = 0; i < a.size(); ++i) {
      TROUPE_ASSIGN(const Output value, add_one("Merge", output_name(i, a.size()), {b[i], a[i]}));
      outputs.values.push_back(value);
    }
    TROUPE_ASSIGN(PlacedCall call,
                  finish(std::move(outputs), !taken.effects.empty() || !other.effects.empty()));
    if (taken.outputs.arguments.empty()) call.outputs = {};  // the branches have only effects
    return call;
  }

  // Loops.

  Result<PlacedCall> loop() {
    const std::vector<Output> variables = spec_.inputs;
    if (variables.empty()) return unimplemented("a While without loop variables is not available");
    TROUPE_ASSIGN(const Callee condition, callee_of("cond"));
    TROUPE_ASSIGN(const Callee step, callee_of("body"));
    TROUPE_ASSIGN(const std::vector<Output> merges, enter(variables));
    TROUPE_ASSIGN(const Instance test, instantiate(condition, "_cond/", merges, merges[0].node));
    if (test.outputs.values.size() != 1)
      return invalid_argument("function " + condition.name() + ", the condition of the loop, yields " +
                              std::to_string(test.outputs.values.size()) + " values; expected 1");
    TROUPE_ASSIGN(const Output goes_on, as_bool(test.outputs.values[0], "_goes_on"));
    TROUPE_ASSIGN(const Output steer, add_one("LoopCond", "_loop_cond", {goes_on}, test.effects));
    std::vector<Output> switches, kept;
    for (size_t i = 0; i < merges.size(); ++i) {
      TROUPE_ASSIGN(const Output side, add_one("Switch", "_switch_" + std::to_string(i), {merges[i], steer}));
      TROUPE_ASSIGN(const Output value,
                    add_one("Identity", "_variable_" + std::to_string(i), {{side.node, 1}}));
      switches.push_back(side);
      kept.push_back(value);
    }
    TROUPE_ASSIGN(const Instance next, instantiate(step, "_body/", kept, kept[0].node));
    TROUPE_RETURN_IF_FAILED(close(merges, next));
    Outputs outputs{{}, {{"output", 0}}};
    for (size_t i = 0; i < switches.size(); ++i) {
      TROUPE_ASSIGN(const Output value,
                    add_one("Exit", output_name(i, switches.size()), {{switches[i].node, 0}}));
      outputs.values.push_back(value);
    }
    return finish(std::move(outputs), !test.effects.empty() || !next.effects.empty());
  }

  /// Adds the Enters and Merges of the loop variables and returns the Merges. close() replaces their second inputs.
  Result<std::vector<Output>> enter(const std::vector<Output>& variables) {
    Attributes attrs{{"frame_name", spec_.name}};
    if (const AttrValue* parallel = find_attr(node_, "parallel_iterations"))
      attrs.set("parallel_iterations", int64_t{site_.resolve(*parallel).i()});
    TROUPE_ASSIGN(const std::vector<NodeId> after, joined(spec_.control_inputs, "_after"));
    std::vector<Output> merges;
    for (size_t i = 0; i < variables.size(); ++i) {
      const std::string number = std::to_string(i);
      TROUPE_ASSIGN(const Output value, add_one("Enter", "_enter_" + number, {variables[i]}, after, attrs));
      TROUPE_RETURN_IF_FAILED(refine(value, i));
      TROUPE_ASSIGN(const Output merged, add_one("Merge", "_merge_" + number, {value, value}));
      merges.push_back(merged);
    }
    return merges;
  }
  /// Refines the shape of a loop variable by the attribute output_shapes, which holds for all iterations.
  Status refine(Output entered, size_t i) {
    const AttrValue* shapes = find_attr(node_, "output_shapes");
    if (!shapes || i >= static_cast<size_t>(shapes->list().shape_size())) return {};
    TROUPE_ASSIGN(const PartialShape shape, read_shape(shapes->list().shape(static_cast<int>(i))));
    if (is_shape_of_handle(graph_.dtype(entered), shape)) return {};
    return graph_.refine_shape(entered, shape);
  }

  Status close(const std::vector<Output>& merges, const Instance& next) {
    const auto& values = next.outputs.values;
    if (values.size() != merges.size())
      return invalid_argument("the body of the loop yields " + std::to_string(values.size()) +
                              " values for " + std::to_string(merges.size()) + " loop variables");
    for (size_t i = 0; i < values.size(); ++i) {
      TROUPE_ASSIGN(const Output value,
                    add_one("NextIteration", "_next_" + std::to_string(i), {values[i]}, next.effects));
      TROUPE_RETURN_IF_FAILED(importer_.close_loop(merges[i].node, 1, value));
    }
    return {};
  }

  Importer& importer_;
  Graph& graph_;
  const NodeDef& node_;
  const NodeSpec spec_;
  const Site& site_;
};

}  // namespace

Result<PlacedCall> place_call(Importer& importer, const NodeDef& node, NodeSpec spec, const Site& site) {
  return Caller(importer, node, std::move(spec), site).run();
}

}  // namespace troupe::interop
