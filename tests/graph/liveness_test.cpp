// Compares Liveness with the meaning of thousands of random graphs of control flow.
#include "graph/passes/liveness.h"

#include <boost/test/unit_test.hpp>

#include "tests/graph/random_flow.h"
#include "tests/graph/step_reference.h"

namespace troupe::liveness_test {
namespace {

using namespace testing;

bool stays_in_frame(const Node& node) {
  const FlowKind kind = flow_kind(node);
  return kind != FlowKind::Enter && kind != FlowKind::Exit && kind != FlowKind::NextIteration;
}

/// Returns the outputs of nodes that run in the frame of their consumers.
std::vector<Output> outputs_of(const Graph& graph) {
  std::vector<Output> result;
  for (const Node& node : graph.nodes())
    for (uint32_t i = 0; stays_in_frame(node) && i < node.output_types.size(); ++i)
      result.push_back({node.id, i});
  return result;
}

bool is_alive(const Graph& graph, Output output, const Ran& ran) {
  const bool other_side = flow_kind(graph.node(output.node)) == FlowKind::Switch && ran.which != output.index;
  return ran.kind == Ran::Live && !other_side;
}

/// Returns whether `b` is alive wherever `a` is.
bool holds(const Graph& graph, const Meaning& meaning, Output a, Output b) {
  for (auto at = meaning.ran.lower_bound({a.node, 0, 0}); at != meaning.ran.end(); ++at) {
    const auto& [node, frame, iteration] = at->first;
    if (node != a.node) break;
    if (!is_alive(graph, a, at->second)) continue;
    const auto other = meaning.ran.find({b.node, frame, iteration});
    if (other == meaning.ran.end() || !is_alive(graph, b, other->second)) return false;
  }
  return true;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(liveness)

BOOST_AUTO_TEST_CASE(what_is_implied_holds_in_random_graphs) {
  size_t implied = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    FlowGraph flow = random_flow(seed, 3);
    const Graph& graph = flow.graph();
    const Meaning meaning = meaning_of(graph);
    if (!meaning.ends) continue;
    const FrameInfo frames = value_or_throw(assign_frames(graph));
    const Liveness alive(graph.nodes(), value_or_throw(topological_order(graph)));
    const auto outputs = outputs_of(graph);
    for (const Output a : outputs)
      for (const Output b : outputs) {
        if (a == b || frames.of_node[a.node] != frames.of_node[b.node] || !alive.implies(a, b)) continue;
        ++implied;
        BOOST_REQUIRE_MESSAGE(holds(graph, meaning, a, b),
                              "seed " << seed << ": " << graph.name_of(a) << " implies " << graph.name_of(b));
      }
  }
  BOOST_TEST(implied > 100'000u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::liveness_test
