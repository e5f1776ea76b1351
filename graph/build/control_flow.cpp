#include "graph/build/control_flow.h"

#include <algorithm>

#include "graph/build/flow_context.h"
#include "graph/build/loop_writer.h"

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

class LoopBuilder {
 public:
  LoopBuilder(const Scope& scope, std::vector<Output> variables, const WhileOptions& options)
      : scope_(scope.with_name("").with_prefix(options.name)), graph_(scope.graph()),
        variables_(std::move(variables)), options_(options),
        attrs_(new_frame(scope_, options.parallel_iterations)),
        context_(std::make_shared<LoopContext>(scope_.context(), scope_.without_control(), attrs_)),
        inside_(scope_.without_control().in_context(context_)), writer_(scope_, inside_, attrs_) {}

  std::vector<Output> build(const LoopCondition& condition, const LoopBody& body) {
    check_request();
    enter();
    std::vector<Output> first, kept;
    for (const auto& variable : loop_) first.push_back(variable.merge);
    const Output predicate = condition(inside_.with_prefix("condition"), first);
    const Output steer = inside_.with_name("condition").add_one("LoopCond", {predicate});
    for (auto& variable : loop_) writer_.steer(variable, steer);
    for (const auto& variable : loop_)
      kept.push_back(inside_.with_name("variable").add_one("Identity", {variable.body}));
    context_->set_pivot(kept[0].node);
    close(body(inside_.with_prefix("body"), kept));
    std::vector<Output> exits;
    for (const auto& variable : loop_) exits.push_back(variable.exit);
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

  void enter() {
    for (size_t i = 0; i < variables_.size(); ++i)
      loop_.push_back(writer_.begin(variables_[i], invariant(i)));
    context_->set_first(loop_[0].enter.node);
    context_->set_pivot(loop_[0].merge.node);
  }

  void close(const std::vector<Output>& results) {
    if (results.size() != loop_.size())
      fail(scope_, "while_loop",
           "the body returns " + std::to_string(results.size()) + " values for " +
               std::to_string(loop_.size()) + " variables");
    for (size_t i = 0; i < results.size(); ++i) {
      if (const Status status = writer_.check(loop_[i], invariant(i), results[i], variable(i)); !status.ok())
        fail(scope_, "while_loop", status.text());
      writer_.close(loop_[i], results[i]);
    }
  }

  Scope scope_;
  Graph& graph_;
  std::vector<Output> variables_;
  const WhileOptions& options_;
  Attributes attrs_;
  std::shared_ptr<LoopContext> context_;
  Scope inside_;
  LoopWriter writer_;
  std::vector<LoopWriter::Variable> loop_;
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
