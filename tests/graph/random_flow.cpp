#include "tests/graph/random_flow.h"

#include <random>

namespace troupe::testing {
namespace {

/// What may be used at one place of the graph: values and nodes of one
/// frame that are alive together, unless something made them dead.
struct Block {
  std::vector<Output> values;
  std::vector<NodeId> nodes;
  NodeId pivot = 0;  ///< runs where and when the block runs; nodes without inputs get a control edge from it
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  FlowGraph run(int depth) && {
    Block root;
    add(root, g_.op({}));
    add(root, g_.op({}));
    grow(root, 3 + below(8), depth);
    return std::move(g_);
  }

 private:
  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  bool chance(double p) { return std::bernoulli_distribution(p)(random_); }
  Output pick(const Block& block) { return block.values[below(block.values.size())]; }
  Output add(Block& block, Output value) {
    block.values.push_back(value);
    block.nodes.push_back(value.node);
    return value;
  }
  std::vector<NodeId> some_controls(const Block& block) {
    std::vector<NodeId> controls;
    while (chance(0.2)) controls.push_back(block.nodes[below(block.nodes.size())]);
    return controls;
  }

  Output add_op(Block& block) {
    std::vector<Output> inputs;
    for (size_t n = below(4); n != 0; --n) inputs.push_back(pick(block));
    std::vector<NodeId> controls = some_controls(block);
    if (inputs.empty()) controls.push_back(block.pivot);
    return add(block, g_.op(inputs, controls));
  }

  void grow(Block& block, size_t steps, int depth) {
    for (; steps != 0; --steps) {
      const size_t what = below(depth > 0 ? 10 : 7);
      if (what < 5)
        add_op(block);
      else if (what == 5)
        g_.add("_Send", {pick(block)}, some_controls(block));
      else if (what == 6)
        add_trigger(block);
      else if (what < 9)
        add_conditional(block, depth - 1);
      else
        add_loop(block, depth - 1);
    }
  }

  /// What depends on a trigger only is alive in any case, so nothing else may use it.
  void add_trigger(const Block& block) {
    std::vector<NodeId> controls = some_controls(block);
    controls.push_back(block.nodes[below(block.nodes.size())]);
    const Output trigger = g_.add("ControlTrigger", {}, controls);
    g_.op({}, {trigger.node});
  }

  void add_conditional(Block& block, int depth) {
    const Output predicate = add_op(block);
    Block branches[2];
    for (size_t n = 1 + below(3); n != 0; --n) {
      const Output branch = g_.add("Switch", {pick(block), predicate});
      block.nodes.push_back(branch.node);
      for (uint32_t side = 0; side < 2; ++side) branches[side].values.push_back({branch.node, side});
    }
    for (Block& branch : branches) {
      branch.nodes.push_back(branch.pivot = g_.op({branch.values.front()}).node);
      grow(branch, below(4), depth);
      if (chance(0.2)) block.values.push_back(pick(branch));  // dead unless this branch is taken
    }
    for (size_t n = below(3); n != 0; --n)
      add(block, g_.add("Merge", {pick(branches[0]), pick(branches[1])}, some_controls(block)));
  }

  struct Variable {
    Output merge, kept, left;  ///< the Merge, and the outputs of the Switch for the body and for the Exit
  };

  /// Adds a Merge of a value from outside, which enters by one Enter or by one per side of a Switch, and of a NextIteration.
  Output enter_variable(Block& block, const std::string& frame, int64_t parallel) {
    if (chance(0.8)) return g_.loop_merge(g_.enter(pick(block), frame, false, parallel));
    const Output sides = g_.add("Switch", {pick(block), pick(block)});
    const Output no = g_.enter({sides.node, 0}, frame, false, parallel);
    const Output yes = g_.enter({sides.node, 1}, frame, false, parallel);
    return g_.add("Merge", {no, no, yes});  // input 1 becomes the back edge
  }

  Variable split(Output merge, Output condition) {
    const Output branch = g_.add("Switch", {merge, condition});
    return {merge, {branch.node, 1}, {branch.node, 0}};
  }

  void add_loop(Block& block, int depth) {
    const std::string frame = "loop" + std::to_string(below(3)) + "_" + std::to_string(loops_++);
    const int64_t parallel = std::vector<int64_t>{1, 2, 3, 10}[below(4)];
    const Output start = g_.add("Below", {pick(block)}, {}, {{"limit", int64_t{0}}});
    const Output counter = g_.loop_merge(g_.enter(start, frame, false, parallel));
    const Output below_limit = g_.add("Below", {counter}, {}, {{"limit", static_cast<int64_t>(below(5))}});
    const Output condition = g_.add("LoopCond", {below_limit});

    std::vector<Variable> variables{split(counter, condition)};
    Block body;
    add(body, variables[0].kept);
    for (size_t n = below(3); n != 0; --n) {
      variables.push_back(split(enter_variable(block, frame, parallel), condition));
      add(body, variables.back().kept);
    }
    for (size_t n = below(3); n != 0; --n) add(body, g_.enter(pick(block), frame, true, parallel));
    body.pivot = g_.op({variables[0].kept}).node;
    grow(body, below(5), depth);

    close(variables[0], g_.add("Increment", {variables[0].kept}), body.pivot);
    for (size_t i = 1; i < variables.size(); ++i) close(variables[i], pick(body), body.pivot);
    for (const Variable& variable : variables)
      if (chance(0.8)) add(block, g_.add("Exit", {variable.left}));
  }

  /// The pivot's control edge keeps the values of the last iteration from going around again.
  void close(const Variable& variable, Output next, NodeId pivot) {
    g_.close(variable.merge, g_.add("NextIteration", {next}, {pivot}));
  }

  std::mt19937_64 random_;
  FlowGraph g_;
  size_t loops_ = 0;
};

}  // namespace

FlowGraph random_flow(uint64_t seed, int depth) { return Generator(seed).run(depth); }

}  // namespace troupe::testing
