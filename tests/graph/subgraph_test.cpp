#include "graph/passes/subgraph.h"

#include <boost/test/unit_test.hpp>

#include "tests/graph/toy_graph.h"

namespace troupe::subgraph_test {
namespace {

using testing::says;
using testing::ToyGraph;

Subgraph cut(const ToyGraph& g, std::vector<Output> feeds, std::vector<Output> fetches,
             std::vector<NodeId> targets = {}) {
  return value_or_throw(cut_subgraph(g.graph(), {std::move(feeds), std::move(fetches), std::move(targets)}));
}

Status failure(const ToyGraph& g, std::vector<Output> feeds, std::vector<Output> fetches,
               std::vector<NodeId> targets = {}) {
  return cut_subgraph(g.graph(), {std::move(feeds), std::move(fetches), std::move(targets)}).status();
}

std::vector<std::string> names(const Subgraph& subgraph) {
  std::vector<std::string> result;
  for (const Node& node : subgraph.graph.nodes()) result.push_back(node.name);
  return result;
}

using Names = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_SUITE(subgraph)

// x -> a -> b -> c (fetched), a -> d, e -> Print
BOOST_AUTO_TEST_CASE(only_what_is_reached_remains) {
  ToyGraph g;
  const Output x = g.placeholder("x"), a = g.op("a", "Neg", {x}), b = g.op("b", "Neg", {a}),
               c = g.op("c", "Neg", {b});
  g.op("d", "Neg", {a});
  const Output print = g.op("print", "Print", {g.constant("e", 1)});
  Subgraph all = cut(g, {x}, {c});
  BOOST_TEST(names(all) == (Names{"_arg_0_x", "a", "b", "c", "_retval_0_c"}),
             boost::test_tools::per_element());
  BOOST_TEST((all.origin == std::vector<NodeId>{no_node, a.node, b.node, c.node, no_node}));
  BOOST_TEST((all.roots == std::vector<NodeId>{4}));
  // Feeding b removes the nodes that only b needs.
  BOOST_TEST(names(cut(g, {b}, {c})) == (Names{"_arg_0_b", "c", "_retval_0_c"}),
             boost::test_tools::per_element());
  // A target runs for its effect.
  const Subgraph effect = cut(g, {}, {}, {print.node});
  BOOST_TEST(names(effect) == (Names{"e", "print"}), boost::test_tools::per_element());
  BOOST_TEST((effect.roots == std::vector<NodeId>{1}));
}

// split -> y0, y1: only y1 is fed, and z uses both.
BOOST_AUTO_TEST_CASE(any_edge_may_be_fed) {
  ToyGraph g;
  const Output x = g.constant("x", 1);
  const Output split = g.add("split", {"Split", {x}, {{"N", int64_t{2}}}, {}, "", {}});
  const Output z = g.op("z", "Add", {split, {split.node, 1}});
  const Subgraph part = cut(g, {{split.node, 1}}, {z, z});
  BOOST_TEST(names(part) == (Names{"_arg_0_split", "x", "split", "z", "_retval_0_z", "_retval_1_z"}),
             boost::test_tools::per_element());
  const Node& sum = *part.graph.find("z");
  BOOST_TEST((sum.inputs[0] == Output{part.graph.find("split")->id, 0}));
  BOOST_TEST((sum.inputs[1] == Output{0, 0}));
  BOOST_TEST(part.graph.node(5).attrs.get<int64_t>("index") == 1);
}

// x (Placeholder) -^-> y ; a -^-> z
BOOST_AUTO_TEST_CASE(control_edges_of_a_fed_placeholder_move) {
  ToyGraph g;
  const Output x = g.placeholder("x"), a = g.op("a", "Neg", {g.constant("one", 1)});
  const Output y = g.constant("y", 1, {x.node}), z = g.constant("z", 1, {a.node});
  const Subgraph part = cut(g, {x, a}, {y, z});
  BOOST_TEST(names(part) == (Names{"_arg_0_x", "one", "a", "y", "z", "_retval_0_y", "_retval_1_z"}),
             boost::test_tools::per_element());
  BOOST_TEST((part.graph.find("y")->control_inputs == std::vector<NodeId>{0}));
  BOOST_TEST((part.graph.find("z")->control_inputs == std::vector<NodeId>{2}));
}

BOOST_AUTO_TEST_CASE(fed_values_keep_dtype_and_shape) {
  ToyGraph g;
  const Output x =
      g.add("x", {"Placeholder", {}, {{"dtype", i32}, {"shape", PartialShape{-1, 3}}}, {}, "", {}});
  const Subgraph part = cut(g, {x}, {g.op("y", "Neg", {x})});
  BOOST_TEST((part.graph.dtype({0, 0}) == i32));
  BOOST_TEST(part.graph.shape({0, 0}).text() == "[?,3]");
}

// The loop is kept completely. Its back edge points forward.
BOOST_AUTO_TEST_CASE(loops_survive) {
  ToyGraph g;
  g.constant("unused", 0);
  const Output merge = g.loop_merge("merge", g.enter("enter", g.constant("x", 1), "loop"));
  const Output branch =
      g.op("branch", "Switch", {merge, g.op("cond", "LoopCond", {g.op("less", "Less", {merge, merge})})});
  const Output next = g.op("next", "NextIteration", {{branch.node, 1}});
  g.close(merge, next);
  const Subgraph part = cut(g, {}, {g.op("exit", "Exit", {branch})});
  BOOST_TEST(part.graph.size() == 9);
  BOOST_TEST(part.graph.node(part.graph.find("merge")->inputs[1].node).name == "next");
  BOOST_TEST(topological_order(part.graph).ok());
}

BOOST_AUTO_TEST_CASE(what_cannot_be_asked_for) {
  ToyGraph g;
  const Output x = g.placeholder("x"), y = g.op("y", "Neg", {x}), v = g.variable("v");
  const Output assign = g.op("assign", "Assign", {v, y});
  const Output group = g.op("group", "NoOp", {}, {assign.node});
  BOOST_TEST(says(failure(g, {x}, {}), "the step has neither fetches nor targets"));
  BOOST_TEST(says(failure(g, {x, x}, {y}), "x:0 is fed twice"));
  BOOST_TEST(says(failure(g, {y}, {y}), "y:0 is both fed and fetched"));
  BOOST_TEST(says(failure(g, {}, {group}), "[NoOp] group: the node has no output to fetch"));
  BOOST_TEST(says(failure(g, {}, {{y.node, 3}}), "[Neg] y: there is no output 3"));
  BOOST_TEST(says(failure(g, {}, {{99, 0}}), "a fetch refers to node number 99"));
  BOOST_TEST(says(failure(g, {{99, 0}}, {y}), "a feed refers to node number 99"));
  BOOST_TEST(says(failure(g, {}, {}, {99}), "a target refers to node number 99"));
  BOOST_TEST(says(failure(g, {v}, {}, {assign.node}),
                  "[Assign] assign: input 0 must be a reference to a variable, but a value is fed for v:0"));
}

BOOST_AUTO_TEST_CASE(names_are_resolved) {
  ToyGraph g;
  const Output image = g.placeholder("image"), logits = g.op("logits", "Neg", {image});
  const auto resolve = [&](Names feeds, Names fetches, Names targets) {
    return resolve_signature(g.graph(), feeds, fetches, targets);
  };
  const RunSignature signature = value_or_throw(resolve({"image"}, {"logits:0", "image"}, {"logits"}));
  BOOST_TEST((signature.feeds == std::vector{image}));
  BOOST_TEST((signature.fetches == std::vector{logits, image}));
  BOOST_TEST((signature.targets == std::vector{logits.node}));
  BOOST_TEST(says(resolve({}, {"logit"}, {}).status(), "nearest is 'logits'"));
  BOOST_TEST(says(resolve({}, {}, {"imago"}).status(), "nearest is 'image'"));
  BOOST_TEST(says(resolve({}, {}, {"logits:0"}).status(), "a target must be a node"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::subgraph_test
