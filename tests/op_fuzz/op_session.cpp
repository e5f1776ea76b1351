#include "tests/op_fuzz/op_session.h"

#include <algorithm>

#include "graph/passes/partition/check_finite.h"

namespace troupe::fuzz {
namespace {

/// The memory of all steps together. Larger tensors must be refused before they are allocated.
constexpr uint64_t memory_cap = 32 << 20;
/// An op may have a million outputs.
constexpr size_t most_fetches = 100;

bool is_reference(const ArgDef* argument) {
  return argument && (argument->is_ref || argument->type == DType::Resource);
}
bool is_variant(const ArgDef* argument) { return argument && argument->type == DType::Variant; }

/// Returns whether only passes make nodes of the op: they end an edge between partitions, for which a step of one op would wait, or
/// belong to the feeds and fetches of a step.
bool is_made_by_passes(const OpDef& op) {
  return op.name == "_Recv" || op.name == "_HostRecv" || op.name == "_Arg" || op.name == "_Retval";
}

/// Returns whether the op forwards the input that comes first.
bool takes_any(const OpDef& op) { return op.name == "Merge" || op.name == "RefMerge"; }

bool is_expected(Code code) {
  switch (code) {
    case Code::InvalidArgument:
    case Code::DataLoss:  // of a compressed string
    case Code::OutOfRange:
    case Code::ResourceExhausted:
    case Code::Unimplemented:
    case Code::FailedPrecondition:
    case Code::NotFound: return true;
    default: return false;
  }
}

std::string fault_of(const OpSample& sample, const Status& failure) {
  if (!is_expected(failure.code())) return "the code is not one that a sample can cause";
  if (failure.text().empty()) return "the text is empty";
  const bool is_of_list = failure.op() == "TensorListFromTensor";  // see build()
  const bool names_another = sample.op->name == check_finite_op;   // the node that its attributes name
  if (!is_of_list && !names_another && (failure.op() != sample.op->name || failure.node() != "node"))
    return "op or node is not named";
  return {};
}

std::vector<Tensor> copies_of(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> copies;
  for (const Tensor& tensor : tensors) copies.push_back(tensor.copy());
  return copies;
}

std::string fault_of(const Node& node, const std::vector<Tensor>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const DType declared = node.output_types[i].dtype;
    if (declared == DType::Resource) continue;
    if (outputs[i].dtype() != declared)
      return "output " + std::to_string(i) + " is declared as " + std::string(name(declared)) + ", but is " +
             outputs[i].signature();
    // The predicate of a loop passes unchecked; the Switch nodes that read it check it.
    if (node.type() != "LoopCond" && !node.output_shapes[i].compatible_with(outputs[i].shape()))
      return "output " + std::to_string(i) + " was inferred as " + node.output_shapes[i].text() +
             ", but is " + outputs[i].signature();
  }
  return {};
}

bool same_bits(const Tensor& x, const Tensor& y) { return x.dtype() == DType::Variant || identical(x, y); }

/// Returns whether the graph may refuse what a step computes: a value that does not fit the declared shape of a variable, a vector
/// of one element as a scalar, which TensorFlow's kernels accept, or the predicate of a loop, which the Switch nodes check.
bool may_be_refused_early(const OpSample& sample, const Status& failure) {
  const auto says = [&](const char* text) { return failure.text().find(text) != std::string::npos; };
  const bool writes =
      std::ranges::any_of(sample.op->inputs, [](const ArgDef& x) { return is_reference(&x); });
  const bool scalar =
      says("of shape [1] has rank 1, expected 0") || says("of shape [?] has rank 1, expected 0");
  return writes || scalar || sample.op->name == "LoopCond";
}

}  // namespace

struct OpSession::Built {
  Graph graph;
  std::vector<Output> sources;
  NodeId id = 0;
};

struct OpSession::Outcome {
  Reached reached = Reached::Refused;
  Status status;
  std::vector<Tensor> outputs;
  std::vector<std::pair<size_t, Tensor>> variables;  ///< their values afterwards, by number of the input
};

bool OpSession::same(const Outcome& a, const Outcome& b) {
  return std::ranges::equal(a.outputs, b.outputs, same_bits) &&
         std::ranges::equal(a.variables, b.variables,
                            [](const auto& x, const auto& y) { return same_bits(x.second, y.second); });
}

OpSession::OpSession()
    : device_(value_or_throw(DeviceName::parse("/job:test/replica:0/task:0/device:CPU:0")), 1, pool_, {},
              std::make_shared<MemoryBudget>(memory_cap)),
      runtime_(test::op_library(), device_) {
  Graph graph(test::op_library()->ops);
  const Scope scope(graph);
  const Output x = scope.add_one("Placeholder", {}, {{"dtype", f32}});
  const Output y = scope.add_one("Mul", {x, scope.constant(Tensor::scalar(2.0F))});
  good_ = value_or_throw(runtime_.prepare(graph, {.feeds = {x}, .fetches = {y}, .targets = {}}));
}

Reached OpSession::check(const OpSample& sample, std::string& broken) {
  const std::vector<Tensor> before = copies_of(sample.inputs);
  const Outcome first = run(sample, sample.inputs, true, broken);
  for (size_t i = 0; i < before.size() && broken.empty(); ++i)
    if (!same_bits(before[i], sample.inputs[i]))
      broken = "input " + std::to_string(i) + " has changed to " + test::text_of(sample.inputs[i]);
  if (!broken.empty()) return first.reached;
  const Outcome second = run(sample, copies_of(before), false, broken);
  if (!broken.empty()) return second.reached;
  const auto exhausted = [](const Outcome& run) { return run.status.code() == Code::ResourceExhausted; };
  for (const Outcome* const run : {&first, &second})
    for (const auto& [i, value] : run->variables)
      if (!run->status.ok() && !same_bits(value, before[i]))
        broken = "the failed step has changed the variable of input " + std::to_string(i) + ": " +
                 run->status.message();
  if (!broken.empty()) return second.reached;
  if (!exhausted(first) && !exhausted(second)) {
    if (!may_be_refused_early(sample, first.status) && first.status.ok() != second.status.ok())
      broken =
          "with known inputs: " + first.status.message() + "\nwith unknown ones: " + second.status.message();
    else if (first.status.ok() && !takes_any(*sample.op) && !same(first, second))
      broken = "the outputs of two runs differ";
  }
  if (broken.empty()) broken = good_step();
  return second.reached;
}

Output OpSession::source(const Scope& scope, const OpSample& sample, size_t input, bool knows) const {
  const ArgDef* const argument = argument_of(*sample.op, input, sample.inputs.size());
  const Tensor& value = sample.inputs[input];
  const auto& known = sample.known[input];
  const PartialShape declared = known.value_or(PartialShape(value.shape()));
  if (is_reference(argument))
    return scope.add_one(argument->is_ref ? "VariableV2" : "VarHandleOp", {},
                         {{"shape", declared}, {"dtype", value.dtype()}});
  if (knows && !known && !is_local(value.dtype())) return scope.constant(value);
  return scope.add_one("Placeholder", {},
                       {{"dtype", value.dtype()}, {"shape", knows ? declared : PartialShape{}}});
}

Result<OpSession::Built> OpSession::build(const OpSample& sample, bool knows) const {
  Built built{Graph(test::op_library()->ops), {}, 0};
  const Scope scope(built.graph);
  std::vector<Output> inputs;
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    inputs.push_back(built.sources.emplace_back(source(scope, sample, i, knows)));
    const bool makes_list = is_variant(argument_of(*sample.op, i, sample.inputs.size())) &&
                            !is_local(sample.inputs[i].dtype()) && sample.inputs[i].shape().rank() > 0;
    if (makes_list)
      inputs.back() =
          scope.add_one("TensorListFromTensor", {inputs.back(), scope.constant(Tensor::scalar(-1))});
  }
  TROUPE_ASSIGN(built.id, built.graph.add({"node", sample.op->name, sample.attrs, inputs, {}, {}, {}}));
  return built;
}

OpSession::Outcome OpSession::run(const OpSample& sample, std::vector<Tensor> inputs, bool knows,
                                  std::string& broken) {
  Outcome outcome;
  auto built = build(sample, knows);
  if (built && !is_made_by_passes(*sample.op)) {
    outcome.reached = Reached::Failed;
    outcome.status = run_step(*built, inputs, outcome);
  } else {
    outcome.status = built.status();
  }
  if (!outcome.status.ok()) {
    if (std::string fault = fault_of(sample, outcome.status); !fault.empty())
      broken = fault + ": " + outcome.status.message();
  } else if (outcome.reached == Reached::Failed) {
    outcome.reached = Reached::Computed;
    broken = fault_of(built->graph.node(built->id), outcome.outputs);
  }
  return outcome;
}

Status OpSession::run_step(Built& built, std::vector<Tensor>& inputs, Outcome& outcome) {
  RunSignature signature;
  std::vector<Tensor> feeds;
  std::vector<std::pair<size_t, std::shared_ptr<StateCell>>> cells;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Node& node = built.graph.node(built.sources[i].node);
    if (node.type() == "Placeholder") {
      signature.feeds.push_back(built.sources[i]);
      feeds.push_back(std::move(inputs[i]));
    } else if (is_variable(node)) {
      TROUPE_ASSIGN(auto cell, runtime_.state().require("", node));
      cell->publish(std::move(inputs[i]));
      cells.emplace_back(i, std::move(cell));
    }
  }
  inputs.clear();
  const size_t results = std::min<size_t>(built.graph.node(built.id).output_types.size(), most_fetches);
  for (uint32_t i = 0; i < results; ++i) signature.fetches.push_back({built.id, i});
  if (results == 0) signature.targets.push_back(built.id);
  Status status;
  if (const auto plan = runtime_.prepare(built.graph, signature)) {
    auto fetched = runtime_.run(*plan, std::move(feeds));
    status = fetched.status();
    if (fetched) outcome.outputs = std::move(*fetched);
  } else {
    status = plan.status();
  }
  for (const auto& [i, cell] : cells) {
    Snapshot snapshot;
    if (cell->try_read(snapshot) == StateCell::Reading::Ready)
      outcome.variables.emplace_back(i, std::move(snapshot.value));
  }
  (void)runtime_.state().drop("");
  return status;
}

std::string OpSession::good_step() {
  const auto outputs = runtime_.run(good_, {Tensor::vector<float>({1, 2, 3})});
  if (!outputs) return "a good step fails afterwards: " + outputs.status().message();
  if (!identical(outputs->at(0), Tensor::vector<float>({2, 4, 6})))
    return "a good step has a wrong result afterwards";
  return {};
}

}  // namespace troupe::fuzz
