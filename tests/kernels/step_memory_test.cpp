// Tests of the tensors that a step holds and leaves behind, and of steps of one plan on several threads.
#include <malloc.h>

#include <boost/test/unit_test.hpp>
#include <thread>

#include "tests/kernels/step_fixture.h"

namespace troupe::step_memory_test {

using namespace test;

BOOST_FIXTURE_TEST_SUITE(step_memory, StepFixture)

// x -> 20 probes: during the step each probe keeps only its own input; after the step nothing is held.
BOOST_AUTO_TEST_CASE(no_tensor_is_kept_after_its_last_use) {
  std::vector<size_t> held;
  hook = [&](KernelContext&) {
    held.push_back(in_use());
    return Status{};
  };
  const Output x = input("x", PartialShape());
  Output y = x;
  for (int i = 0; i < 20; ++i) y = probe("probe", y);
  const auto plan = prepare({x}, {y});
  const size_t before = in_use();
  {
    ScriptedHost host(plan);
    host.start({Tensor::of<float>(Shape{1000}, std::vector<float>(1000, 0.0f))});
    BOOST_REQUIRE(held.size() == 20);
    const size_t one = in_use() - before;  // the fetched tensor
    BOOST_TEST(one >= 4000u);
    BOOST_TEST(held[0] == before);  // x is not in the memory of the device
    for (size_t i = 1; i < held.size(); ++i) BOOST_TEST(held[i] == before + one);
  }
  BOOST_TEST(in_use() == before);
}

BOOST_AUTO_TEST_CASE(a_loop_keeps_no_tensors) {
  const Output x = input("x"), sum = sum_of(g, x, 300);
  const auto plan = prepare({x}, {sum});
  const size_t before = in_use();
  size_t most = 0;
  hook = [&](KernelContext&) {
    most = std::max(most, in_use());
    return Status{};
  };
  BOOST_TEST(value_or_throw(runtime.run(plan, {Tensor::scalar(1.0f)}))[0].as<float>()[0] == 45150);
  BOOST_TEST(in_use() == before);
  BOOST_TEST(most - before <= 64u * 128u);  // at most ten iterations at once, with a few scalars each
}

BOOST_AUTO_TEST_CASE(a_failed_step_keeps_no_tensors) {
  const Output x = input("x"), a = probe("a", x), b = probe("b", a), c = g.add_one("Add", {a, b});
  const auto plan = prepare({x}, {c});
  const size_t before = in_use();
  hook = [&](KernelContext& context) { return context.node().name == "b" ? internal("b") : Status{}; };
  BOOST_TEST(!runtime.run(plan, {Tensor::scalar(1.0f)}).ok());
  BOOST_TEST(in_use() == before);
}

// Fetched tensors belong to the caller: neither later steps of the context nor the end of plan and device change them.
BOOST_AUTO_TEST_CASE(fetched_tensors_outlive_the_context) {
  std::vector<Tensor> fetched;
  {
    LocalRuntime other(library);
    const Output x = input("x"), y = probe("y", probe("z", x)), sum = sum_of(g, x, 3);
    const auto plan = value_or_throw(other.prepare(graph, {{x}, {y, sum}, {}}));
    for (int i = 0; i < 100; ++i)
      for (Tensor& tensor : value_or_throw(other.run(plan, {Tensor::scalar(static_cast<float>(i))})))
        fetched.push_back(std::move(tensor));
  }
  for (size_t i = 0; i < 100; ++i) {
    BOOST_TEST(fetched[2 * i].as<float>()[0] == static_cast<float>(i + 2));
    BOOST_TEST(fetched[2 * i + 1].as<float>()[0] == static_cast<float>(3 * i + 3));
  }
}

// A fed tensor that the caller keeps is never written to.
BOOST_AUTO_TEST_CASE(fed_tensors_stay_as_they_are) {
  const Output x = input("x"), y = g.add_one("Neg", {x});
  const auto plan = prepare({x}, {y});
  const Tensor fed = Tensor::scalar(3.0f);
  BOOST_TEST(value_or_throw(runtime.run(plan, {fed}))[0].as<float>()[0] == -3);
  BOOST_TEST(fed.as<float>()[0] == 3);
}

// Several threads run steps of one plan with branches, loops and kernels; no step sees values of another.
BOOST_AUTO_TEST_CASE(several_threads_run_steps_of_one_plan) {
  const Output x = input("x");
  const Output negative = g.add_one("Less", {x, number(0)});
  const auto branch = cond(
      g, negative, [&](const Scope& s) { return std::vector{s.add_one("Neg", {x})}; },
      [&](const Scope& s) { return std::vector{s.add_one("Probe", {x})}; });
  const auto plan = prepare({x}, {sum_of(g, branch[0], 5), branch[0]});
  const size_t before = in_use();
  constexpr int threads = 4, steps = 100;
  std::vector<int> good(threads);
  {
    std::vector<std::jthread> running;
    for (int t = 0; t < threads; ++t)
      running.emplace_back([&, t] {
        for (int i = 0; i < steps; ++i) {
          const auto fed = static_cast<float>(i % 2 == 0 ? -1 - t : t + i);
          const float value = fed < 0 ? -fed : fed + 1;
          const auto fetched = runtime.run(plan, {Tensor::scalar(fed)});
          good[static_cast<size_t>(t)] += fetched.ok() && (*fetched)[0].as<float>()[0] == 5 * value + 10 &&
                                          (*fetched)[1].as<float>()[0] == value;
        }
      });
  }
  for (const int count : good) BOOST_TEST(count == steps);
  BOOST_TEST(in_use() == before);
}

// Step 10,000 needs no more memory than step 100.
BOOST_AUTO_TEST_CASE(repeated_steps_need_no_more_memory) {
  const Output x = input("x"), sum = sum_of(g, x, 5), y = g.add_one("Add", {probe("probe", x), sum});
  const auto plan = prepare({x}, {y});
  const auto run = [&](int steps) {
    for (int i = 0; i < steps; ++i) BOOST_REQUIRE(runtime.run(plan, {Tensor::scalar(1.0f)}).ok());
  };
  run(100);
  const MemoryStatistics device = runtime.device().memory_statistics();
  const size_t heap = mallinfo2().uordblks;
  run(10'000);
  const MemoryStatistics after = runtime.device().memory_statistics();
  BOOST_TEST(after.in_use == device.in_use);
  BOOST_TEST(after.reserved == device.reserved);
  BOOST_TEST(after.peak == device.peak);
  BOOST_TEST(mallinfo2().uordblks < heap + 10'000);  // less than one byte for each step
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::step_memory_test
