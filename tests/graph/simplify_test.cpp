#include "graph/passes/simplify/simplify.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numeric>
#include <random>

#include "tests/graph/toy_graph.h"

namespace troupe::simplify_test {
namespace {

using testing::says;
using testing::ToyGraph;

/// Evaluates scalars of floats. Div refuses to divide by zero.
Result<std::vector<Tensor>> evaluate(const Graph& graph, const Node& node, std::span<const Tensor> inputs) {
  BOOST_TEST(graph.find(node.name) == &node);
  const std::string& op = node.type();
  if (op == "Split") return std::vector<Tensor>(static_cast<size_t>(node.attrs.get<int64_t>("N")), inputs[0]);
  std::vector<float> x;
  for (const Tensor& input : inputs) {
    if (input.dtype() != f32) return unimplemented(op);
    x.push_back(input.as<float>()[0]);
  }
  if (op == "AddN") return std::vector{Tensor::scalar(std::accumulate(x.begin(), x.end(), 0.0f))};
  if (op == "Neg" || op == "Identity") return std::vector{Tensor::scalar(op == "Neg" ? -x[0] : x[0])};
  if (op == "Add") return std::vector{Tensor::scalar(x[0] + x[1])};
  if (op == "Sub") return std::vector{Tensor::scalar(x[0] - x[1])};
  if (op == "Mul") return std::vector{Tensor::scalar(x[0] * x[1])};
  if (op == "Div" && x[1] != 0) return std::vector{Tensor::scalar(x[0] / x[1])};
  return invalid_argument("cannot");
}

struct Simple {
  Subgraph subgraph;
  SimplifyReport report;

  const Node& operator[](const std::string& name) const { return *subgraph.graph.find(name); }
  bool has(const std::string& name) const { return subgraph.graph.find(name) != nullptr; }
  std::string input(const std::string& name, size_t i = 0) const {
    return subgraph.graph.name_of((*this)[name].inputs[i]);
  }
};

Simple simple(const ToyGraph& g, std::vector<Output> fetches, std::vector<NodeId> targets = {},
              SimplifyOptions options = {evaluate}) {
  Simple result{value_or_throw(cut_subgraph(g.graph(), {{}, std::move(fetches), std::move(targets)})), {}};
  result.report = value_or_throw(simplify(result.subgraph, options));
  return result;
}

/// Returns the source of the only fetch.
std::string source(const Simple& s) {
  return s.subgraph.graph.name_of(s.subgraph.graph.node(s.subgraph.roots.back()).inputs[0]);
}

float value(const Simple& s, const std::string& name) {
  BOOST_REQUIRE_EQUAL(s[name].type(), "Const");
  return s[name].attrs.get<Tensor>("value").as<float>()[0];
}

}  // namespace

BOOST_AUTO_TEST_SUITE(simplifying)

// x -> Identity -> StopGradient -> Neg
BOOST_AUTO_TEST_CASE(identities_are_bypassed) {
  ToyGraph g;
  const Output x = g.placeholder("x");
  const Output y = g.op("y", "Neg", {g.op("stop", "StopGradient", {g.op("same", "Identity", {x})})});
  const Simple s = simple(g, {y});
  BOOST_TEST(s.input("y") == "x:0");
  BOOST_TEST(s.report.bypassed == 2);
  BOOST_TEST(s.report.removed == 2);
  BOOST_TEST(s.subgraph.graph.size() == 3);
  BOOST_TEST((s.subgraph.origin == std::vector<NodeId>{x.node, y.node, no_node}));
}

BOOST_AUTO_TEST_CASE(identities_that_must_stay) {
  ToyGraph g;
  const Output x = g.placeholder("x"), v = g.variable("v");
  const Output after = g.op("after", "Identity", {x}, {g.op("noop", "NoOp", {}).node});
  const Output read = g.op("read", "Identity", {v});
  const Output elsewhere = g.on("/gpu:0", "elsewhere", "Identity", {x});
  const Output target = g.op("target", "Identity", {x});
  const Output named = g.op("named", "Identity", {x});
  g.op("sum", "AddN", {after, read, elsewhere, target, named});
  const Output y = g.add(
      "y",
      {"Neg", {g.op("z", "Neg", {g.op("sum2", "Identity", {{g.id("sum"), 0}})})}, {}, {}, "", {"named"}});
  const Simple s = simple(g, {y}, {target.node});
  for (const char* name : {"after", "read", "elsewhere", "target", "named"}) BOOST_TEST(s.has(name), name);
  BOOST_TEST(!s.has("sum2"));
}

// The Identity in the branch is the pivot of a constant. The Switch itself
// is alive even if the branch is dead, so it cannot replace the pivot.
BOOST_AUTO_TEST_CASE(pivots_stay) {
  ToyGraph g;
  const Output pred = g.add("pred", {"Placeholder", {}, {{"dtype", DType::Bool}}, {}, "", {}});
  const Output branch = g.op("branch", "Switch", {g.placeholder("x"), pred});
  const Output pivot = g.op("pivot", "Identity", {{branch.node, 1}});
  const Output one = g.constant("one", 1, {pivot.node}),
               two = g.op("two", "Neg", {g.op("unpivoted", "Identity", {branch})});
  const Simple s = simple(g, {g.op("merge", "Merge", {one, two})});
  BOOST_TEST(s.has("pivot"));
  BOOST_TEST(!s.has("unpivoted"));
}

// TensorFlow's optimizers build such graphs: the update waits for all gradients, also for one that nobody uses.
//   x, w -> used = x * w;   unused = x + w;   both = NoOp ^used ^unused;   update = Neg(used) ^both
BOOST_AUTO_TEST_CASE(what_is_only_waited_for_is_not_computed) {
  ToyGraph g;
  const Output x = g.placeholder("x"), w = g.placeholder("w");
  const Output used = g.op("used", "Mul", {x, w});
  const Output unused = g.op("unused", "Neg", {g.op("sum", "Add", {x, g.op("late", "Neg", {w})})});
  const Output both = g.op("both", "NoOp", {}, {used.node, unused.node});
  const Simple s = simple(g, {g.op("update", "Neg", {used}, {both.node})});
  for (const char* name : {"unused", "sum", "late"}) BOOST_TEST(!s.has(name), name);
  const auto controls = s["both"].control_inputs;
  const std::vector<NodeId> expected = {s["x"].id, s["w"].id, s["used"].id};
  BOOST_TEST(std::is_permutation(controls.begin(), controls.end(), expected.begin(), expected.end()));
}

// The same in a branch: the node waited for may be dead, so it must not be bypassed.
BOOST_AUTO_TEST_CASE(what_may_be_dead_is_waited_for) {
  ToyGraph g;
  const Output pred = g.add("pred", {"Placeholder", {}, {{"dtype", DType::Bool}}, {}, "", {}});
  const Output branch = g.op("branch", "Switch", {g.placeholder("x"), pred});
  const Output unused = g.op("unused", "Neg", {branch});
  const Simple s = simple(g, {g.op("y", "Neg", {g.placeholder("z")}, {unused.node})});
  BOOST_TEST(s.has("unused"));
}

// a = 2, b = 3: (a + b) * x is 5 * x
BOOST_AUTO_TEST_CASE(constants_are_folded) {
  ToyGraph g;
  const Output sum = g.op("sum", "Add", {g.constant("a", 2), g.constant("b", 3)});
  const Output y = g.op("y", "Mul", {g.op("neg", "Neg", {sum}), g.placeholder("x")});
  const Simple s = simple(g, {y});
  BOOST_TEST(value(s, "neg") == -5);
  BOOST_TEST(s.subgraph.graph.size() == 4);
  BOOST_TEST(s.report.folded == 2);
  BOOST_TEST(s["neg"].output_shapes[0].text() == "[]");
}

BOOST_AUTO_TEST_CASE(what_is_not_folded) {
  ToyGraph g;
  const Output one = g.constant("one", 1), zero = g.constant("zero", 0);
  const Output random = g.add("random", {"Random", {}, {{"dtype", f32}}, {}, "", {}});
  const Output fails = g.op("fails", "Div", {one, zero}), print = g.op("print", "Print", {one});
  const Output y = g.op("y", "AddN", {random, fails, print});
  const Simple s = simple(g, {y});
  BOOST_TEST(s.report.folded == 0);
  for (const char* name : {"random", "fails", "print"}) BOOST_TEST(s.has(name), name);
  BOOST_TEST(simple(g, {g.op("neg", "Neg", {one})}, {}, {}).report.folded == 0);  // there is no evaluator
}

BOOST_AUTO_TEST_CASE(big_results_are_left_to_the_step) {
  ToyGraph g;
  const Output y = g.op("y", "Neg", {g.constant("x", 1)});
  SimplifyOptions options{evaluate};
  options.largest_constant = 3;
  BOOST_TEST(simple(g, {y}, {}, options).report.folded == 0);
  options.largest_constant = 4;
  BOOST_TEST(simple(g, {y}, {}, options).report.folded == 1);
}

// A constant that was folded in a branch must still be dead if the branch is.
BOOST_AUTO_TEST_CASE(folding_keeps_control_inputs) {
  ToyGraph g;
  const Output p = g.op("p", "NoOp", {}, {g.op("start", "NoOp", {}).node});
  const Output a = g.constant("a", 1, {p.node}), b = g.constant("b", 2);
  const Simple s = simple(g, {g.op("sum", "Add", {a, b}, {g.op("q", "NoOp", {}).node})});
  BOOST_TEST(value(s, "sum") == 3);
  BOOST_TEST((s["sum"].control_inputs == std::vector<NodeId>{s["p"].id, s["q"].id}));
}

BOOST_AUTO_TEST_CASE(several_outputs_become_several_constants) {
  ToyGraph g;
  const Output split = g.add("split", {"Split", {g.constant("x", 4)}, {{"N", int64_t{2}}}, {}, "", {}});
  const Output y = g.op("y", "Sub", {g.placeholder("p"), {split.node, 1}});
  g.constant("z", 1, {split.node});
  const Simple s = simple(g, {y}, {g.id("z")});
  BOOST_TEST(!s.has("split"));
  const Node& constant = s.subgraph.graph.node(s["y"].inputs[1].node);
  BOOST_TEST(value(s, constant.name) == 4);
  BOOST_TEST(s.subgraph.origin[constant.id] == split.node);
}

BOOST_AUTO_TEST_CASE(one_of_several_constants_is_waited_for) {
  ToyGraph g;
  const Output split = g.add("split", {"Split", {g.constant("x", 4)}, {{"N", int64_t{2}}}, {}, "", {}});
  const Output y = g.op("y", "Sub", {g.placeholder("p"), split});
  const Output late = g.op("late", "Neg", {g.placeholder("q")}, {split.node});
  const Simple s = simple(g, {y, late});
  BOOST_TEST((s["late"].control_inputs == std::vector<NodeId>{s["y"].inputs[1].node}));
}

// The shape of x is known, that of y is not. In a branch the shape is known, but its value must be dead if the branch is.
BOOST_AUTO_TEST_CASE(known_shapes_are_constants) {
  ToyGraph g;
  const Output x =
      g.add("x", {"Placeholder", {}, {{"dtype", f32}, {"shape", PartialShape{2, 3}}}, {}, "", {}});
  const Output y =
      g.add("y", {"Placeholder", {}, {{"dtype", f32}, {"shape", PartialShape{2, -1}}}, {}, "", {}});
  const Output pred = g.add("pred", {"Placeholder", {}, {{"dtype", DType::Bool}}, {}, "", {}});
  const Output merged = g.op("merged", "Merge", {g.op("branch", "Switch", {x, pred})});
  throw_if_failed(g.graph().refine_shape(merged, PartialShape{2, 3}));
  const Output a = g.op("a", "Shape", {x}), b = g.op("b", "Shape", {y}), c = g.op("c", "Shape", {merged});
  const Simple s = simple(g, {g.op("sum", "AddN", {a, b, c})});
  const auto dims = s["a"].attrs.get<Tensor>("value").as<int32_t>();
  BOOST_TEST((std::vector<int32_t>(dims.begin(), dims.end()) == std::vector<int32_t>{2, 3}));
  BOOST_TEST(s["a"].control_inputs.empty());
  BOOST_TEST(s["b"].type() == "Shape");
  BOOST_TEST(s["c"].type() == "Const");
  BOOST_TEST((s["c"].control_inputs == std::vector<NodeId>{s["merged"].id}));
}

// a + b, b + a, a - b, b - a
BOOST_AUTO_TEST_CASE(equal_computations_are_merged) {
  ToyGraph g;
  const Output a = g.placeholder("a"), b = g.placeholder("b");
  const Output y = g.op("y", "AddN",
                        {g.op("ab", "Add", {a, b}), g.op("ba", "Add", {b, a}), g.op("a_b", "Sub", {a, b}),
                         g.op("b_a", "Sub", {b, a}), g.op("again", "Sub", {a, b})});
  const Simple s = simple(g, {y});
  BOOST_TEST(s.report.merged == 2);
  BOOST_TEST(s.input("y", 0) == "ab:0");
  BOOST_TEST(s.input("y", 1) == "ab:0");
  BOOST_TEST(s.input("y", 2) == "a_b:0");
  BOOST_TEST(s.input("y", 3) == "b_a:0");
  BOOST_TEST(s.input("y", 4) == "a_b:0");
}

BOOST_AUTO_TEST_CASE(what_only_looks_equal) {
  ToyGraph g;
  const Output a = g.placeholder("a"), b = g.placeholder("b"), c = g.placeholder("c"), v = g.variable("v");
  const Output start = g.op("start", "NoOp", {});
  const std::vector<Output> all{g.op("abc", "AddN", {a, b, c}),  // their order matters
                                g.op("cba", "AddN", {c, b, a}),
                                g.op("neg", "Neg", {a}),
                                g.op("neg_later", "Neg", {a}, {start.node}),
                                g.on("/gpu:0", "neg_there", "Neg", {a}),
                                g.op("read", "Neg", {v}),
                                g.op("read_again", "Neg", {v}),
                                g.add("random", {"Random", {}, {{"dtype", f32}}, {}, "", {}}),
                                g.add("random2", {"Random", {}, {{"dtype", f32}}, {}, "", {}}),
                                g.constant("plus", 0.0f),
                                g.constant("minus", -0.0f)};
  BOOST_TEST(simple(g, {g.op("y", "AddN", all)}).report.merged == 0);
}

BOOST_AUTO_TEST_CASE(chains_collapse_in_one_round) {
  ToyGraph g;
  Output left = g.placeholder("x"), right = left;
  for (int i = 0; i < 20; ++i) {
    left = g.op("l" + std::to_string(i), "Neg", {g.op("il" + std::to_string(i), "Identity", {left})});
    right = g.op("r" + std::to_string(i), "Neg", {right});
    left = g.op("ml" + std::to_string(i), "Sub", {left, g.constant("cl" + std::to_string(i), 2)});
    right = g.op("mr" + std::to_string(i), "Sub", {right, g.constant("cr" + std::to_string(i), 2)});
  }
  const Simple s = simple(g, {g.op("y", "Add", {left, right})});
  BOOST_TEST(s.subgraph.graph.size() == 44);  // x, one constant, 20 of each, Add, the result
  BOOST_TEST(s.report.rounds == 2);
}

namespace {

struct Neutral {
  const char* op;
  float c;
  bool constant_first, bypassed;
};

}  // namespace

BOOST_AUTO_TEST_CASE(neutral_elements) {
  for (const auto& [op, c, first, bypassed] : {Neutral{"Mul", 1, false, true},
                                               {"Mul", 1, true, true},
                                               {"Mul", 2, false, false},
                                               {"Div", 1, false, true},
                                               {"Div", 1, true, false},
                                               {"Sub", 0, false, true},
                                               {"Sub", 0, true, false},
                                               {"Sub", -0.0f, false, false},
                                               {"Add", -0.0f, false, true},
                                               {"Add", -0.0f, true, true},
                                               {"Add", 0, false, false},
                                               {"Mul", NAN, false, false}}) {
    ToyGraph g;
    const Output x = g.placeholder("x"), constant = g.constant("c", c);
    const Simple s = simple(g, {g.op("y", op, first ? std::vector{constant, x} : std::vector{x, constant})});
    BOOST_TEST(source(s) == (bypassed ? "x:0" : "y:0"), op << " " << c);
  }
}

BOOST_AUTO_TEST_CASE(neutral_elements_of_other_shapes_and_liveness) {
  ToyGraph g;
  const auto placeholder = [&](const char* name, PartialShape shape) {
    return g.add(name, {"Placeholder", {}, {{"dtype", i32}, {"shape", shape}}, {}, "", {}});
  };
  const Output zeros =
      g.add("zeros", {"Const",
                      {},
                      {{"dtype", i32}, {"value", Tensor::of<int32_t>(Shape{2, 3}, {0, 0, 0, 0, 0, 0})}},
                      {},
                      "",
                      {}});
  const Output pivot = g.op("pivot", "NoOp", {});
  const Output guarded =
      g.add("guarded",
            {"Const", {}, {{"dtype", i32}, {"value", Tensor::scalar<int32_t>(0)}}, {pivot.node}, "", {}});
  const Output same = placeholder("same", {2, 3}), row = placeholder("row", {3}),
               unknown = placeholder("unknown", {});
  const Simple s = simple(g, {g.op("a", "Add", {same, zeros}), g.op("b", "Add", {row, zeros}),
                              g.op("c", "Add", {unknown, zeros}), g.op("d", "Add", {same, guarded})});
  BOOST_TEST(!s.has("a"));
  BOOST_TEST(s.has("b"));
  BOOST_TEST(s.has("c"));
  BOOST_TEST(s.has("d"));
}

BOOST_AUTO_TEST_CASE(inverses_cancel) {
  ToyGraph g;
  const auto perm = [&](const char* name, std::vector<int32_t> p) {
    return g.add(name, {"Const", {}, {{"dtype", i32}, {"value", Tensor::vector<int32_t>(p)}}, {}, "", {}});
  };
  const Output x =
      g.add("x", {"Placeholder", {}, {{"dtype", f32}, {"shape", PartialShape{-1, -1, -1}}}, {}, "", {}});
  const Output forward = perm("forward", {1, 2, 0}), back = perm("back", {2, 0, 1});
  const Output there = g.op("there", "Transpose", {x, forward});
  const Simple s =
      simple(g, {g.op("same", "Transpose", {there, back}), g.op("other", "Transpose", {there, forward}),
                 g.op("minus_minus", "Neg", {g.op("minus", "Neg", {x})}),
                 g.op("waits", "Neg", {g.op("late_minus", "Neg", {x}, {g.op("start", "NoOp", {}).node})}),
                 g.add("cast", {"Cast", {x}, {{"DstT", f32}}, {}, "", {}})});
  for (const char* gone : {"same", "minus_minus", "minus", "cast"}) BOOST_TEST(!s.has(gone), gone);
  for (const char* here : {"other", "waits", "late_minus"}) BOOST_TEST(s.has(here), here);
}

// update has an effect, so it runs even if its only consumer, a Shape, was computed in advance.
BOOST_AUTO_TEST_CASE(effects_are_kept) {
  ToyGraph g;
  const Output v = g.variable("v"), update = g.op("update", "AssignAdd", {v, g.constant("one", 1)});
  const Output value = g.op("value", "Neg", {update}), shape = g.op("shape", "Shape", {value});
  const Simple s = simple(g, {shape});
  BOOST_TEST(s["shape"].type() == "Const");
  BOOST_TEST(!s.has("value"));
  BOOST_TEST(s.has("update"));
}

// v = v + x once x has passed its check. y may be read when the check
// of z has passed, although nobody uses the output of that check.
BOOST_AUTO_TEST_CASE(guards_are_waited_for) {
  ToyGraph g;
  const Output v = g.variable("v"), x = g.placeholder("x");
  const Output check = g.op("check", "CheckNumerics", {x});
  const Output update = g.op("update", "AssignAdd", {v, x}, {check.node});
  const Output known = g.op("known", "Shape", {g.op("guarded", "CheckNumerics", {g.constant("z", 1)})});
  const Simple s = simple(g, {known}, {update.node});
  BOOST_TEST_REQUIRE(s.has("check"));
  BOOST_TEST((s["update"].control_inputs == std::vector<NodeId>{s["check"].id}));
  BOOST_TEST(s["known"].type() == "Const");
  BOOST_TEST(s.has("guarded"));
}

// The back edge of the loop passes through an Identity.
BOOST_AUTO_TEST_CASE(loops_stay_closed) {
  ToyGraph g;
  const Output merge = g.loop_merge(
      "merge",
      g.op("pass", "Identity", {g.enter("enter", g.op("before", "Identity", {g.constant("x", 1)}), "loop")}));
  const Output branch =
      g.op("branch", "Switch", {merge, g.op("cond", "LoopCond", {g.op("less", "Less", {merge, merge})})});
  const Output body = g.op("body", "Identity", {{branch.node, 1}});
  g.close(merge, g.op("next", "NextIteration", {g.op("neg", "Neg", {body})}));
  const Simple s = simple(g, {g.op("y", "Identity", {g.op("exit", "Exit", {branch})})});
  for (const char* gone : {"pass", "before", "body", "y"}) BOOST_TEST(!s.has(gone), gone);
  BOOST_TEST(s.input("neg") == "branch:1");
  BOOST_TEST(s.input("merge", 0) == "enter:0");
  BOOST_TEST(s.input("merge", 1) == "next:0");
  BOOST_TEST(source(s) == "exit:0");
  BOOST_TEST(topological_order(s.subgraph.graph).ok());
}

namespace {

/// Computes the values of all fetches, for graphs of scalars without control flow.
std::vector<Tensor> results(const Subgraph& subgraph) {
  const Graph& graph = subgraph.graph;
  std::vector<Tensor> values(graph.size()), fetched(subgraph.roots.size());
  for (const NodeId id : value_or_throw(topological_order(graph))) {
    const Node& node = graph.node(id);
    if (node.type() == "Const") {
      values[id] = node.attrs.get<Tensor>("value");
    } else if (node.type() == "Placeholder") {
      values[id] = Tensor::scalar(static_cast<float>(node.name.size()) * 0.37f - 1);
    } else {
      std::vector<Tensor> inputs;
      for (const Output& input : node.inputs) inputs.push_back(values[input.node]);
      if (node.type() == "_Retval")
        fetched[static_cast<size_t>(node.attrs.get<int64_t>("index"))] = inputs[0];
      else
        values[id] = value_or_throw(evaluate(graph, node, inputs))[0];
    }
  }
  return fetched;
}

}  // namespace

BOOST_AUTO_TEST_CASE(random_graphs_keep_their_results) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
    ToyGraph g;
    std::vector<Output> all;
    for (size_t i = 0; i < 60; ++i) {
      const std::string name = std::string(1 + below(9), 'n') + std::to_string(i);
      const auto pick = [&] { return all[below(all.size())]; };
      const size_t what = i < 4 ? i % 2 : below(8);
      if (what == 0)
        all.push_back(g.constant(name, std::vector{0.0f, -0.0f, 1.0f, 2.5f, -3.0f}[below(5)]));
      else if (what == 1)
        all.push_back(g.placeholder(name));
      else if (what == 2)
        all.push_back(g.op(name, "Neg", {pick()}));
      else if (what == 3)
        all.push_back(g.op(name, "Identity", {pick()}));
      else if (what == 4)
        all.push_back(g.op(name, "AddN", {pick(), pick(), pick()}));
      else
        all.push_back(g.op(name, std::vector{"Add", "Sub", "Mul"}[what - 5], {pick(), pick()}));
    }
    Subgraph subgraph =
        value_or_throw(cut_subgraph(g.graph(), {{}, {all[55], all[57], all[58], all[59]}, {}}));
    const auto before = results(subgraph);
    value_or_throw(simplify(subgraph, {evaluate}));
    const auto after = results(subgraph);
    for (size_t j = 0; j < before.size(); ++j) BOOST_TEST(identical(before[j], after[j]), "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(cycles_are_refused) {
  ToyGraph g;
  const Output x = g.constant("x", 1), a = g.op("a", "Neg", {x}), b = g.op("b", "Neg", {a});
  throw_if_failed(g.graph().replace_input(a.node, 0, b));
  Subgraph subgraph = value_or_throw(cut_subgraph(g.graph(), {{}, {b}, {}}));
  BOOST_TEST(says(simplify(subgraph, {evaluate}).status(), "cycle"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::simplify_test
