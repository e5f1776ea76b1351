// Functions that call themselves when a step runs: values, gradients, limits, cancelling, state, random numbers, and memory.
#include "graph/build/functions.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>
#include <set>
#include <thread>

#include "actors/runtime.h"
#include "actors/step/session.h"
#include "graph/build/control_flow.h"
#include "graph/build/gradients.h"
#include "tests/support/failure_of.h"

namespace troupe::function_steps_test {
namespace {

Output number(const Scope& g, double value) { return g.constant(Tensor::scalar(value)); }

/// Adds placeholders for doubles of any shape.
Output input(const Scope& g, const std::string& name) {
  return g.with_name(name).add_one("Placeholder", {}, {{"dtype", f64}, {"shape", PartialShape()}});
}

/// power(x, n) = x^n by n calls inside each other, the last one for n = 0.
FunctionSignature define_power(Graph& graph) {
  FunctionSignature power{"power", {f64, f64}, {f64}};
  define_function(graph, power, [&](const Scope& s, const std::vector<Output>& in) {
    return cond(
        s, s.add_one("Less", {in[1], number(s, 1)}),
        [&](const Scope& t) { return std::vector{t.add_one("OnesLike", {in[0]})}; },
        [&](const Scope& t) {
          const Output less = t.add_one("Sub", {in[1], number(t, 1)});
          return std::vector{t.add_one("Mul", {in[0], call(t, power, {in[0], less})[0]})};
        });
  });
  return power;
}

/// fib(n) for whole n by two calls in each.
FunctionSignature define_fib(Graph& graph) {
  FunctionSignature fib{"fib", {f64}, {f64}};
  define_function(graph, fib, [&](const Scope& s, const std::vector<Output>& in) {
    return cond(
        s, s.add_one("Less", {in[0], number(s, 2)}), [&](const Scope&) { return std::vector{in[0]}; },
        [&](const Scope& t) {
          const Output a = call(t, fib, {t.add_one("Sub", {in[0], number(t, 1)})})[0];
          const Output b = call(t, fib, {t.add_one("Sub", {in[0], number(t, 2)})})[0];
          return std::vector{t.add_one("Add", {a, b})};
        });
  });
  return fib;
}

/// endless(x) = endless(x)
FunctionSignature define_endless(Graph& graph) {
  FunctionSignature endless{"endless", {f64}, {f64}};
  define_function(graph, endless,
                  [&](const Scope& s, const std::vector<Output>& in) { return call(s, endless, {in[0]}); });
  return endless;
}

bool contains(const Status& status, const std::string& text) {
  return status.message().find(text) != std::string::npos;
}

size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  size_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * 4096;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(function_steps)

BOOST_AUTO_TEST_CASE(recursion_ends_at_its_condition) {
  for (const size_t threads : {1, 3}) {
    Runtime runtime{{.threads = threads}};
    Graph graph{runtime.ops()};
    const Scope g{graph};
    const Output x = input(g, "x"), n = input(g, "n");
    const Output p = call(g, define_power(graph), {x, n})[0], f = call(g, define_fib(graph), {n})[0];
    Session session = runtime.session(graph);
    const std::vector<double> fib = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55};
    for (int i = 0; i <= 10; ++i) {
      const auto out = session.run({{x, Tensor::scalar(1.5)}, {n, Tensor::scalar<double>(i)}}, {p, f});
      BOOST_TEST(out[0].item<double>() == std::pow(1.5, i), boost::test_tools::tolerance(1e-12));
      BOOST_TEST(out[1].item<double>() == fib[static_cast<size_t>(i)]);
    }
    // Each call has state of its own, and the shapes of its values may differ from call to call.
    const auto out = session.run({{x, Tensor::vector<double>({1, 2, 3})}, {n, Tensor::scalar(3.0)}}, {p});
    BOOST_TEST(out[0].as<double>()[2] == 27);
    BOOST_TEST(session.run({{n, Tensor::scalar(18.0)}}, {f})[0].item<double>() == 2584);
  }
}

BOOST_AUTO_TEST_CASE(functions_may_call_each_other) {
  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  const Scope g{graph};
  const FunctionSignature even{"even", {f64}, {DType::Bool}}, odd{"odd", {f64}, {DType::Bool}};
  for (const bool is_even : {true, false})
    define_function(graph, is_even ? even : odd, [&](const Scope& s, const std::vector<Output>& in) {
      return cond(
          s, s.add_one("Less", {in[0], number(s, 1)}),
          [&](const Scope& t) { return std::vector{t.constant(Tensor::scalar(is_even))}; },
          [&](const Scope& t) {
            return call(t, is_even ? odd : even, {t.add_one("Sub", {in[0], number(t, 1)})});
          });
    });
  Session session = runtime.session(graph);
  for (const int n : {0, 1, 6, 7, 1001})
    BOOST_TEST(session.run({call(g, even, {number(g, n)})[0]})[0].item<bool>() == (n % 2 == 0));
}

// power(x, n) = x^n: the gradient function calls itself as deeply, and so does the gradient of the gradient.
BOOST_AUTO_TEST_CASE(gradients_of_any_order) {
  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  const Scope g{graph};
  const Output x = input(g, "x"), n = input(g, "n");
  const Output y = g.add_one("Mul", {x, call(g, define_power(graph), {x, n})[0]});
  const Output first = dense(g, gradients(g, {y}, {x})[0], x);
  const Output second = dense(g, gradients(g, {first}, {x})[0], x);
  Session session = runtime.session(graph);
  for (const int i : {0, 1, 2, 7}) {
    const auto at = [&](double value, Output what) {
      return session.run({{x, Tensor::scalar(value)}, {n, Tensor::scalar<double>(i)}}, {what})[0]
          .item<double>();
    };
    constexpr double step = 1e-5;
    const auto slope = [&](Output what) {
      return (at(1.2 + step, what) - at(1.2 - step, what)) / (2 * step);
    };
    BOOST_TEST(at(1.2, first) == slope(y), boost::test_tools::tolerance(1e-7));
    BOOST_TEST(std::abs(at(1.2, second) - slope(first)) < 1e-6 * (1 + std::abs(slope(first))));
  }
}

// sum(i, w) = value of node i of a binary heap of 7, through tanh(w * left + right).
BOOST_AUTO_TEST_CASE(gradient_of_a_tree) {
  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  const Scope g{graph};
  const FunctionSignature tree{"tree", {DType::Int32, f64, f64}, {f64}};
  define_function(graph, tree, [&](const Scope& s, const std::vector<Output>& in) {
    const auto whole = [](const Scope& t, int32_t value) { return t.constant(Tensor::scalar(value)); };
    return cond(
        s, s.add_one("Less", {whole(s, 2), in[0]}),
        [&](const Scope& t) {
          return std::vector{t.add_one("Gather", {in[1], in[0]})};
        },
        [&](const Scope& t) {
          const Output twice = t.add_one("Add", {in[0], in[0]});
          const Output left = call(t, tree, {t.add_one("Add", {twice, whole(t, 1)}), in[1], in[2]})[0];
          const Output right = call(t, tree, {t.add_one("Add", {twice, whole(t, 2)}), in[1], in[2]})[0];
          return std::vector{t.add_one("Tanh", {t.add_one("Add", {t.add_one("Mul", {in[2], left}), right})})};
        });
  });
  const Output leaves = input(g, "leaves"), w = input(g, "w");
  const Output y = call(g, tree, {g.constant(Tensor::scalar(int32_t{0})), leaves, w})[0];
  const auto slopes = gradients(g, {y}, {leaves, w});
  const Output by_leaves = dense(g, slopes[0], leaves), by_w = dense(g, slopes[1], w);
  Session session = runtime.session(graph);
  const std::vector<double> values = {0, 0, 0, 0.3, -0.2, 0.5, 0.1};
  const auto run = [&](std::vector<double> at, double weight, Output what) {
    return session.run(
        {{leaves, Tensor::vector<double>(std::span<const double>(at))}, {w, Tensor::scalar(weight)}},
        {what})[0];
  };
  constexpr double step = 1e-5;
  const double expected =
      (run(values, 0.7 + step, y).item<double>() - run(values, 0.7 - step, y).item<double>()) / (2 * step);
  BOOST_TEST(run(values, 0.7, by_w).item<double>() == expected, boost::test_tools::tolerance(1e-8));
  for (size_t i = 3; i < values.size(); ++i) {
    std::vector<double> more = values, less = values;
    more[i] += step, less[i] -= step;
    const double slope = (run(more, 0.7, y).item<double>() - run(less, 0.7, y).item<double>()) / (2 * step);
    BOOST_TEST(run(values, 0.7, by_leaves).as<double>()[i] == slope, boost::test_tools::tolerance(1e-8));
  }
}

BOOST_AUTO_TEST_CASE(endless_recursion_is_an_error) {
  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  const Scope g{graph};
  const Output x = input(g, "x"), n = input(g, "n");
  const FunctionSignature power = define_power(graph);
  const Output y = call(g.with_name("start"), define_endless(graph), {x})[0], p = call(g, power, {x, n})[0];
  Session session = runtime.session(graph);
  const Status endless = test::failure_of([&] { session.run({{x, Tensor::scalar(1.0)}}, {y}); });
  BOOST_TEST((endless.code() == Code::ResourceExhausted));
  for (const char* part : {"function endless", "10001", "10000", "endless/PartitionedCall"})
    BOOST_TEST(contains(endless, part), endless.message());
  const Status deep = test::failure_of([&] {
    session.run({{x, Tensor::scalar(1.0)}, {n, Tensor::scalar(100'000.0)}}, {p});
  });
  BOOST_TEST((deep.code() == Code::ResourceExhausted));
  // The process lives, and so does the session: as many calls as are allowed can be nested.
  BOOST_TEST(session.run({{x, Tensor::scalar(1.0)}, {n, Tensor::scalar(9'999.0)}}, {p})[0].item<double>() ==
             1);
}

BOOST_AUTO_TEST_CASE(memory_does_not_grow_with_the_number_of_calls) {
  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  const Scope g{graph};
  const Output n = input(g, "n"), f = call(g, define_fib(graph), {n})[0];
  Session session = runtime.session(graph);
  const auto run = [&] { session.run({{n, Tensor::scalar(19.0)}}, {f}); };  // 13,529 calls
  run();
  const size_t before = resident_bytes();
  for (int i = 0; i < 10; ++i) run();
#if defined(__SANITIZE_ADDRESS__)
  BOOST_TEST_MESSAGE("memory not checked: what the address sanitizer keeps is not ours, " << before
                                                                                          << " bytes");
#else
  BOOST_TEST(resident_bytes() < before + (size_t{8} << 20));
#endif
}

BOOST_AUTO_TEST_CASE(a_step_ends_in_the_middle_of_a_recursion) {
  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  const Scope g{graph};
  const Output n = input(g, "n"), f = call(g, define_fib(graph), {n})[0];
  Session session = runtime.session(graph);
  const Status late = test::failure_of([&] {
    session.run({{n, Tensor::scalar(60.0)}}, {f}, {.timeout = std::chrono::milliseconds(50)});
  });
  BOOST_TEST((late.code() == Code::DeadlineExceeded), late.message());
  BOOST_TEST(session.run({{n, Tensor::scalar(10.0)}}, {f})[0].item<double>() == 55);
  Status cancelled;
  std::thread client([&] {
    cancelled = test::failure_of([&] { session.run({{n, Tensor::scalar(60.0)}}, {f}); });
  });
  session.cancel();
  client.join();
  BOOST_TEST(!cancelled.ok());
}

// A call that waits at a queue, 50 calls deep, ends with its step. Functions may take handles.
BOOST_AUTO_TEST_CASE(a_waiting_call_ends_with_its_step) {
  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  const Scope g{graph};
  const Attributes types = {{"component_types", std::vector{f64}}};
  const Output queue = g.with_name("queue").add_one("FIFOQueueV2", {}, types);
  const FunctionSignature take{"take", {DType::Resource, f64}, {f64}, true};
  define_function(graph, take, [&](const Scope& s, const std::vector<Output>& in) {
    return cond(
        s, s.add_one("Less", {in[1], number(s, 1)}),
        [&](const Scope& t) { return std::vector{t.add_one("QueueDequeueV2", {in[0]}, types)}; },
        [&](const Scope& t) {
          return call(t, take, {in[0], t.add_one("Sub", {in[1], number(t, 1)})});
        });
  });
  const Output y = call(g, take, {queue, number(g, 50)})[0];
  const Output put{g.add("QueueEnqueueV2", {queue, number(g, 7)}), Output::control, graph.stamp()};
  Session session = runtime.session(graph);
  session.run({put});
  BOOST_TEST(session.run({y})[0].item<double>() == 7);
  const Status late =
      test::failure_of([&] { session.run({}, {y}, {.timeout = std::chrono::milliseconds(50)}); });
  BOOST_TEST((late.code() == Code::DeadlineExceeded), late.message());
  session.close();  // fails if a step does not end
}

// count(v, n) adds n, n - 1, ..., 1 to a variable.
BOOST_AUTO_TEST_CASE(calls_change_variables) {
  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  const Scope g{graph};
  const Attributes dtype = {{"dtype", f64}};
  const Output v =
      g.with_name("v").add_one("VarHandleOp", {}, {{"dtype", f64}, {"shape", PartialShape::scalar()}});
  const Output start{g.add("AssignVariableOp", {v, number(g, 0)}), Output::control, graph.stamp()};
  const FunctionSignature count{"count", {DType::Resource, f64}, {f64}, true};
  define_function(graph, count, [&](const Scope& s, const std::vector<Output>& in) {
    const NodeId added = s.add("AssignAddVariableOp", {in[0], in[1]}, dtype);
    const Scope after = s.with_control({s.graph().output(added, Output::control)});
    return cond(
        after, after.add_one("Less", {in[1], number(s, 2)}),
        [&](const Scope& t) { return std::vector{t.add_one("ReadVariableOp", {in[0]}, dtype)}; },
        [&](const Scope& t) {
          return call(t, count, {in[0], t.add_one("Sub", {in[1], number(t, 1)})});
        });
  });
  const Output y = call(g, count, {v, number(g, 100)})[0];
  Session session = runtime.session(graph);
  BOOST_TEST((test::failure_of([&] { session.run({y}); }).code() == Code::FailedPrecondition));
  session.run({start});
  BOOST_TEST(session.run({y})[0].item<double>() == 5050);
  BOOST_TEST(session.run({y})[0].item<double>() == 10100);
}

// The gradient by a variable flows through its handle: scaled(v, x, n) = v^n * x.
BOOST_AUTO_TEST_CASE(gradients_by_variables) {
  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  const Scope g{graph};
  const Attributes dtype = {{"dtype", f64}};
  const Output v =
      g.with_name("v").add_one("VarHandleOp", {}, {{"dtype", f64}, {"shape", PartialShape::scalar()}});
  const Output start{g.add("AssignVariableOp", {v, number(g, 3)}), Output::control, graph.stamp()};
  const FunctionSignature scaled{"scaled", {DType::Resource, f64, f64}, {f64}, true};
  define_function(graph, scaled, [&](const Scope& s, const std::vector<Output>& in) {
    return cond(
        s, s.add_one("Less", {in[2], number(s, 1)}), [&](const Scope&) { return std::vector{in[1]}; },
        [&](const Scope& t) {
          const Output product = t.add_one("Mul", {t.add_one("ReadVariableOp", {in[0]}, dtype), in[1]});
          return call(t, scaled, {in[0], product, t.add_one("Sub", {in[2], number(t, 1)})});
        });
  });
  const Output y = call(g, scaled, {v, number(g, 2), number(g, 4)})[0];
  const Gradient slope = gradients(g, {y}, {v})[0];
  BOOST_TEST_REQUIRE(std::holds_alternative<Output>(slope));
  Session session = runtime.session(graph);
  session.run({start});
  const auto out = session.run({y, std::get<Output>(slope)});
  BOOST_TEST(out[0].item<double>() == 162);
  BOOST_TEST(out[1].item<double>() == 216);
}

BOOST_AUTO_TEST_CASE(each_call_draws_its_own_numbers) {
  std::vector<double> runs[2];
  for (const size_t threads : {1, 3}) {
    Runtime runtime{{.threads = threads}};
    Graph graph{runtime.ops()};
    const Scope g{graph};
    const FunctionSignature draw{
        "draw", {f64, f64}, {f64}, true};  // draw(a, n) = [a, number n, ..., number 1]
    define_function(graph, draw, [&](const Scope& s, const std::vector<Output>& in) {
      const Output shape = s.constant(Tensor::vector<int32_t>({1}));
      const Output drawn = s.add_one("RandomUniform", {shape}, {{"dtype", f64}});
      const Output axis = s.constant(Tensor::scalar(int32_t{0}));
      const Output all = s.add_one("ConcatV2", {in[0], drawn, axis});
      return cond(
          s, s.add_one("Less", {in[1], number(s, 2)}), [&](const Scope&) { return std::vector{all}; },
          [&](const Scope& t) {
            return call(t, draw, {all, t.add_one("Sub", {in[1], number(t, 1)})});
          });
    });
    const Output y = call(g, draw, {g.constant(Tensor::vector<double>({})), number(g, 20)})[0];
    Session session = runtime.session(graph, {.seed = 5});
    const Tensor out = session.run({y})[0];
    runs[threads == 1 ? 0 : 1].assign(out.as<double>().begin(), out.as<double>().end());
  }
  BOOST_TEST(runs[0].size() == 20U);
  BOOST_TEST(std::set<double>(runs[0].begin(), runs[0].end()).size() == 20U);
  BOOST_TEST(runs[0] == runs[1]);
}

// The gradient function computes the function again, with the numbers that the call drew: y = product of (u_i * x).
BOOST_AUTO_TEST_CASE(a_gradient_sees_the_numbers_of_its_call) {
  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  const Scope g{graph};
  const FunctionSignature noisy{"noisy", {f64, f64}, {f64}, true};
  define_function(graph, noisy, [&](const Scope& s, const std::vector<Output>& in) {
    const Output drawn =
        s.add_one("RandomUniform", {s.constant(Tensor::vector<int32_t>({}))}, {{"dtype", f64}});
    const Output factor = s.add_one("Mul", {drawn, in[0]});
    return cond(
        s, s.add_one("Less", {in[1], number(s, 2)}), [&](const Scope&) { return std::vector{factor}; },
        [&](const Scope& t) {
          const Output rest = call(t, noisy, {in[0], t.add_one("Sub", {in[1], number(t, 1)})})[0];
          return std::vector{t.add_one("Mul", {factor, rest})};
        });
  });
  const Output x = input(g, "x"), y = call(g, noisy, {x, number(g, 5)})[0];
  const Output slope = dense(g, gradients(g, {y}, {x})[0], x);
  Session session = runtime.session(graph);
  const auto out = session.run({{x, Tensor::scalar(2.0)}}, {y, slope});
  BOOST_TEST(out[1].item<double>() == out[0].item<double>() * 5 / 2, boost::test_tools::tolerance(1e-12));
}

// Each iteration of a loop calls the function; a call in a branch that is not taken does not run.
BOOST_AUTO_TEST_CASE(calls_in_loops_and_branches) {
  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  const Scope g{graph};
  const FunctionSignature fib = define_fib(graph), endless = define_endless(graph);
  const Output n = input(g, "n");
  const auto sums = while_loop(
      g, {number(g, 0), number(g, 0)},
      [&](const Scope& s, auto v) {
        return s.add_one("Less", {v[0], n});
      },
      [&](const Scope& s, auto v) {
        return std::vector{
            s.add_one("Add", {v[0], number(s, 1)}),
            s.add_one("Add", {v[1], s.add_one("Reshape", {call(s, fib, {v[0]})[0],
                                                          s.constant(Tensor::vector<int32_t>({}))})})};
      });
  const Output chosen = cond(
      g, g.add_one("Less", {n, number(g, 100)}), [&](const Scope& s) { return call(s, fib, {n}); },
      [&](const Scope& s) { return call(s, endless, {n}); })[0];
  Session session = runtime.session(graph);
  const auto out = session.run({{n, Tensor::scalar(12.0)}}, {sums[1], chosen});
  BOOST_TEST(out[0].item<double>() == 232);
  BOOST_TEST(out[1].item<double>() == 144);
}

BOOST_AUTO_TEST_CASE(a_session_learns_functions_that_are_added_later) {
  Runtime runtime{{.threads = 1}};
  Graph graph{runtime.ops()};
  const Scope g{graph};
  const Output one = number(g, 1);
  Session session = runtime.session(graph);
  BOOST_TEST(session.run({one})[0].item<double>() == 1);
  const FunctionSignature fib = define_fib(graph);
  BOOST_TEST(session.run({call(g, fib, {number(g, 9)})[0]})[0].item<double>() == 34);
  BOOST_TEST(session.run({call(g, fib, {number(g, 7)})[0]})[0].item<double>() == 13);
}

BOOST_AUTO_TEST_CASE(mistakes_are_named) {
  Runtime runtime{{.threads = 1}};
  Graph graph{runtime.ops()};
  const Scope g{graph};
  const FunctionSignature fib = define_fib(graph), missing{"missing", {f64}, {f64}};
  const auto identity = [](const Scope&, const std::vector<Output>& in) { return in; };
  const auto fails = [](const auto& code, Code expected, const std::string& text) {
    const Status status = test::failure_of(code);
    BOOST_TEST((status.code() == expected && contains(status, text)), status.message());
  };
  fails([&] { define_fib(graph); }, Code::AlreadyExists, "function fib is defined twice");
  fails(
      [&] {
        define_function(graph, {"f", {f64}, {DType::Float}}, identity);
      },
      Code::InvalidArgument, "the results of function f have dtypes (double), expected (float)");
  fails([&] { call(g, fib, {g.constant(Tensor::scalar(1.0F))}); }, Code::InvalidArgument,
        "expected (double)");
  fails(
      [&] {
        define_function(graph, {"f", {}, {f64}}, [](const Scope& s, const std::vector<Output>&) {
          return std::vector{
              s.add_one("RandomUniform", {s.constant(Tensor::vector<int32_t>({}))}, {{"dtype", f64}})};
        });
      },
      Code::InvalidArgument, "not declared stateful");
  const Output y = call(g, missing, {number(g, 1)})[0];
  fails([&] { gradients(g, {y}, {graph.output(graph.node(y.node).inputs[0].node, 0)}); },
        Code::FailedPrecondition, "not defined yet");
  Session session = runtime.session(graph);
  fails([&] { session.run({y}); }, Code::NotFound, "there is no function 'missing'");
  for (const char* op : {"PartitionedCall",
                         "StatefulPartitionedCall"}) {  // with the wrong types, without the function's checks
    const Attributes attrs = {{"f", FunctionName{"fib"}}, {"Tout", std::vector{DType::Float}}};
    const Output wrong = g.add_one(op, {number(g, 1)}, attrs);
    fails([&] { session.run({wrong}); }, Code::InvalidArgument, "whose dtypes differ");
  }
}

// A call may run in another task than its arguments and results; the functions travel with its partition.
BOOST_AUTO_TEST_CASE(calls_in_another_task) {
  Runtime runtime{{.threads = 2, .tasks = {{.job = "a"}, {.job = "b"}}}};
  Graph graph{runtime.ops()};
  const Scope g{graph}, here = g.with_device("/job:a"), there = g.with_device("/job:b");
  const Output x = input(here, "x"), n = input(here, "n");
  const Output y = call(there, define_power(graph), {x, n})[0], twice = here.add_one("Add", {y, y});
  const Output slope = dense(here, gradients(here, {twice}, {x})[0], x);
  Session session = runtime.session(graph);
  const auto out = session.run({{x, Tensor::scalar(2.0)}, {n, Tensor::scalar(5.0)}}, {twice, slope});
  BOOST_TEST(out[0].item<double>() == 64);
  BOOST_TEST(out[1].item<double>() == 160);
}

// A function runs on one device.
BOOST_AUTO_TEST_CASE(a_body_for_another_device_is_refused) {
  Runtime runtime{{.threads = 1, .tasks = {{.cpus = 2}}}};
  Graph graph{runtime.ops()};
  const Scope g{graph};
  const FunctionSignature away{"away", {f64}, {f64}};
  define_function(graph, away, [](const Scope& s, const std::vector<Output>& in) {
    return std::vector{s.with_device("/cpu:1").add_one("Neg", {in[0]})};
  });
  Session session = runtime.session(graph);
  const Output there = call(g.with_device("/cpu:1"), away, {number(g, 2)})[0];
  BOOST_TEST(session.run({there})[0].item<double>() == -2);
  const Output here = call(g.with_device("/cpu:0"), away, {number(g, 2)})[0];
  const Status status = test::failure_of([&] { session.run({here}); });
  BOOST_TEST((status.code() == Code::Unimplemented));
  BOOST_TEST(contains(status, "cannot use several devices"), status.message());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::function_steps_test
