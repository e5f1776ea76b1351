#include "graph/build/loop_writer.h"

#include <algorithm>

namespace troupe {

LoopContext::LoopContext(std::shared_ptr<FlowContext> outer, Scope outside, Attributes enter)
    : FlowContext(std::move(outer)), outside_(std::move(outside)), enter_(std::move(enter)) {
  enter_.set("is_constant", true);
}

Output LoopContext::make_import(Output outside) {
  const bool is_ref = outside_.graph().type(outside).is_ref;
  return outside_.with_name("invariant").add_one(is_ref ? "RefEnter" : "Enter", {outside}, enter_);
}

std::optional<NodeId> LoopContext::wait(NodeId outside) {
  throw_if_failed(outside_.graph().add_control_input(first_, outside));
  return std::nullopt;
}

bool LoopContext::needs_pivot(const NodeSpec& spec) const {
  return std::all_of(spec.inputs.begin(), spec.inputs.end(),
                     [&](Output input) { return is_imported(input); });
}

// The frame gets the name of the first Enter node, which is unique in the graph.
Attributes new_frame(const Scope& scope, int64_t parallel_iterations) {
  return {{"frame_name", scope.graph().unique_name(scope.prefix() + "enter")},
          {"parallel_iterations", parallel_iterations}};
}

Output integer(const Scope& scope, int32_t value) { return scope.constant(Tensor::scalar(value)); }

Output integers(const Scope& scope, const std::vector<int32_t>& values) {
  return scope.constant(Tensor::vector<int32_t>(std::span<const int32_t>(values)));
}

Output first_dimension(const Scope& scope, Output tensor) {
  const Output shape = scope.add_one("Shape", {tensor});
  const Output first = scope.add_one("Slice", {shape, integers(scope, {0}), integers(scope, {1})});
  return scope.add_one("Reshape", {first, integers(scope, {})});
}

Output element_shape(const Scope& scope, const PartialShape& shape) {
  if (!shape.fully_known()) return integer(scope, -1);
  return integers(scope, {shape.dims().begin(), shape.dims().end()});
}

bool satisfies(const PartialShape& now, const PartialShape& invariant) {
  if (!invariant.known_rank()) return true;
  if (!now.has_rank(invariant.rank())) return false;
  for (size_t axis = 0; axis < invariant.rank(); ++axis)
    if (invariant[axis] != unknown_dim && invariant[axis] != now[axis]) return false;
  return true;
}

LoopWriter::Variable LoopWriter::begin(Output initial, const PartialShape& shape) const {
  const Output enter = outside_.with_name("enter").add_one("Enter", {initial}, attrs_);
  if (inside_.context()) inside_.context()->add_node(enter.node);
  throw_if_failed(inside_.graph().refine_shape(enter, shape));
  return {.enter = enter, .merge = inside_.add_one("Merge", {enter, enter})};
}

void LoopWriter::steer(Variable& variable, Output condition) const {
  const NodeId node = inside_.add("Switch", {variable.merge, condition});
  variable.body = {node, 1};
  variable.exit = inside_.add_one("Exit", {{node, 0}});
}

Status LoopWriter::check(const Variable& variable, const PartialShape& shape, Output next,
                         const std::string& name) const {
  if (next.is_control()) return invalid_argument("the body returns a node, not a tensor, for " + name);
  const Graph& graph = inside_.graph();
  const DType is = inside_.dtype(next), was = graph.dtype(variable.merge);
  if (is != was)
    return invalid_argument(name + " is " + std::string(troupe::name(was)) + ", but the body returns " +
                            std::string(troupe::name(is)));
  if (satisfies(graph.shape(next), shape)) return {};
  return invalid_argument(name + " has shape " + shape.text() + ", but the body returns shape " +
                          graph.shape(next).text() +
                          "; the shape invariant of a variable must allow all its values");
}

void LoopWriter::close(const Variable& variable, Output next) const {
  throw_if_failed(
      inside_.graph().replace_input(variable.merge.node, 1, inside_.add_one("NextIteration", {next})));
}

}  // namespace troupe
