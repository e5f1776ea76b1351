// Calls that run functions again and again: While and For.
#include <array>

#include "apps/interop/functions/caller.h"
#include "apps/interop/tensor_proto.h"

namespace troupe::interop {

Result<Caller::LoopResult> Caller::add_loop(Values variables, const Loop& loop,
                                            const std::vector<NodeId>& after,
                                            const std::function<std::string(size_t)>& name_of) {
  TROUPE_ASSIGN(const std::vector<Output> merges, enter(variables, after));
  TROUPE_ASSIGN(const Instance test, loop.goes_on(merges));
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
  TROUPE_ASSIGN(const Instance next, loop.next(kept));
  TROUPE_RETURN_IF_FAILED(close(merges, next));
  LoopResult result{{}, test.has_effects || next.has_effects};
  for (size_t i = 0; i < switches.size(); ++i) {
    TROUPE_ASSIGN(const Output value, add_one("Exit", name_of(i), {{switches[i].node, 0}}));
    result.variables.push_back(value);
  }
  return result;
}

Result<std::vector<Output>> Caller::enter(Values variables, const std::vector<NodeId>& after) {
  Attributes attrs{{"frame_name", spec_.name}};
  if (const AttrValue* parallel = find_attr(node_, "parallel_iterations"))
    attrs.set("parallel_iterations", int64_t{site_.resolve(*parallel).i()});
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

Status Caller::refine(Output entered, size_t i) {
  const AttrValue* shapes = find_attr(node_, "output_shapes");
  if (call_kind(node_.op()) != CallKind::While || !shapes ||
      i >= static_cast<size_t>(shapes->list().shape_size()))
    return {};
  TROUPE_ASSIGN(const PartialShape shape, read_shape(shapes->list().shape(static_cast<int>(i))));
  if (is_shape_of_handle(graph_.dtype(entered), shape)) return {};
  return graph_.refine_shape(entered, shape);
}

Status Caller::close(const std::vector<Output>& merges, const Instance& next) {
  const auto& values = next.outputs.values;
  if (values.size() != merges.size())
    return invalid_argument("the body of the loop yields " + std::to_string(values.size()) + " values for " +
                            std::to_string(merges.size()) + " loop variables");
  for (size_t i = 0; i < values.size(); ++i) {
    TROUPE_ASSIGN(const Output value,
                  add_one("NextIteration", "_next_" + std::to_string(i), {values[i]}, next.effects));
    TROUPE_RETURN_IF_FAILED(importer_.close_loop(merges[i].node, 1, value));
  }
  return {};
}

Result<Output> Caller::constant_beside(Output beside, const std::string& name, const Tensor& value) {
  return add_one("Const", name, {}, {beside.node}, {{"dtype", value.dtype()}, {"value", value}});
}

Result<PlacedCall> Caller::loop() {
  if (spec_.inputs.empty()) return unimplemented("a While without loop variables is not available");
  TROUPE_ASSIGN(const Callee condition, callee_of("cond"));
  TROUPE_ASSIGN(const Callee step, callee_of("body"));
  Loop parts;
  parts.goes_on = [&](Values variables) -> Result<Instance> {
    TROUPE_ASSIGN(Instance test, instantiate(condition, "_cond/", variables, variables[0].node));
    if (test.outputs.values.size() == 1) return test;
    return invalid_argument("function " + condition.name() + ", the condition of the loop, yields " +
                            std::to_string(test.outputs.values.size()) + " values; expected 1");
  };
  parts.next = [&](Values variables) { return instantiate(step, "_body/", variables, variables[0].node); };
  TROUPE_ASSIGN(const std::vector<NodeId> after, joined(spec_.control_inputs, "_after"));
  const size_t count = spec_.inputs.size();
  TROUPE_ASSIGN(LoopResult result,
                add_loop(spec_.inputs, parts, after, [&](size_t i) { return output_name(i, count); }));
  return finish({std::move(result.variables), {{"output", 0}}}, result.has_effects);
}

// For(start, limit, delta, input...): the loop variables are the number, limit and delta, and the inputs of the body.
Result<PlacedCall> Caller::counted_loop() {
  constexpr size_t numbers = 3;
  if (spec_.inputs.size() < numbers) return invalid_argument("inputs start, limit and delta are missing");
  TROUPE_ASSIGN(const Callee step, callee_of("body"));
  TROUPE_ASSIGN(const std::vector<NodeId> after, check_numbers());
  Loop parts;
  parts.goes_on = [&](Values variables) -> Result<Instance> {
    TROUPE_ASSIGN(const Output sign, add_one("Sign", "_sign", {variables[2]}));
    TROUPE_ASSIGN(const Output number, add_one("Mul", "_signed_number", {variables[0], sign}));
    TROUPE_ASSIGN(const Output limit, add_one("Mul", "_signed_limit", {variables[1], sign}));
    TROUPE_ASSIGN(const Output less, add_one("Less", "_less", {number, limit}));
    return Instance{{{less}, {}}, {}};
  };
  parts.next = [&](Values variables) -> Result<Instance> {
    std::vector<Output> inputs(variables.begin() + numbers, variables.end());
    inputs.insert(inputs.begin(), variables[0]);
    TROUPE_ASSIGN(Instance next, instantiate(step, "_body/", inputs, variables[0].node));
    TROUPE_ASSIGN(const Output number, add_one("Add", "_next_number", {variables[0], variables[2]}));
    const std::array first = {number, variables[1], variables[2]};
    next.outputs.values.insert(next.outputs.values.begin(), first.begin(), first.end());
    return next;
  };
  const size_t count = spec_.inputs.size() - numbers;
  TROUPE_ASSIGN(LoopResult result, add_loop(spec_.inputs, parts, after, [&](size_t i) {
                  return i < numbers ? "_exit_" + std::to_string(i) : output_name(i - numbers, count);
                }));
  const NodeId counter = result.variables[0].node;
  result.variables.erase(result.variables.begin(), result.variables.begin() + numbers);
  return finish({std::move(result.variables), {{"output", 0}}}, result.has_effects, {counter});
}

// Adds the check that delta leads from start to limit.
Result<std::vector<NodeId>> Caller::check_numbers() {
  const Output start = spec_.inputs[0], limit = spec_.inputs[1], delta = spec_.inputs[2];
  TROUPE_ASSIGN(const Output way, add_one("Sub", "_way", {limit, start}));
  TROUPE_ASSIGN(const Output way_sign, add_one("Sign", "_way_sign", {way}));
  TROUPE_ASSIGN(const Output delta_sign, add_one("Sign", "_delta_sign", {delta}));
  TROUPE_ASSIGN(const Output leads, add_one("Equal", "_leads", {way_sign, delta_sign}));
  TROUPE_ASSIGN(const Output empty, add_one("Equal", "_empty", {start, limit}));
  TROUPE_ASSIGN(const Output valid, add_one("LogicalOr", "_valid", {leads, empty}));
  TROUPE_ASSIGN(const NodeId check, add("Assert", "_check", {valid, start, limit, delta},
                                        spec_.control_inputs, {{"T", std::vector<DType>(3, DType::Int32)}}));
  return std::vector<NodeId>{check};
}

}  // namespace troupe::interop
