// Calls that choose between functions: If and Case.
#include "apps/interop/functions/caller.h"

namespace troupe::interop {

Result<Caller::Instance> Caller::branch(const Callee& callee, const std::string& part, Values inputs,
                                        std::optional<NodeId> start) {
  TROUPE_ASSIGN(Instance instance, instantiate(callee, part, inputs, start));
  // A branch without outputs yields its start node's value, so that the Merge knows that it has run.
  if (instance.outputs.values.empty() && start) instance.outputs.values.push_back({*start, 0});
  TROUPE_RETURN_IF_FAILED(wait_for_effects(instance, part));
  return instance;
}

Result<Output> Caller::as_bool(Output condition, const std::string& name) {
  if (graph_.dtype(condition) == DType::Bool) return condition;
  return add_one("ToBool", name, {condition});
}

Result<Caller::Instance> Caller::choose(Output condition, Values inputs, const std::string& part,
                                        const std::vector<NodeId>& after, const Side& taken,
                                        const Side& other) {
  TROUPE_ASSIGN(const Output predicate, add_one("Switch", part + "_cond", {condition, condition}, after));
  std::vector<Output> switches;
  for (size_t i = 0; i < inputs.size(); ++i) {
    TROUPE_ASSIGN(const Output value,
                  add_one("Switch", part + "_input_" + std::to_string(i + 1), {inputs[i], condition}, after));
    switches.push_back(value);
  }
  const auto add_side = [&](uint32_t output, const Side& side) -> Result<Instance> {
    const std::string name = part + (output == 1 ? "_then/_start" : "_else/_start");
    TROUPE_ASSIGN(const Output start, add_one("Identity", name, {{predicate.node, output}}));
    std::vector<Output> values;
    for (const Output& value : switches) values.push_back({value.node, output});
    return side(values, start.node);
  };
  TROUPE_ASSIGN(const Instance first, add_side(1, taken));
  TROUPE_ASSIGN(const Instance second, add_side(0, other));
  return merge(first, second, part);
}

Result<Caller::Instance> Caller::merge(const Instance& taken, const Instance& other,
                                       const std::string& part) {
  const auto &a = taken.outputs.values, &b = other.outputs.values;
  if (a.size() != b.size() || taken.outputs.arguments.size() != other.outputs.arguments.size())
    return invalid_argument(
        "the branches yield different numbers of values: " + std::to_string(taken.outputs.arguments.size()) +
        " and " + std::to_string(other.outputs.arguments.size()));
  Instance merged;
  merged.outputs.arguments = taken.outputs.arguments;
  merged.has_effects = taken.has_effects || other.has_effects;
  for (size_t i = 0; i < a.size(); ++i) {
    const std::string name = part.empty() ? output_name(i, a.size()) : part + "_output_" + std::to_string(i);
    TROUPE_ASSIGN(const Output value, add_one("Merge", name, {b[i], a[i]}));
    merged.outputs.values.push_back(value);
  }
  return merged;
}

Result<PlacedCall> Caller::finish_choice(Instance chosen) {
  const bool has_outputs = !chosen.outputs.arguments.empty();
  chosen.outputs.arguments = {{"output", 0}};
  TROUPE_ASSIGN(PlacedCall call, finish(std::move(chosen.outputs), chosen.has_effects));
  if (!has_outputs) call.outputs = {};  // the branches have only effects
  return call;
}

Result<PlacedCall> Caller::conditional() {
  if (spec_.inputs.empty()) return invalid_argument("input cond is missing");
  TROUPE_ASSIGN(const Output condition, as_bool(spec_.inputs[0], "_is_true"));
  TROUPE_ASSIGN(const std::vector<NodeId> after, joined(spec_.control_inputs, "_after"));
  const auto side = [this](const char* attr, const char* part) {
    return [this, attr, part](Values inputs, NodeId start) -> Result<Instance> {
      TROUPE_ASSIGN(const Callee callee, callee_of(attr));
      return branch(callee, part, inputs, start);
    };
  };
  TROUPE_ASSIGN(Instance chosen, choose(condition, Values(spec_.inputs).subspan(1), "", after,
                                        side("then_branch", "_then/"), side("else_branch", "_else/")));
  return finish_choice(std::move(chosen));
}

Result<PlacedCall> Caller::choice() {
  if (spec_.inputs.empty()) return invalid_argument("input branch_index is missing");
  const AttrValue* const branches = find_attr(node_, "branches");
  std::vector<Callee> callees;
  if (branches)
    for (const NameAttrList& function : site_.resolve(*branches).list().func()) {
      TROUPE_ASSIGN(const Callee callee, callee_named("branches", function));
      callees.push_back(callee);
    }
  if (callees.empty()) return invalid_argument("attribute branches is missing or has no functions");
  if (callees.size() == 1) {
    spec_.inputs.erase(spec_.inputs.begin());
    return plain_call(callees[0]);
  }
  TROUPE_ASSIGN(Instance chosen, choose_from(callees, 0, spec_.inputs, std::nullopt));
  return finish_choice(std::move(chosen));
}

Result<Caller::Instance> Caller::choose_from(std::span<const Callee> callees, size_t first, Values inputs,
                                             std::optional<NodeId> start) {
  const std::string number = std::to_string(first), part = first == 0 ? "" : "_from_" + number + '/';
  if (first + 1 == callees.size())
    return branch(callees[first], "_branch_" + number + '/', inputs.subspan(1), start);
  TROUPE_ASSIGN(const Output index, add_one("Identity", part + "_index", {inputs[0]}));
  TROUPE_ASSIGN(const Output this_one,
                constant_beside(index, part + "_number", Tensor::scalar(static_cast<int32_t>(first))));
  TROUPE_ASSIGN(const Output is_this, add_one("Equal", part + "_is_this", {index, this_one}));
  std::vector<NodeId> after;
  if (first == 0) {
    TROUPE_ASSIGN(after, joined(spec_.control_inputs, "_after"));
  }
  return choose(
      is_this, inputs, part, after,
      [&](Values values, NodeId begin) {
        return branch(callees[first], "_branch_" + number + '/', values.subspan(1), begin);
      },
      [&](Values values, NodeId begin) { return choose_from(callees, first + 1, values, begin); });
}

}  // namespace troupe::interop
