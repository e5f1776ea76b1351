// Device functions (features.md H3): where scopes that ask functions put new nodes, and that a graph with variables on parameter
// servers trains.
#include <boost/test/unit_test.hpp>

#include "actors/runtime.h"
#include "actors/step/session.h"
#include "graph/build/device_function.h"
#include "graph/build/gradients.h"
#include "graph/build/variables.h"
#include "kernels/constructors.h"
#include "tests/support/failure_of.h"

namespace troupe::device_functions_test {
namespace {

struct Fixture {
  Runtime runtime{{.threads = 2, .tasks = {{"ps", 0, 1}, {"ps", 1, 1}, {"worker", 0, 1}}}};
  Graph graph{runtime.ops()};
  Scope g{graph};

  Scope with_servers(int64_t tasks, TaskChoice choice = {}) const {
    return g.with_device(replica_devices({.ps_tasks = tasks, .choice = std::move(choice)}));
  }
  std::string device(Output of) const { return graph.node(of.node).device; }
  Output variable_of(const Scope& scope, const PartialShape& shape) const {
    return scope.add_one("VarHandleOp", {}, {{"dtype", f32}, {"shape", shape}});
  }
  void refused(const std::function<void()>& call, const std::string& text) const {
    const Status failure = test::failure_of(call);
    BOOST_TEST((failure.code() == Code::InvalidArgument), failure.text());
    BOOST_TEST(failure.text().find(text) != std::string::npos, failure.text());
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(device_functions, Fixture)

BOOST_AUTO_TEST_CASE(a_function_is_asked_for_the_device_of_each_node) {
  std::vector<std::string> asked;
  const Scope scope =
      g.with_device("/job:worker/task:1").with_device([&](const Graph&, const NodeSpec& node) {
        asked.push_back(node.op + ' ' + node.name + ' ' + node.device);
        return node.op == "Const" ? "/device:CPU:1" : node.device;
      });
  const Output one = scope.with_name("one").constant(Tensor::scalar(1.0f));
  const Output two = neg(scope.with_device("/cpu:0").with_name("two"), one);
  BOOST_TEST(asked == (std::vector<std::string>{"Const one ", "Neg two /device:CPU:0"}));
  BOOST_TEST(device(one) == "/job:worker/task:1/device:CPU:1");
  BOOST_TEST(device(two) == "/job:worker/task:1/device:CPU:0");
}

BOOST_AUTO_TEST_CASE(functions_are_asked_from_the_inside_to_the_outside) {
  const auto add_text = [](const char* text) {
    return [text](const Graph&, const NodeSpec& node) { return node.device + text; };
  };
  const Scope scope = g.with_device(add_text("/job:outer"))
                          .with_device("/task:3")
                          .with_device(add_text("/device:CPU:1"))
                          .with_device("/job:inner");
  BOOST_TEST(device(scope.constant(Tensor::scalar(1))) == "/job:outer/task:3/device:CPU:1");
}

BOOST_AUTO_TEST_CASE(a_colocated_node_requests_what_the_other_does) {
  const Output x = g.constant(Tensor::scalar(1.0f)), y = neg(g.with_device("/job:ps/task:1"), x);
  const DeviceFunction wrong = [](const Graph&, const NodeSpec&) -> std::string { return "/job:wrong"; };
  BOOST_TEST(device(neg(g.colocated_with(y).with_device(wrong), x)) == "/job:ps/task:1");
  for (const Scope& other : {g.with_device(wrong), g.with_device("/job:worker/task:0")}) {
    BOOST_TEST(device(neg(other.colocated_with(x), x)).empty());
    BOOST_TEST(device(neg(other.colocated_with(y), x)) == "/job:ps/task:1");
  }
}

BOOST_AUTO_TEST_CASE(results_and_options_that_cannot_be_are_refused) {
  refused([&] { g.with_device(DeviceFunction()); }, "a device function is null");
  const Scope wrong = g.with_device([](const Graph&, const NodeSpec&) -> std::string { return "/job"; });
  refused([&] { wrong.constant(Tensor::scalar(1)); }, "/job");
  refused([&] { with_servers(-1); }, "the number of parameter servers is -1; it must be at least 1");
  refused([&] { in_turn(0); }, "the number of parameter servers is 0");
  refused([&] { by_bytes(0); }, "the number of parameter servers is 0");
  refused(
      [&] {
        variable_of(with_servers(2, by_bytes(2)), PartialShape{-1, 3});
      },
      "its shape is [?,3]; a choice of servers by bytes needs a shape without unknown sizes");
}

BOOST_AUTO_TEST_CASE(a_choice_that_is_no_server_is_refused) {
  for (const int64_t task : {-1, 2})
    refused([&] { variable_of(with_servers(2, [&](const NodeSpec&) { return task; }), {3}); },
            "the parameter server chosen for it is " + std::to_string(task) + "; it must be from 0 to 1");
}

BOOST_AUTO_TEST_CASE(variables_go_to_the_servers_in_turn_and_all_else_to_the_worker) {
  const Scope scope = with_servers(2);
  const Output a = variable_of(scope, {2}), b = variable_of(scope, {3}), c = variable_of(scope, {});
  BOOST_TEST(device(a) == "/job:ps/task:0");
  BOOST_TEST(device(b) == "/job:ps/task:1");
  BOOST_TEST(device(c) == "/job:ps/task:0");
  BOOST_TEST(device(scope.constant(Tensor::scalar(1))) == "/job:worker");
  // What reads a variable is beside it.
  BOOST_TEST(device(scope.add_one("ReadVariableOp", {b}, {{"dtype", f32}})) == "/job:ps/task:1");
  const Output reference = scope.add_one("VariableV2", {}, {{"dtype", f32}, {"shape", PartialShape{2}}});
  const Output value = scope.constant(Tensor::vector<float>({1, 2}));
  BOOST_TEST(device(scope.add_one("Assign", {reference, value})) == "/job:ps/task:1");
  BOOST_TEST(device(scope.add_one("Neg", {reference})) == "/job:worker");
}

BOOST_AUTO_TEST_CASE(what_scopes_inside_request_wins) {
  const Scope scope = with_servers(2);
  BOOST_TEST(device(variable_of(scope.with_device("/job:worker/task:0"), {2})) == "/job:worker/task:0");
  BOOST_TEST(device(variable_of(scope.with_device("/task:1"), {2})) == "/job:ps/task:1");
  BOOST_TEST(device(variable_of(scope.with_device("/cpu:0"), {2})) == "/job:ps/task:0/device:CPU:0");
  BOOST_TEST(device(variable_of(with_servers(0), {2})) == "/job:worker");
}

BOOST_AUTO_TEST_CASE(servers_are_chosen_by_bytes_or_by_a_function) {
  const Scope scope = with_servers(2, by_bytes(2));
  std::string tasks;
  for (const int64_t rows : {10, 3, 4, 4, 2}) tasks += device(variable_of(scope, {rows})).back();
  BOOST_TEST(tasks == "01110");
  const Scope last = with_servers(2, [](const NodeSpec&) { return 1; });
  BOOST_TEST(device(variable_of(last, {2})) == "/job:ps/task:1");
}

BOOST_AUTO_TEST_CASE(a_graph_with_variables_on_servers_trains) {
  const Scope scope = with_servers(2, by_bytes(2));
  const Output w = variable(scope, scope.constant(Tensor::vector<float>({1, 2})), "w");
  const Output v = variable(scope, scope.constant(Tensor::vector<float>({3, 4})), "v");
  const Output x = placeholder(scope, f32, {2}, "x");
  const Output loss = sum(scope, mul(scope, mul(scope, w, v), x));
  std::vector<Output> updates;
  const auto slopes = gradients(scope, {loss}, {w, v});
  for (const auto& [edge, slope] : {std::pair{w, slopes[0]}, std::pair{v, slopes[1]}})
    updates.push_back(scope.add_one("ApplyGradientDescent",
                                    {edge, scope.constant(Tensor::scalar(1.0f)), dense(scope, slope, edge)}));
  BOOST_TEST(device(updates[0]) == "/job:ps/task:0");
  BOOST_TEST(device(updates[1]) == "/job:ps/task:1");
  Session session = runtime.session(graph);
  session.run({initializer(scope)});
  session.run({{x, Tensor::vector<float>({1, 10})}}, {scope.group(updates)});
  const auto values = session.run({w, v});
  BOOST_TEST(values[0].as<float>()[0] == -2.0f);
  BOOST_TEST(values[0].as<float>()[1] == -38.0f);
  BOOST_TEST(values[1].as<float>()[0] == 2.0f);
  BOOST_TEST(values[1].as<float>()[1] == -16.0f);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::device_functions_test
