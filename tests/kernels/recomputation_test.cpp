// Tests that gradients compute the results inside segments again: the same bits, in less memory.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "graph/build/control_flow.h"
#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "tests/support/local_graph.h"
#include "tests/support/ops/run_op.h"

namespace troupe::recomputation_test {
namespace {

using namespace test;

constexpr int64_t length = 1 << 16;  // elements of a tensor
constexpr int64_t parts = 8;

// x -> sin -> sin -> sin -> random mask -> ... -> loss, with a segment of three for each part
Output model(const Scope& g, Output x, bool recomputed) {
  for (int64_t part = 0; part < parts; ++part) {
    const std::string name = "part" + std::to_string(part);
    const Scope inner = (recomputed ? g.recomputed(name) : g).with_prefix(name);
    const Output mask = random_uniform(inner, shape(inner, x), f32);
    x = mul(inner, sin(inner, sin(inner, sin(inner, x))), mask);
  }
  return sum(g, square(g, x));
}

struct Outcome {
  Tensor gradient;
  size_t peak = 0;  ///< bytes
};

Outcome differentiate(bool recomputed) {
  LocalRuntime runtime(op_library());
  Graph graph(op_library()->ops);
  const Scope g(graph);
  const Output x = placeholder(g, f32, {length});
  const Output gradient = dense(g, gradients(g, {model(g, x, recomputed)}, {x})[0], x);
  const auto plan = value_or_throw(runtime.prepare(graph, {{x}, {gradient}, {}}));
  const size_t before = runtime.device().memory_statistics().peak;
  const auto fetched = value_or_throw(runtime.run(plan, {counting(Shape{length})}));
  return {fetched[0], runtime.device().memory_statistics().peak - before};
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.bytes() == b.bytes() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(recomputation)

BOOST_AUTO_TEST_CASE(results_inside_segments_are_not_kept) {
  const Outcome kept = differentiate(false), again = differentiate(true);
  BOOST_TEST(same_bits(kept.gradient, again.gradient));
  // Kept: three sines, their product's factor and the mask for each part. Again: what leaves each part, and one part.
  BOOST_TEST(kept.peak > parts * 4 * length * sizeof(float));
  BOOST_TEST(again.peak < (parts + 11) * length * sizeof(float));
}

BOOST_FIXTURE_TEST_CASE(copies_read_variables_as_they_were, LocalGraph) {
  const auto variable = [&](const char* name) {
    const Output v = g.with_name(name).add_one("VariableV2", {}, {{"dtype", f32}, {"shape", PartialShape{}}});
    value_or_throw(runtime.run(graph, {}, {g.add_one("Assign", {v, number(3)})}));
    return v;
  };
  // The gradient of w is x v. After the loss v grows, and only then the copy of x v is computed.
  const Output x = number(5), v = variable("v"), w = variable("w");
  const Scope part = g.recomputed("part");
  const Output loss = mul(part, mul(part, x, v), w);
  const Output grown = g.with_control({loss}).add_one("AssignAdd", {v, number(100)});
  const Output late = g.with_control({grown}).add_one("Identity", {number(1)});
  const Output gradient = dense(g, gradients(g, {loss}, {w}, {late})[0], w);
  for (const float value : {3.0f, 103.0f})
    BOOST_TEST(value_or_throw(runtime.run(graph, {}, {gradient}))[0].as<float>()[0] == 5 * value);
}

BOOST_FIXTURE_TEST_CASE(copies_wait_for_the_gradient_and_stay_within_their_segment, LocalGraph) {
  const Output x = placeholder(g, f32, {2});
  const auto in = [&](const char* segment) { return g.recomputed(segment).with_prefix(segment); };
  const Output a = sin(in("a"), sin(in("a"), x)), b = sin(in("b"), sin(in("b"), a));
  const size_t before = graph.size();
  gradients(g, {b}, {x});
  std::vector<std::string> waiting;
  for (NodeId id = static_cast<NodeId>(before); id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    BOOST_TEST(!node.attrs.find("_recompute"));
    if (!node.control_inputs.empty())
      waiting.push_back(node.name + " reads " + graph.name_of(node.inputs[0]));
  }
  BOOST_TEST(waiting == (std::vector<std::string>{"gradients/again/b/Sin reads a/Sin_1:0",
                                                  "gradients/again/a/Sin reads Placeholder:0"}),
             boost::test_tools::per_element());
}

// Nodes before and after the loop are computed again, those in the loop are not.
BOOST_FIXTURE_TEST_CASE(loops_in_segments_keep_their_values, LocalGraph) {
  const Output x = placeholder(g, f32, {2});
  const auto gradient_of = [&](const Scope& part) {
    const auto loop = while_loop(
        part, {number(0), sin(part, x)},
        [&](const Scope& s, std::span<const Output> v) { return less(s, v[0], 3.0f); },
        [&](const Scope& s, std::span<const Output> v) {
          return std::vector{add(s, v[0], 1.0f), sin(s, mul(s, v[1], x))};
        });
    return dense(g, gradients(g, {sin(part, loop[1])}, {x})[0], x);
  };
  const Output kept = gradient_of(g), again = gradient_of(g.recomputed("part"));
  const auto slopes = value_or_throw(runtime.run(graph, {{x, counting(Shape{2})}}, {kept, again}));
  BOOST_TEST(same_bits(slopes[0], slopes[1]));
  const auto copies = [&](std::string_view op) {
    return std::ranges::count_if(graph.nodes(), [&](const Node& node) {
      return node.type() == op && node.name.find("again/") != std::string::npos;
    });
  };
  BOOST_TEST(copies("Sin") == 2);
  BOOST_TEST(copies("Mul") == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::recomputation_test
