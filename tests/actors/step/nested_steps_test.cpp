// Steps that functions of the program run while a step calls these functions (features.md B12). The runtime has fewer threads than
// functions that wait for the steps they run.
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <thread>
#include <vector>

#include "actors/runtime.h"
#include "graph/build/host_function.h"
#include "graph/build/scope.h"

namespace troupe::nested_steps_test {
namespace {

/// A graph that squares a number, and its session.
struct Inner {
  explicit Inner(Runtime& runtime) : graph(runtime.ops()), session(runtime.session(graph)) {}

  Graph graph;
  Scope g{graph};
  Output x = g.add_one("Placeholder", {}, {{"dtype", DType::Float}, {"shape", PartialShape::scalar()}});
  Output y = g.add_one("Square", {x});
  Session session;

  Result<std::vector<Tensor>> square(std::span<const Tensor> values) {
    return session.run({{x, values[0]}}, {y});
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(nested_steps)

BOOST_AUTO_TEST_CASE(functions_run_steps_while_all_threads_run_functions) {
  constexpr int functions = 4, callers = 4, rounds = 25;
  Runtime runtime({.threads = 1});
  Inner inner(runtime);
  Graph graph(runtime.ops());
  const Scope g(graph);
  const Output x = g.add_one("Placeholder", {}, {{"dtype", DType::Float}, {"shape", PartialShape::scalar()}});
  std::vector<HostCall> calls;
  std::vector<Output> squares;
  for (int i = 0; i < functions; ++i) {
    calls.push_back(call_host(g, [&](std::span<const Tensor> values) { return inner.square(values); }, {x},
                              {DType::Float}));
    squares.push_back(calls.back().outputs[0]);
  }
  Session session = runtime.session(graph);
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int caller = 0; caller < callers; ++caller)
    threads.emplace_back([&] {
      for (int round = 0; round < rounds; ++round)
        for (const Tensor& result : session.run({{x, Tensor::scalar(3.0f)}}, squares))
          right += result.item<float>() == 9.0f ? 1 : 0;
    });
  for (std::thread& thread : threads) thread.join();
  BOOST_TEST(right == functions * callers * rounds);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::nested_steps_test
