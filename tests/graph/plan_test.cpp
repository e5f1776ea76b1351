#include "graph/plan/plan.h"

#include <boost/test/unit_test.hpp>

#include "tests/graph/flow_graph.h"

namespace troupe::plan_test {
namespace {

using testing::FlowGraph;

Status plan_status(FlowGraph& g, std::vector<Output> feeds = {}, std::vector<Output> fetches = {}) {
  return Plan::make(std::make_shared<const Graph>(g.graph()), feeds, fetches).status();
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_SUITE(plan)

// a -> b, a -> c(a, b, ^b)
BOOST_AUTO_TEST_CASE(counts_slots_and_last_uses) {
  FlowGraph g;
  const Output a = g.op({}), b = g.op({a}), c = g.op({a, b}, {b.node});
  const auto plan = g.plan();
  BOOST_TEST(plan->nodes().size() == 3);
  BOOST_TEST(!plan->has_loops());
  BOOST_TEST(plan->frames()[0].slots == 3);
  BOOST_TEST(plan->pending()[c.node] == 3);
  BOOST_TEST(plan->roots().size() == 1);
  const auto from_a = plan->edges(plan->nodes()[a.node]), from_b = plan->edges(plan->nodes()[b.node]);
  BOOST_REQUIRE(from_a.size() == 2 && from_b.size() == 2);
  BOOST_TEST(from_a[0].flags == 0);
  BOOST_TEST(from_a[1].flags == PlanEdge::Last);
  BOOST_TEST(from_a[1].slot == plan->nodes()[c.node].first_slot);
  BOOST_TEST(from_b[0].flags == PlanEdge::Last);
  BOOST_TEST(from_b[1].flags == PlanEdge::Control);
}

// x (fed) -> y -> fetched; ^x -> z. The node x does not run: the feed gets its outgoing edges, and its incoming edges are removed.
BOOST_AUTO_TEST_CASE(a_feed_takes_the_place_of_its_node) {
  FlowGraph g;
  const Output w = g.op({}), x = g.op({w}, {w.node}), y = g.op({x});
  const Output z = g.op({}, {x.node});
  const auto plan = g.plan({x}, {y, y});
  BOOST_TEST(plan->nodes().size() == 6);  // feed, w, y, z, two fetches
  BOOST_TEST((plan->nodes()[0].kind == PlanKind::Feed));
  BOOST_TEST(plan->edges(plan->nodes()[0]).size() == 2);
  for (const PlanNode& node : plan->nodes())
    if (node.kind == PlanKind::Plain)
      BOOST_TEST((node.node == w.node || node.node == y.node || node.node == z.node));
}

// One output of a Switch is fed and the other is not, so the Switch still runs.
BOOST_AUTO_TEST_CASE(a_node_with_an_output_not_fed_runs) {
  FlowGraph g;
  const Output a = g.op({}), branch = g.add("Switch", {a, a});
  const auto plan = g.plan({{branch.node, 0}}, {{branch.node, 0}, {branch.node, 1}});
  BOOST_TEST(plan->nodes().size() == 5);  // feed, a, Switch, two fetches
  BOOST_TEST(plan->edges(plan->nodes()[0]).size() == 1);
}

// The nodes of a frame have consecutive indices: root, outer loop, inner loop.
BOOST_AUTO_TEST_CASE(nodes_of_a_frame_stand_together) {
  FlowGraph g;
  const Output start = g.op({});
  const Output outer = g.enter(start, "outer", false, 3), a = g.op({outer});
  const Output inner = g.enter(a, "inner", true), b = g.op({inner});
  const Output left = g.add("Exit", {g.add("Exit", {b})}), after = g.op({left});
  const auto plan = g.plan({}, {after});
  BOOST_REQUIRE(plan->frames().size() == 3);
  for (FrameId frame = 0; frame < 3; ++frame) {
    const PlanFrame& f = plan->frames()[frame];
    for (PlanId id = f.first_node; id < f.first_node + f.nodes; ++id)
      BOOST_TEST(plan->nodes()[id].frame == frame);
  }
  BOOST_TEST(plan->frames()[0].nodes == 4);  // start, Enter, after, the fetch
  BOOST_TEST(plan->frames()[1].parallel_iterations == 3);
  BOOST_TEST(plan->frames()[2].held == 1);
  BOOST_TEST(plan->frames()[2].parent == 1);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_planned_is_named) {
  FlowGraph g;
  const Output a = g.op({}), inside = g.op({g.enter(a, "loop")});
  BOOST_TEST(plan_status(g).ok());
  BOOST_TEST(contains(plan_status(g, {a, a}).message(), "fed twice"));
  BOOST_TEST(contains(plan_status(g, {}, {inside}).message(), "runs in frame 'loop'"));
  BOOST_TEST(contains(plan_status(g, {inside}, {}).message(), "runs in frame 'loop'"));
  BOOST_TEST((plan_status(g, {}, {{99, 0}}).code() == Code::InvalidArgument));
  BOOST_TEST((plan_status(g, {}, {{a.node, Output::control}}).code() == Code::InvalidArgument));
  const Output crossing = g.op({a, inside});
  const Status status = plan_status(g);
  BOOST_TEST(contains(status.text(), "has inputs from different frames"));
  BOOST_TEST(status.node() == g.graph().node(crossing.node).name);
}

BOOST_AUTO_TEST_CASE(a_merge_with_too_many_inputs_is_refused) {
  FlowGraph g;
  const Output a = g.op({});
  g.add("Merge", std::vector<Output>(65'536, a));
  BOOST_TEST(contains(plan_status(g).message(), "at most 65535 and 32767 are allowed"));
}

BOOST_AUTO_TEST_CASE(feeds_are_checked) {
  FlowGraph g;
  const Output a = g.op({}), b = g.op({a});
  throw_if_failed(g.graph().refine_shape(a, PartialShape({2, -1})));
  const auto plan = g.plan({a}, {b});
  const auto check = [&](std::vector<Tensor> values) { return plan->check_feeds(values).message(); };
  BOOST_TEST(plan->check_feeds(std::vector{Tensor::of<int64_t>(Shape{2, 3}, {1, 2, 3, 4, 5, 6})}).ok());
  BOOST_TEST(contains(check({}), "0 tensors are fed, but the step has 1 feeds"));
  BOOST_TEST(contains(check({Tensor::scalar(1.0f)}), "is float[]; expected int64[2,?]"));
  BOOST_TEST(contains(check({Tensor::scalar<int64_t>(1)}), "is int64[]; expected int64[2,?]"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::plan_test
