#include "graph/build/control_flow.h"

#include <algorithm>

#include "graph/build/flow_context.h"

namespace troupe {
namespace {

[[noreturn]] void fail(const Scope& scope, std::string_view op, std::string text) {
  std::string name = scope.prefix();
  if (!name.empty()) name.pop_back();  // removes the slash
  throw Error(invalid_argument(std::move(text)).at_node(op, name));
}

// Conditionals

/// The Switch nodes of one conditional. Both of its branches use them.
class Switches {
 public:
  Switches(Scope scope, Output predicate) : scope_(std::move(scope)), predicate_(predicate) {}

  NodeId of(Output value) {
    const auto known = switches_.find(value);
    if (known != switches_.end()) return known->second;
    const char* op = scope_.graph().type(value).is_ref ? "RefSwitch" : "Switch";
    return switches_[value] = scope_.add(op, {value, predicate_});
  }

 private:
  Scope scope_;
  Output predicate_;
  std::map<Output, NodeId> switches_;
};

class BranchContext : public FlowContext {
 public:
  BranchContext(std::shared_ptr<FlowContext> outer, std::shared_ptr<Switches> switches, uint32_t side)
      : FlowContext(std::move(outer)), switches_(std::move(switches)), side_(side) {}

 protected:
  Output make_import(Output outside) override { return {switches_->of(outside), side_}; }
  std::optional<NodeId> wait(NodeId outside) override { return outside; }
  bool needs_pivot(const NodeSpec& spec) const override { return spec.inputs.empty(); }

 private:
  std::shared_ptr<Switches> switches_;
  uint32_t side_;
};

/// Builds a branch and returns its results, as values of the branch's
/// context. `side` is the output of the Switch nodes that leads to it.
std::vector<Output> build_branch(const Scope& scope, const std::shared_ptr<Switches>& switches,
                                 Output predicate, uint32_t side, const Branch& branch) {
  const auto context = std::make_shared<BranchContext>(scope.context(), switches, side);
  const NodeId pivot = scope.with_name(side == 1 ? "then_pivot" : "otherwise_pivot")
                           .add("Identity", {{switches->of(predicate), side}});
  context->add_node(pivot);
  context->set_pivot(pivot);
  const Scope inside =
      scope.without_control().with_prefix(side == 1 ? "then" : "otherwise").in_context(context);
  std::vector<Output> results = branch(inside);
  for (Output& result : results)
    result = result.is_control() ? inside.with_control({result}).add_one("Identity", {{pivot, 0}})
                                 : context->import_value(scope.checked(result));
  return results;
}

// Loops

class LoopContext : public FlowContext {
 public:
  /// Enter nodes of values from outside are added to the scope `outside`. `first` is the Enter node of the first variable.
  LoopContext(std::shared_ptr<FlowContext> outer, Scope outside, Attributes enter, NodeId first)
      : FlowContext(std::move(outer)), outside_(std::move(outside)), enter_(std::move(enter)), first_(first) {
    enter_.set("is_constant", true);
  }

 protected:
  Output make_import(Output outside) override {
    const bool is_ref = outside_.graph().type(outside).is_ref;
    return outside_.with_name("invariant").add_one(is_ref ? "RefEnter" : "Enter", {outside}, enter_);
  }
  /// No iteration begins before the first variable has entered, so that variable's Enter waits for the node.
  std::optional<NodeId> wait(NodeId outside) override {
    throw_if_failed(outside_.graph().add_control_input(first_, outside));
    return std::nullopt;
  }
  bool needs_pivot(const NodeSpec& spec) const override {
    return std::all_of(spec.inputs.begin(), spec.inputs.end(),
                       [&](Output input) { return is_imported(input); });
  }

 private:
  Scope outside_;
  Attributes enter_;
  NodeId first_;
};

/// Returns true if every tensor of shape `now` also has the shape `invariant`.
bool satisfies(const PartialShape& now, const PartialShape& invariant) {
  if (!invariant.known_rank()) return true;
  if (!now.has_rank(invariant.rank())) return false;
  for (size_t axis = 0; axis < invariant.rank(); ++axis)
    if (invariant[axis] != unknown_dim && invariant[axis] != now[axis]) return false;
  return true;
}

class LoopBuilder {
 public:
  LoopBuilder(const Scope& scope, std::vector<Output> variables, const WhileOptions& options)
      : scope_(scope.with_name("").with_prefix(options.name)), graph_(scope.graph()),
        variables_(std::move(variables)), options_(options) {}

  std::vector<Output> build(const LoopCondition& condition, const LoopBody& body) {
    check_request();
    const Scope inside = enter();
    const Output predicate = condition(inside.with_prefix("condition"), merges_);
    const Output steer = inside.with_name("condition").add_one("LoopCond", {predicate});
    std::vector<Output> sides, kept;
    for (const Output& merge : merges_) sides.push_back(inside.add_one("Switch", {merge, steer}));
    for (const Output& side : sides)
      kept.push_back(inside.with_name("variable").add_one("Identity", {{side.node, 1}}));
    context_->set_pivot(kept[0].node);
    close(inside, body(inside.with_prefix("body"), kept));
    std::vector<Output> exits;
    for (const Output& side : sides) exits.push_back(inside.add_one("Exit", {{side.node, 0}}));
    return exits;
  }

 private:
  void check_request() {
    if (variables_.empty()) fail(scope_, "while_loop", "a loop needs at least one variable");
    const size_t invariants = options_.shape_invariants.size();
    if (invariants != 0 && invariants != variables_.size())
      fail(scope_, "while_loop",
           "there are " + std::to_string(variables_.size()) + " variables, but " +
               std::to_string(invariants) + " shape invariants");
    for (size_t i = 0; i < variables_.size(); ++i)
      if (!satisfies(scope_.shape(variables_[i]), invariant(i)))
        fail(scope_, "while_loop",
             variable(i) + " begins with shape " + graph_.shape(variables_[i]).text() +
                 ", which contradicts its shape invariant " + invariant(i).text());
  }
  PartialShape invariant(size_t i) const {
    return options_.shape_invariants.empty() ? scope_.shape(variables_[i]) : options_.shape_invariants[i];
  }
  std::string variable(size_t i) const {
    return "variable " + std::to_string(i) + " (" + graph_.name_of(variables_[i]) + ')';
  }

  /// Adds the Enter and Merge nodes. Returns the scope inside the loop.
  Scope enter() {
    // The frame gets the name of its first Enter node, which is unique in the graph.
    const Attributes attrs{{"frame_name", graph_.unique_name(scope_.prefix() + "enter")},
                           {"parallel_iterations", options_.parallel_iterations}};
    std::vector<Output> enters;
    for (const Output& variable : variables_)
      enters.push_back(scope_.with_name("enter").add_one("Enter", {variable}, attrs));
    context_ =
        std::make_shared<LoopContext>(scope_.context(), scope_.without_control(), attrs, enters[0].node);
    const Scope inside = scope_.without_control().in_context(context_);
    for (size_t i = 0; i < enters.size(); ++i) {
      context_->add_node(enters[i].node);
      throw_if_failed(graph_.refine_shape(enters[i], invariant(i)));
      merges_.push_back(inside.add_one("Merge", {enters[i], enters[i]}));
    }
    context_->set_pivot(merges_[0].node);
    return inside;
  }

  void close(const Scope& inside, const std::vector<Output>& results) {
    if (results.size() != merges_.size())
      fail(scope_, "while_loop",
           "the body returns " + std::to_string(results.size()) + " values for " +
               std::to_string(merges_.size()) + " variables");
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i].is_control())
        fail(scope_, "while_loop", "the body returns a node, not a tensor, for " + variable(i));
      const DType is = scope_.dtype(results[i]), was = graph_.dtype(merges_[i]);
      if (is != was)
        fail(scope_, "while_loop",
             variable(i) + " is " + std::string(name(was)) + ", but the body returns " +
                 std::string(name(is)));
      const PartialShape& shape = graph_.shape(results[i]);
      if (!satisfies(shape, invariant(i)))
        fail(scope_, "while_loop",
             variable(i) + " has shape " + invariant(i).text() + ", but the body returns shape " +
                 shape.text() + "; WhileOptions::shape_invariants must allow both");
      throw_if_failed(
          graph_.replace_input(merges_[i].node, 1, inside.add_one("NextIteration", {results[i]})));
    }
  }

  Scope scope_;
  Graph& graph_;
  std::vector<Output> variables_;
  const WhileOptions& options_;
  std::shared_ptr<LoopContext> context_;
  std::vector<Output> merges_;
};

}  // namespace

std::vector<Output> cond(const Scope& caller, Output predicate, const Branch& then, const Branch& otherwise) {
  const Scope scope = caller.with_name("").with_prefix("cond");
  const auto switches = std::make_shared<Switches>(scope, scope.checked(predicate));
  const std::vector<Output> taken = build_branch(scope, switches, predicate, 1, then);
  const std::vector<Output> other = build_branch(scope, switches, predicate, 0, otherwise);
  if (taken.size() != other.size() || taken.empty())
    fail(scope, "cond",
         "one branch returns " + std::to_string(taken.size()) + " results, the other " +
             std::to_string(other.size()) + "; both must return the same number, at least one");
  std::vector<Output> results;
  for (size_t i = 0; i < taken.size(); ++i) {
    const DType a = scope.dtype(taken[i]), b = scope.dtype(other[i]);
    if (a != b)
      fail(scope, "cond",
           "result " + std::to_string(i) + " is " + std::string(name(a)) + " in one branch and " +
               std::string(name(b)) + " in the other");
    results.push_back(scope.add_one("Merge", {other[i], taken[i]}));
  }
  return results;
}

std::vector<Output> while_loop(const Scope& scope, std::vector<Output> variables,
                               const LoopCondition& condition, const LoopBody& body,
                               const WhileOptions& options) {
  return LoopBuilder(scope, std::move(variables), options).build(condition, body);
}

}  // namespace troupe
