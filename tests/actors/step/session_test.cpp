// A session over the real actors of one process: feeds, fetches, state, partitions, failures.
#include "actors/step/session.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <thread>

#include "actors/runtime.h"
#include "actors/step/around_waits.h"
#include "graph/build/control_flow.h"
#include "graph/build/scope.h"
#include "tests/support/failure_of.h"

namespace troupe::session_test {
namespace {

struct Fixture {
  Runtime runtime{{.threads = 2, .tasks = {{"ps", 0, 1}, {"worker", 0, 2}}}};
  Graph graph{runtime.ops()};
  Scope g{graph};

  Output placeholder(const std::string& name, PartialShape shape = {}) {
    return g.with_name(name).add_one("Placeholder", {},
                                     {{"dtype", DType::Float}, {"shape", std::move(shape)}});
  }
  Output variable(const std::string& name, PartialShape shape) {
    return g.with_name(name).add_one("VariableV2", {},
                                     {{"dtype", DType::Float}, {"shape", std::move(shape)}});
  }
  Output constant(float value) { return g.constant(Tensor::scalar(value)); }
  static float scalar(const Tensor& tensor) { return tensor.as<float>()[0]; }
};

template <class F>
Code code_of(F function) {
  return test::failure_of(function).code();
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(session, Fixture)

// x, y -> Add -> z
BOOST_AUTO_TEST_CASE(feeds_go_in_and_fetches_come_out) {
  const Output x = placeholder("x"), y = placeholder("y");
  const Output z = g.add_one("Add", {x, y});
  Session session = runtime.session(graph);
  for (int i = 0; i < 3; ++i) {
    const auto fetched =
        session.run({{x, Tensor::scalar(static_cast<float>(i))}, {y, Tensor::scalar(2.0f)}}, {z, z});
    BOOST_TEST(scalar(fetched.at(0)) == 2.0f + static_cast<float>(i));
    BOOST_TEST(scalar(fetched.at(1)) == 2.0f + static_cast<float>(i));
  }
}

BOOST_AUTO_TEST_CASE(a_tensor_that_has_been_moved_from_is_refused) {
  const Output x = placeholder("x"), y = g.add_one("Neg", {x});
  Session session = runtime.session(graph);
  Tensor moved = Tensor::scalar(1.0f);
  const Tensor taken = std::move(moved);
  const Tensor& none = moved;  // NOLINT(bugprone-use-after-move): that is what is tested
  const PreparedStep step = session.prepare({x}, {y});
  BOOST_TEST((code_of([&] { session.run({{x, none}}, {y}); }) == Code::InvalidArgument));
  BOOST_TEST((code_of([&] { step.run({none}); }) == Code::InvalidArgument));
  BOOST_TEST((code_of([&] { g.constant(none); }) == Code::InvalidArgument));
  BOOST_TEST(scalar(step.run({taken}).at(0)) == -1.0f);
}

BOOST_AUTO_TEST_CASE(a_session_that_was_moved_is_refused) {
  const Output x = placeholder("x"), y = g.add_one("Neg", {x});
  Session first = runtime.session(graph), second = std::move(first);
  // NOLINTNEXTLINE(bugprone-use-after-move): that is what is tested
  const Status status = test::failure_of([&] { first.run({{x, Tensor::scalar(1.0f)}}, {y}); });
  BOOST_TEST((status.code() == Code::FailedPrecondition));
  BOOST_TEST(status.text() == "the session has been moved to another object");
  BOOST_TEST(scalar(second.run({{x, Tensor::scalar(1.0f)}}, {y}).at(0)) == -1.0f);
}

BOOST_AUTO_TEST_CASE(a_description_says_where_nodes_run_and_what_was_ignored) {
  const Output x = placeholder("x");
  const Output on_gpu = g.with_device("/device:GPU:7").with_name("product").add_one("Mul", {x, x});
  const Output v =
      g.with_device("/device:GPU:7")
          .with_name("v")
          .add_one("VariableV2", {}, {{"dtype", DType::Float}, {"shape", PartialShape::scalar()}});
  const Output folded = g.with_name("folded").add_one("Add", {constant(1), constant(2)});
  const Output sum = g.with_name("sum").add_one("AddN", {on_gpu, folded, v});
  Session session = runtime.session(graph, {.placement = Placement::Soft});
  session.run({{x, Tensor::scalar(1.0f)}}, {on_gpu});
  const auto names = [](const StepDescription& step) {
    std::vector<std::string> result;
    for (const PlacedNode& node : step.nodes) result.push_back(node.name);
    return result;
  };
  for (int i = 0; i < 2; ++i) {  // the variable has its device from the first time on
    const StepDescription step = session.describe({x}, {sum});
    BOOST_TEST((names(step) == std::vector<std::string>{"product", "v", "folded", "sum"}));
    BOOST_TEST(step.nodes[0].device == session.devices()[0].name);
    BOOST_TEST(step.nodes[2].op == "Const");
    BOOST_TEST_REQUIRE(step.ignored_requests.size() == 2u);
    BOOST_TEST(step.text().find("product: no device satisfies the request '/device:GPU:7'") !=
               std::string::npos);
    BOOST_TEST(step.parts.size() == 1u);
  }
  Session strict = runtime.session(graph, {.simplify = false});
  const Output plain = g.add_one("Neg", {g.add_one("Add", {constant(1), constant(2)})});
  BOOST_TEST(strict.describe({}, {plain}).nodes.size() == 4u);
  BOOST_TEST(session.describe({}, {plain}).nodes.size() == 1u);
  BOOST_TEST((code_of([&] { strict.describe({x}, {sum}); }) == Code::InvalidArgument));
  BOOST_TEST((code_of([&] { session.describe({}, {}); }) == Code::InvalidArgument));
}

// The master is waited for when it gets the graph and when it prepares the step, not when steps run.
BOOST_AUTO_TEST_CASE(waits_of_preparations_go_through_a_function) {
  const Output x = placeholder("x");
  Session session = runtime.session(graph);
  int waits = 0;
  const AroundWaits around([&](const AroundWaits::Wait& wait) {
    wait();
    ++waits;
  });
  const PreparedStep step = session.prepare({x}, {g.add_one("Neg", {x})});
  BOOST_TEST(waits == 3);  // and for its turn to send the graph
  BOOST_TEST(scalar(step.run({Tensor::scalar(2.0f)}).at(0)) == -2);
  BOOST_TEST(waits == 3);
}

// Denormals are flushed on every thread that computes ops, but not in the client's own arithmetic.
BOOST_AUTO_TEST_CASE(denormal_floats_count_as_zero_in_steps_only) {
  const Output x = placeholder("x", {unknown_dim});
  const Output v = variable("v", {unknown_dim});
  const Output product = g.add_one("Mul", {x, constant(1e-20f)}), sum = g.add_one("Add", {x, x});
  const Output assigned = g.add_one("Assign", {v, x}, {{"validate_shape", false}});
  const Output updated = g.with_control({assigned}).add_one("AssignAdd", {v, x});
  Session session = runtime.session(graph);
  volatile float least = std::numeric_limits<float>::denorm_min();
  for (const int64_t size : {1, 1 << 20}) {
    const auto zeros = [&](float value, Output output) {
      const Tensor fed = Tensor::of<float>(Shape{size}, std::vector<float>(static_cast<size_t>(size), value));
      const Tensor result = session.run({{x, fed}}, {output}).at(0);
      return std::ranges::count(result.as<float>(), 0.0f) == size;
    };
    BOOST_TEST(zeros(1e-20f, product), "the product of " << size);
    BOOST_TEST(zeros(least, sum), "the sum of " << size);
    BOOST_TEST(zeros(least, updated), "the update of " << size);
  }
  BOOST_TEST((least + least > least));
}

// The smallest stateful program: z = x + y, then y = y + z: 3, 7, 15.
BOOST_AUTO_TEST_CASE(a_variable_keeps_its_value_between_steps) {
  const Output x = g.constant(Tensor::of<float>(Shape{10}, std::vector<float>(10, 1.0f)));
  const Output y = variable("y", {10});
  const Output init = g.add_one("Assign", {y, x});
  const Output z = g.add_one("Add", {x, y});
  const Output update = g.with_control({z}).add_one("AssignAdd", {y, z});
  Session session = runtime.session(graph);
  BOOST_TEST((code_of([&] { session.run({z}); }) == Code::FailedPrecondition));
  session.run({init});
  for (const float expected : {3.0f, 7.0f, 15.0f}) {
    const auto fetched = session.run({update});
    for (const float value : fetched.at(0).as<float>()) BOOST_TEST(value == expected);
  }
}

// worker CPU:0: x -> Neg --edge--> worker CPU:1: Square --edge--> ps CPU:0: Add 1
BOOST_AUTO_TEST_CASE(tensors_travel_between_devices_and_tasks) {
  const Output x = placeholder("x");
  const Output negated = g.with_device("/job:worker/device:CPU:0").add_one("Neg", {x});
  const Output squared = g.with_device("/job:worker/device:CPU:1").add_one("Square", {negated});
  const Output result = g.with_device("/job:ps").add_one("Add", {squared, constant(1)});
  Session session = runtime.session(graph);
  for (int i = 0; i < 10; ++i)
    BOOST_TEST(scalar(session.run({{x, Tensor::scalar(static_cast<float>(i))}}, {result}).at(0)) ==
               static_cast<float>(1 + i * i));
}

BOOST_AUTO_TEST_CASE(a_variable_on_another_task_is_read_after_the_update_it_waits_for) {
  const Output x = placeholder("x");
  const Scope ps = g.with_device("/job:ps"), worker = g.with_device("/job:worker/device:CPU:0");
  const Output v =
      ps.with_name("v").add_one("VariableV2", {}, {{"dtype", DType::Float}, {"shape", PartialShape{}}});
  const Output init = ps.add_one("Assign", {v, constant(0)});
  const Output add = ps.add_one("AssignAdd", {v, x});
  const Output read = worker.with_control({add}).add_one("Identity", {v});
  const Output doubled = worker.add_one("Add", {read, read});
  Session session = runtime.session(graph);
  session.run({init});
  for (int i = 1; i <= 20; ++i)
    BOOST_TEST(scalar(session.run({{x, Tensor::scalar(1.0f)}}, {doubled}).at(0)) ==
               static_cast<float>(2 * i));
}

// v is on the last device; count is colocated with it. A step with only count finds it on the same device as a step with both.
BOOST_AUTO_TEST_CASE(state_has_one_place_whatever_a_step_leaves_out) {
  const Scope there = g.with_device("/job:worker/device:CPU:1");
  const Output v =
      there.with_name("v").add_one("VariableV2", {}, {{"dtype", DType::Float}, {"shape", PartialShape{}}});
  const Output one = constant(1);
  const Output count = g.with_name("count").colocated_with(v).add_one(
      "VariableV2", {}, {{"dtype", DType::Float}, {"shape", PartialShape{}}});
  const Output assigned = g.add_one("Assign", {count, one});
  const Output both = g.add_one("AssignAdd", {v, count});
  Session session = runtime.session(graph);
  session.run({there.add_one("Assign", {v, one})});
  session.run({assigned});
  BOOST_TEST(scalar(session.run({both})[0]) == 2.0f);
  BOOST_TEST(scalar(session.run({g.colocated_with(v).add_one("AssignAdd", {count, one})})[0]) == 2.0f);
  BOOST_TEST(scalar(session.run({count})[0]) == 2.0f);
}

BOOST_AUTO_TEST_CASE(the_graph_may_grow_between_steps) {
  const Output x = placeholder("x");
  const Output once = g.add_one("Add", {x, constant(1)});
  Session session = runtime.session(graph);
  BOOST_TEST(scalar(session.run({{x, Tensor::scalar(1.0f)}}, {once}).at(0)) == 2.0f);
  const Output twice = g.add_one("Add", {once, constant(1)});
  BOOST_TEST(scalar(session.run({{x, Tensor::scalar(1.0f)}}, {twice}).at(0)) == 3.0f);
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused_and_the_next_one_runs) {
  const Output x = placeholder("x", {2});
  const Output y = g.add_one("Neg", {x});
  Session session = runtime.session(graph);
  const Tensor good = Tensor::vector<float>({1, 2});
  BOOST_TEST((code_of([&] { session.run({}, {y}); }) == Code::InvalidArgument));  // x is not fed
  BOOST_TEST((code_of([&] {
                session.run({{x, Tensor::vector<int32_t>({1, 2})}}, {y});
              }) == Code::InvalidArgument));  // another dtype
  BOOST_TEST((code_of([&] {
                session.run({{x, Tensor::vector<float>({1, 2, 3})}}, {y});
              }) == Code::InvalidArgument));  // another shape
  BOOST_TEST((code_of([&] {
                session.run({{x, good}, {x, good}}, {y});
              }) == Code::InvalidArgument));                                               // fed twice
  BOOST_TEST((code_of([&] { session.run({{x, good}}, {x}); }) == Code::InvalidArgument));  // fed and fetched
  BOOST_TEST((code_of([&] { session.run({{x, good}}, {}); }) == Code::InvalidArgument));   // nothing to run
  BOOST_TEST((code_of([&] { session.run({Output{7, 0}}); }) == Code::InvalidArgument));  // not in this graph
  BOOST_TEST((code_of([&] { runtime.session(graph, {.tasks = {"/job:pss"}}); }) ==
              Code::InvalidArgument));  // no such task
  BOOST_TEST(session.run({{x, good}}, {y}).at(0).as<float>()[1] == -2.0f);
}

BOOST_AUTO_TEST_CASE(a_failure_names_op_node_and_device) {
  const Output gathered = g.with_device("/job:ps").with_name("pick").add_one(
      "Gather", {g.constant(Tensor::vector<float>({1, 2})),
                 g.with_name("index").add_one("Placeholder", {}, {{"dtype", DType::Int32}})});
  Session session = runtime.session(graph);
  try {
    session.run({{{graph.find("index")->id, 0}, Tensor::scalar<int32_t>(7)}}, {gathered});
    BOOST_FAIL("an index out of range went through");
  } catch (const Error& error) {
    BOOST_TEST((error.status().code() == Code::InvalidArgument));
    BOOST_TEST(error.status().op() == "Gather");
    BOOST_TEST(error.status().node() == "pick");
    BOOST_TEST(error.status().device() == "/job:ps/replica:0/task:0/device:CPU:0");
  }
}

BOOST_AUTO_TEST_CASE(several_threads_run_steps_at_once) {
  const Output x = placeholder("x");
  const Output y = g.with_device("/job:ps").add_one(
      "Square", {g.with_device("/job:worker").add_one("Add", {x, constant(1)})});
  Session session = runtime.session(graph);
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        const float value = static_cast<float>(t * 100 + i);
        good += scalar(session.run({{x, Tensor::scalar(value)}}, {y}).at(0)) == (value + 1) * (value + 1);
      }
    });
  for (auto& thread : threads) thread.join();
  BOOST_TEST(good == 400);
}

// More signatures are in use at a time than are kept.
BOOST_AUTO_TEST_CASE(no_run_fails_because_its_signature_was_dropped) {
  const Output x = placeholder("x");
  std::vector<Output> sums;
  for (int t = 0; t < 24; ++t) sums.push_back(g.add_one("Add", {x, constant(static_cast<float>(t))}));
  Session session = runtime.session(graph, {.signatures = 2});
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 60; ++i) {
        const int which = (3 * t + i) % 24;
        good += scalar(session.run({{x, Tensor::scalar(1.0f)}}, {sums[which]}).at(0)) ==
                static_cast<float>(which + 1);
      }
    });
  for (auto& thread : threads) thread.join();
  BOOST_TEST(good == 480);
}

BOOST_AUTO_TEST_CASE(a_closed_session_refuses_steps) {
  const Output y = g.add_one("Neg", {constant(1)});
  Session session = runtime.session(graph);
  session.run({y});
  session.close();
  session.close();
  BOOST_TEST((code_of([&] { session.run({y}); }) == Code::FailedPrecondition));
}

// The worker sums the results of a loop on the ps.
BOOST_AUTO_TEST_CASE(a_profile_tells_what_ran_and_how_long) {
  const auto count = while_loop(
      g.with_device("/job:ps/task:0"), {constant(0)},
      [&](const Scope& s, std::span<const Output> v) {
        return s.add_one("Less", {v[0], s.constant(Tensor::scalar(5.0f))});
      },
      [&](const Scope& s, std::span<const Output> v) {
        return std::vector{s.add_one("Add", {v[0], s.constant(Tensor::scalar(1.0f))})};
      });
  const Output x = placeholder("x");
  const Output sum =
      g.with_name("sum").with_device("/job:worker/task:0/device:CPU:0").add_one("AddN", {count[0], x});
  Session session = runtime.session(graph);
  const PreparedStep step = session.prepare({x}, {sum});
  std::vector<DeviceProfile> profile(5);  // has entries of an earlier step
  const auto begin = std::chrono::steady_clock::now();
  BOOST_TEST(scalar(step.run({Tensor::scalar(2.0f)}, {.profile = &profile}).at(0)) == 7.0f);
  const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - begin;
  std::map<std::string, uint64_t> runs;
  std::vector<std::string> devices;
  for (const DeviceProfile& device : profile) {
    devices.push_back(device.device);
    std::chrono::nanoseconds in_nodes{0};
    for (const NodeProfile& node : device.nodes) {
      in_nodes += node.time;
      runs[node.op] += node.runs;
    }
    BOOST_TEST(in_nodes.count() <= device.driven.count());
    BOOST_TEST(device.driven.count() <= device.elapsed.count());
    BOOST_TEST(device.elapsed.count() <= taken.count());
  }
  std::ranges::sort(devices);
  BOOST_TEST(devices == (std::vector<std::string>{"/job:ps/replica:0/task:0/device:CPU:0",
                                                  "/job:worker/replica:0/task:0/device:CPU:0"}),
             boost::test_tools::per_element());
  BOOST_TEST(runs["Less"] == 6u);
  BOOST_TEST(runs["Add"] == 5u);  // it is dead in the iteration after the last one
  BOOST_TEST(runs["AddN"] == 1u);
  BOOST_TEST(runs["feed"] == 1u);
  BOOST_TEST(runs["fetch"] == 1u);
  step.run({Tensor::scalar(2.0f)});
  BOOST_TEST(profile.size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::session_test
