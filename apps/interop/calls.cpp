#include "apps/interop/calls.h"

#include <algorithm>

#include "apps/interop/parse.h"
#include "apps/interop/tensor_proto.h"

namespace troupe::interop {
namespace {

using FunctionAttrs = google::protobuf::RepeatedPtrField<AttrEntry>;

/// A function and the attributes it is called with.
struct Callee {
  const FunctionDef* function = nullptr;
  const FunctionAttrs* attrs = nullptr;
  const std::string& name() const { return function->signature().name(); }
};

bool is_switch(const Node& node) { return node.type() == "Switch" || node.type() == "RefSwitch"; }

/// How many tensors an argument is, when the attributes say so; negative when they do not.
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

/// Its dtype, or DT_INVALID when nothing says so.
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
    std::vector<NodeId> effects;  ///< one at most: the node that runs after all of them
  };

  Result<Callee> callee_of(const char* attr) const {
    const AttrValue* value = find_attr(node_, attr);
    if (!value || !site_.resolve(*value).has_func())
      return invalid_argument(std::string("attribute ") + attr + " is missing, or no function");
    const NameAttrList& name = site_.resolve(*value).func();
    const FunctionDef* function = importer_.library().find(name.name());
    if (!function)
      return not_found(std::string("attribute ") + attr + ": there is no function '" + name.name() + "'");
    return Callee{function, &name.attr()};
  }

  /// A node of the call, "call/name".
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
  /// One node in place of several to wait for.
  Result<std::vector<NodeId>> joined(std::vector<NodeId> nodes, const std::string& name) {
    if (nodes.size() < 2) return nodes;
    TROUPE_ASSIGN(const NodeId all, add("NoOp", name, {}, std::move(nodes)));
    return std::vector<NodeId>{all};
  }
  /// What one of several outputs is called; the only one has the name of the call.
  static std::string output_name(size_t i, size_t count) {
    return count == 1 ? "" : "_output_" + std::to_string(i);
  }

  // ---- instances

  Status check_depth(const Callee& callee) const {
    for (const Site* site = &site_; site; site = site->around)
      if (site->function == callee.function)
        return invalid_argument("function " + callee.name() + " calls itself, which only a loop could end");
    if (site_.depth() >= importer_.limits().function_depth)
      return limit_passed("function_depth", static_cast<uint64_t>(importer_.limits().function_depth));
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
            " inputs there are, or does not say how many argument '" + argument.name() + "' is");
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

  /// The function's nodes under "call/part/". `start` runs before those without inputs, or before all of them.
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
      if (arity(output, inside) != 1) return unimplemented(fail("several tensors in one output").text());
      const auto result = results.find(output.name());
      if (result == results.end()) return fail("nothing yields it");
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

  /// What the function says must have run; of one that says nothing, whatever changes state or reaches outside.
  Result<std::vector<NodeId>> effects_of(const Callee& callee, const Body& body, const Placed& placed) const {
    if (callee.function->control_ret().empty()) return placed.effects;
    std::vector<NodeId> effects;
    for (const NameEntry& control : callee.function->control_ret()) {
      const auto source = body.find(control.value());
      if (!source || source->source >= body.size())
        return invalid_argument("function " + callee.name() + ": there is no node '" + control.value() +
                                "' to run");
      effects.push_back(placed.nodes[source->source]);
    }
    return effects;
  }

  /// The values once the effects have happened.
  Status wait_for_effects(Instance& instance, const std::string& part) {
    if (instance.effects.empty()) return {};
    for (size_t i = 0; i < instance.outputs.values.size(); ++i) {
      Output& value = instance.outputs.values[i];
      TROUPE_ASSIGN(value,
                    add_one("Identity", part + "_result_" + std::to_string(i), {value}, instance.effects));
    }
    return {};
  }

  /// A node called like the call, which has its outputs and runs after all of it; an only output has that name itself.
  Result<PlacedCall> finish(Outputs outputs, bool has_effects, std::vector<NodeId> after = {}) {
    if (outputs.values.size() == 1) return PlacedCall{outputs, outputs.values[0].node, has_effects};
    const char* const op = outputs.values.empty() ? "NoOp" : "IdentityN";
    TROUPE_ASSIGN(const NodeId done, add(op, "", outputs.values, std::move(after)));
    return PlacedCall{std::move(outputs), done, has_effects};
  }

  // ---- plain calls

  /// Runs when every input is there; nothing when there is nothing to wait for.
  Result<std::optional<NodeId>> start_of_call() {
    std::vector<NodeId> after = spec_.control_inputs;
    for (size_t i = 0; i < spec_.inputs.size(); ++i) {
      Output input = spec_.inputs[i];
      // A Switch runs whichever way its value goes.
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

  // ---- conditionals

  Result<Instance> branch(const char* attr, const std::string& part, Output predicate,
                          const std::vector<Output>& switches, uint32_t side) {
    TROUPE_ASSIGN(const Callee callee, callee_of(attr));
    TROUPE_ASSIGN(const Output start, add_one("Identity", part + "/_start", {{predicate.node, side}}));
    std::vector<Output> inputs;
    for (const Output& value : switches) inputs.push_back({value.node, side});
    TROUPE_ASSIGN(Instance instance, instantiate(callee, part + '/', inputs, start.node));
    // What only has effects yields that it has run.
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

  /// Numbers and strings steer, too.
  Result<Output> as_bool(Output condition, const std::string& name) {
    if (graph_.dtype(condition) == DType::Bool) return condition;
    return add_one("ToBool", name, {condition});
  }

  Result<PlacedCall> merge(const Instance& taken, const Instance& other) {
    const auto &a = taken.outputs.values, &b = other.outputs.values;
    if (a.size() != b.size() || taken.outputs.arguments.size() != other.outputs.arguments.size())
      return invalid_argument("the branches yield different numbers of values");
    Outputs outputs{{}, {{"output", 0}}};
    for (size_t i = 0; i < a.size(); ++i) {
      TROUPE_ASSIGN(const Output value, add_one("Merge", output_name(i, a.size()), {b[i], a[i]}));
      outputs.values.push_back(value);
    }
    TROUPE_ASSIGN(PlacedCall call,
                  finish(std::move(outputs), !taken.effects.empty() || !other.effects.empty()));
    if (taken.outputs.arguments.empty()) call.outputs = {};  // it has only effects
    return call;
  }

  // ---- loops

  Result<PlacedCall> loop() {
    const std::vector<Output> variables = spec_.inputs;
    if (variables.empty()) return unimplemented("a loop needs at least one variable");
    TROUPE_ASSIGN(const Callee condition, callee_of("cond"));
    TROUPE_ASSIGN(const Callee step, callee_of("body"));
    TROUPE_ASSIGN(const std::vector<Output> merges, enter(variables));
    TROUPE_ASSIGN(const Instance test, instantiate(condition, "_cond/", merges, merges[0].node));
    if (test.outputs.values.size() != 1)
      return invalid_argument("function " + condition.name() + " must yield one value");
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

  /// The Merges of the variables, whose second inputs wait to be closed.
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
  /// What stays true of a variable's shape, as the node says.
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
      return invalid_argument("the body yields " + std::to_string(values.size()) + " values for " +
                              std::to_string(merges.size()) + " variables");
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
