// Outputs of another graph are refused wherever a user passes one, and are never taken for the node with the same number. A session
// also refuses to work with another graph than its own.
#include <boost/test/unit_test.hpp>

#include <utility>

#include "actors/runtime.h"
#include "graph/build/control_flow.h"
#include "graph/build/gradients.h"
#include "graph/build/variables.h"
#include "tests/support/failure_of.h"

namespace troupe::foreign_output_test {
namespace {

constexpr const char* of_another = "belongs to another graph";
constexpr const char* of_nothing = "is a default constructed Output";

// Two equal graphs: x -> Neg -> y
struct Twin {
  explicit Twin(const Runtime& runtime) : graph(runtime.ops()) {}

  Graph graph;
  Scope g{graph};
  Output x =
      g.with_name("x").add_one("Placeholder", {}, {{"dtype", DType::Float}, {"shape", PartialShape{}}});
  Output y = g.with_name("y").add_one("Neg", {x});
};

struct Fixture {
  Runtime runtime{{.threads = 1}};
  Twin own{runtime}, other{runtime};
  const std::vector<std::pair<Output, std::string>> strangers = {
      {other.y, of_another},
      {value_or_throw(other.graph.find_output("y:0")), of_another},
      {other.g.outputs(other.y)[0], of_another},
      {other.g.group({other.y}), of_another},
      {Output{}, of_nothing},
      {{1000, 0}, "refers to node number 1000, but the graph has 2 nodes"},
      {{1, 5}, "refers to output 5, but node 'y' has 1 output"}};

  template <class F>
  static void refused(F use, const std::string& why) {
    const Status status = test::failure_of(use);
    BOOST_TEST((status.code() == Code::InvalidArgument), status.message());
    BOOST_TEST(status.text().find(why) != std::string::npos, status.text() << " does not say: " << why);
  }
};

// A session keeps a reference to its graph, so one that ends with the expression is no graph for it.
template <class G>
concept OpensSession = requires(Runtime& runtime, G&& graph) {
  runtime.session(std::forward<G>(graph));
}
|| requires(Runtime& runtime, G&& graph, const MasterOptions& master) {
  runtime.connect(std::forward<G>(graph), master);
};
static_assert(OpensSession<Graph&> && OpensSession<const Graph&> && !OpensSession<Graph>);

BOOST_FIXTURE_TEST_SUITE(foreign_outputs, Fixture)

BOOST_AUTO_TEST_CASE(a_session_refuses_them) {
  Session session = runtime.session(own.graph);
  const Tensor two = Tensor::scalar(2.0f);
  BOOST_TEST(session.run({{own.x, two}}, {own.y}).at(0).as<float>()[0] ==
             -2);  // the session keeps this step prepared
  for (const auto& [output, why] : strangers) {
    const Output stranger = output;
    refused([&] { session.run({{own.x, two}}, {own.y, stranger}); }, "fetch 1 " + why);
    refused([&] { session.run({{own.x, two}}, {stranger}); }, "fetch 0 " + why);
    refused([&] { session.prepare({own.x}, {stranger}); }, "fetch 0 " + why);
    if (!stranger.is_control()) {
      refused([&] { session.run({{stranger, two}}, {own.y}); }, "feed 0 " + why);
      refused([&] { session.prepare({stranger}, {own.y}); }, "feed 0 " + why);
    }
  }
  refused(
      [&] {
        session.run({{{1, Output::control}, two}}, {own.y});
      },
      "feed 0 is node 'y', not one of its outputs");
  BOOST_TEST(session.run({{own.x, two}}, {{1, 0}}).at(0).as<float>()[0] ==
             -2);  // an Output without the number of a graph is found by its node number
}

BOOST_AUTO_TEST_CASE(a_session_refuses_a_graph_that_is_no_longer_its_own) {
  Session session = runtime.session(own.graph);
  const Tensor two = Tensor::scalar(2.0f);
  const PreparedStep step = session.prepare({own.x}, {own.y});
  const Graph first = own.graph;
  const auto refuses = [&](const std::string& why) {
    const auto is_refused = [&](auto use) {
      const Status status = test::failure_of(use);
      BOOST_TEST((status.code() == Code::FailedPrecondition), status.message());
      BOOST_TEST(status.text().find(why) != std::string::npos, status.text() << " does not say: " << why);
    };
    is_refused([&] { session.run({{own.x, two}}, {own.y}); });
    is_refused([&] { session.prepare({own.x}, {own.y}); });
    is_refused([&] { session.describe({own.x}, {own.y}); });
    is_refused([&] { session.partial_run_setup({own.x}, {own.y}); });
    is_refused([&] { session.save("never-written"); });
    is_refused([&] { session.restore("never-read"); });
    is_refused([&] { session.start_queue_runners(); });
  };
  Graph moved = std::move(own.graph);
  refuses("has been moved to another object");
  own.graph = other.graph;
  refuses("another graph has been assigned");
  own.graph = std::move(moved);  // back where the session expects it
  BOOST_TEST(session.run({{own.x, two}}, {own.y}).at(0).as<float>()[0] == -2);
  const Output grown = own.g.add_one("Neg", {own.y});
  BOOST_TEST(session.run({{own.x, two}}, {grown}).at(0).as<float>()[0] == 2);
  own.graph = first;
  const Status status = test::failure_of([&] { session.prepare({own.x}, {own.y}); });
  BOOST_TEST((status.code() == Code::FailedPrecondition), status.message());
  BOOST_TEST(status.text().starts_with("the graph of the session has 2 nodes, but it had 3"), status.text());
  BOOST_TEST(step.run({two}).at(0).as<float>()[0] == -2);  // needs no graph
}

BOOST_AUTO_TEST_CASE(the_builder_refuses_them) {
  const Scope& g = own.g;
  for (const auto& [stranger, why] : strangers) {
    const Output o = stranger;
    const std::string expected = why;
    refused([&] { g.with_control({o}); }, "a source of control edges " + expected);
    refused([&] { g.colocated_with(o); }, "an output to colocate with " + expected);
    refused([&] { g.group({own.y, o}); }, expected);
    refused([&] { (void)g.add("NoOp", {o}); }, expected);
    refused([&] { g.add_one("Add", {own.y, o}); }, "input 1 " + expected);
    refused([&] { g.call("neg", {o}); }, expected);
    refused([&] { (void)g.dtype(o); }, expected);
    refused([&] { (void)g.shape(o); }, expected);
    refused([&] { (void)g.outputs(o); }, expected);
    refused([&] { variable(g, o, "v"); }, expected);
    refused([&] { gradients(g, {o}, {own.x}); }, expected);
    refused([&] { gradients(g, {own.y}, {o}); }, expected);
    refused([&] { gradients(g, {own.y}, {own.x}, {o}); }, expected);
    refused([&] { dense(g, Gradient{o}, own.x); }, expected);
    refused([&] { initial_value(own.graph, o); }, "the variable " + expected);
    refused(
        [&] {
          cond(
              g, o, [&](const Scope&) { return std::vector{own.y}; },
              [&](const Scope&) { return std::vector{own.y}; });
        },
        expected);
    refused(
        [&] {
          while_loop(
              g, {o},
              [](const Scope& at, auto variables) {
                return at.add_one("Less", {variables[0], variables[0]});
              },
              [](const Scope&, auto variables) { return std::vector(variables.begin(), variables.end()); });
        },
        expected);
    BOOST_TEST(!own.graph.replace_input(own.y.node, 0, o).ok());
    BOOST_TEST(!own.graph.refine_shape(o, PartialShape{}).ok());
  }
  refused(
      [&] {
        cond(
            g, g.constant(Tensor::scalar(true)), [&](const Scope&) { return std::vector{other.y}; },
            [&](const Scope&) { return std::vector{own.y}; });
      },
      of_another);
}

BOOST_AUTO_TEST_CASE(numbers_of_nodes_are_checked) {
  Graph& graph = own.graph;
  const auto check = [](const Status& status) {
    BOOST_TEST((status.code() == Code::InvalidArgument));
    BOOST_TEST(status.text().ends_with("refers to node number 77, but the graph has 2 nodes"), status.text());
  };
  check(graph.replace_input(77, 0, own.x));
  check(graph.add_control_input(77, own.x.node));
  check(graph.add_control_input(own.x.node, 77));
  check(test::failure_of([&] { graph.set_device(77, "/device:CPU:0"); }));
}

BOOST_AUTO_TEST_CASE(what_is_the_same_edge_is_equal_with_a_stamp_or_without) {
  const Output plain{own.y.node, own.y.index};
  BOOST_TEST((plain == own.y));
  BOOST_TEST((OutputHash()(plain) == OutputHash()(own.y)));
  BOOST_TEST((plain <=> own.y == 0));
  BOOST_TEST((own.x < own.y));
  BOOST_TEST(own.graph.node(own.y.node).inputs[0].graph == 0u);
}

BOOST_AUTO_TEST_CASE(a_copy_or_a_moved_graph_knows_the_outputs_of_the_first) {
  const Graph copy = own.graph;
  BOOST_TEST(copy.check(own.y).ok());
  Graph moved = std::move(other.graph);
  BOOST_TEST(moved.check(other.y).ok());
  BOOST_TEST(!moved.check(own.y).ok());
  BOOST_TEST(!copy.empty().check(own.y).ok());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::foreign_output_test
