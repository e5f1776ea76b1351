#include "graph/build/loop_gradient.h"

#include <cstring>

namespace troupe {
namespace {

/// A value on its way into nested branches.
struct Routed {
  Output inner;
  std::vector<Output> others;  ///< the value where a branch is not taken, from the outermost
};

Routed route_in(const Scope& scope, Output value, const Guards& guards) {
  Routed routed{value, {}};
  for (const Guard& guard : guards) {
    const NodeId node = scope.add("Switch", {routed.inner, guard.predicate});
    routed.others.push_back({node, 1 - guard.side});
    routed.inner = {node, guard.side};
  }
  return routed;
}

/// Returns the value after the branches: `inner` where all are taken.
Output route_out(const Scope& scope, const Routed& routed, Output inner) {
  for (size_t i = routed.others.size(); i-- != 0;) inner = scope.add_one("Merge", {routed.others[i], inner});
  return inner;
}

}  // namespace

std::string folder_of(const Graph& graph, const Loop& loop) {
  const std::string& name = graph.node(loop.condition).name;
  const size_t end = name.rfind('/');
  return end == std::string::npos ? name : name.substr(0, end);
}

// ---- the forward loop

ForwardLoop::ForwardLoop(Graph& graph, Loops& loops, const Loop& loop)
    : scope_(Scope(graph)
                 .with_device(graph.node(loop.condition).device)
                 .with_prefix(folder_of(graph, loop) + "/saved")),
      loops_(loops), loop_(loop), writer_(scope_, scope_, loops.enter_attributes(loop.frame)),
      guards_(loops.guards_around(loop.frame)) {}

/// Returns a constant outside of all loops as a value in this frame.
Output ForwardLoop::entered(Output constant, FrameId frame) {
  if (frame == root_frame) return constant;
  Attributes attrs = loops_.enter_attributes(frame);
  attrs.set("is_constant", true);
  return scope_.with_name("invariant").add_one("Enter", {entered(constant, loops_.parent_of(frame))}, attrs);
}

/// Returns a constant where the loop begins: in its parent frame, and in the branches around it.
Output ForwardLoop::initial(const Tensor& value) {
  return route_in(scope_, entered(scope_.constant(value), loop_.parent), guards_).inner;
}

Output ForwardLoop::initial_list(DType element) {
  const Output empty = scope_.add_one("EmptyTensorList", {integer(scope_, -1), integer(scope_, -1)},
                                      {{"element_dtype", element}});
  return route_in(scope_, entered(empty, loop_.parent), guards_).inner;
}

LoopWriter::Variable ForwardLoop::begin(Output initial) {
  LoopWriter::Variable variable = writer_.begin(initial, PartialShape::scalar());
  writer_.steer(variable, {loop_.condition, 0});
  loops_.record(variable.exit.node, loop_.parent, guards_);
  return variable;
}

Output ForwardLoop::count() {
  const LoopWriter::Variable counter = begin(initial(Tensor::scalar<int32_t>(0)));
  const Output one = entered(integer(scope_, 1), loop_.frame);
  writer_.close(counter, scope_.add_one("Add", {counter.body, one}));
  return counter.exit;
}

Output ForwardLoop::save(Output value) {
  const LoopWriter::Variable list = begin(initial_list(scope_.dtype(value)));
  const Routed routed = route_in(scope_, list.body, loops_.guards(value));
  const Output pushed = scope_.add_one("TensorListPushBack", {routed.inner, value});
  writer_.close(list, route_out(scope_, routed, pushed));
  return list.exit;
}

Output ForwardLoop::read(std::string_view op, const Attributes& attrs, Output value) {
  const Output result = scope_.add_one(op, {value}, attrs);
  loops_.record(result.node, loop_.frame, loops_.guards(value));
  return result;
}

// ---- the backward loop

/// Imports values of the forward loop by popping what it saved.
class BackwardContext final : public LoopContext {
 public:
  BackwardContext(const Scope& outside, const Attributes& enter, BackwardLoop& loop)
      : LoopContext(outside.context(), outside.without_control(), enter), loop_(loop) {}

  /// Only the shape of a value is saved if nothing else is needed.
  void import_inputs(NodeSpec& spec) override {
    if (spec.inputs.size() == 1 && is_of_forward_loop(spec.inputs[0])) import_shape(spec);
    LoopContext::import_inputs(spec);
  }

  Output import_value(Output output) override {
    if (!is_of_forward_loop(output)) return LoopContext::import_value(output);
    if (const auto known = saved_.find(output); known != saved_.end()) return known->second;
    const Output value = saved_value(output);
    return saved_[output] = value;
  }

 protected:
  /// A gradient depends on the forward loop by its inputs.
  std::optional<NodeId> wait(NodeId) override { return std::nullopt; }

 private:
  Graph& graph() const { return loop_.outside_.graph(); }
  bool is_of_forward_loop(Output output) const {
    return loop_.loops_.frame_of(output.node) == loop_.forward_.loop().frame;
  }

  Output saved_value(Output output) {
    const Node& node = graph().node(output.node);
    const FlowKind kind = flow_kind(node);
    if (kind == FlowKind::Enter) return LoopContext::import_value(node.inputs[0]);
    if (node.type() == "Const") return loop_.inside_.constant(node.attrs.get<Tensor>("value"));
    const bool forwards =
        node.type() == "Identity" || (kind == FlowKind::Switch && loop_.loops_.steers(node.id));
    if (forwards) return import_value(node.inputs[0]);
    if (graph().dtype(output) == DType::Resource)
      throw Error(unimplemented("the gradient of a loop cannot use a handle that is made in the loop")
                      .at_node(node.type(), node.name));
    return loop_.pop(output);
  }

  void import_shape(NodeSpec& spec) {
    const Output value = spec.inputs[0];
    if (saved_.contains(value) || is_local(graph().dtype(value))) return;
    if (spec.op == "Shape" || spec.op == "Size" || spec.op == "Rank") {
      spec.inputs[0] = loop_.forward_.read(spec.op, spec.attrs, value);
      spec.op = "Identity";
      spec.attrs = {};
    } else if (spec.op == "ZerosLike" && is_differentiable(graph().dtype(value))) {
      const DType dtype = graph().dtype(value);
      spec.op = "Fill";
      spec.inputs = {shape_of_saved(value), zero(dtype)};
    }
  }

  Output shape_of_saved(Output value) {
    const PartialShape shape = graph().shape(value);
    if (shape.fully_known()) return element_shape(loop_.inside_, shape);
    return loop_.forward_.read("Shape", {}, value);
  }
  Output zero(DType dtype) const {
    Tensor zero = value_or_throw(Tensor::allocate(dtype, Shape{}));
    std::memset(zero.mutable_data(), 0, zero.bytes());
    return loop_.inside_.constant(zero);
  }

  BackwardLoop& loop_;
  std::map<Output, Output> saved_;
};

BackwardLoop::BackwardLoop(const Scope& outside, Loops& loops, const Loop& loop)
    : loops_(loops), forward_(outside.graph(), loops, loop),
      attrs_(new_frame(outside,
                       std::get<int64_t>(*loops.enter_attributes(loop.frame).find("parallel_iterations")))),
      outside_(outside), context_(std::make_shared<BackwardContext>(outside, attrs_, *this)),
      inside_(outside.without_control().in_context(context_)), writer_(outside_, inside_, attrs_) {
  const Output count = forward_.count();
  if (outside_.context()) outside_.context()->add_node(count.node);
  LoopWriter::Variable left = writer_.begin(count, PartialShape::scalar());
  context_->set_first(left.enter.node);
  context_->set_pivot(left.merge.node);
  const Output goes_on = inside_.add_one("Greater", {left.merge, integer(inside_, 0)});
  condition_ = inside_.with_name("condition").add_one("LoopCond", {goes_on});
  writer_.steer(left, condition_);
  const Output now = inside_.add_one("Identity", {left.body});
  context_->set_pivot(now.node);
  writer_.close(left, inside_.add_one("Sub", {now, integer(inside_, 1)}));
}

LoopWriter::Variable BackwardLoop::begin(Output initial, const PartialShape& shape) {
  LoopWriter::Variable variable = writer_.begin(initial, shape);
  writer_.steer(variable, condition_);
  return variable;
}

Output BackwardLoop::pop(Output value) {
  Graph& graph = outside_.graph();
  const DType dtype = graph.dtype(value);
  const PartialShape shape = graph.shape(value);
  const Output saved = forward_.save(value);
  if (outside_.context()) outside_.context()->add_node(saved.node);
  const LoopWriter::Variable list = begin(saved, PartialShape::scalar());
  const Routed routed = route_in(inside_, list.body, loops_.guards(value));
  const NodeId popped =
      inside_.add("TensorListPopBack",
                  {routed.inner, is_local(dtype) ? integer(inside_, -1) : element_shape(inside_, shape)},
                  {{"element_dtype", dtype}});
  throw_if_failed(graph.refine_shape({popped, 1}, shape));
  close(list, route_out(inside_, routed, {popped, 0}));
  return {popped, 1};
}

}  // namespace troupe
