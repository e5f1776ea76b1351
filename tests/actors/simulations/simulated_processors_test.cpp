// Simulations whose processors take time: computations share cores, messages go before them, and frames cost what they are said to.
#include "tests/support/simulation/simulated_processors.h"

#include <boost/test/unit_test.hpp>

#include <array>

#include "graph/build/scope.h"
#include "tests/support/simulation/simulated_cluster.h"

namespace troupe::test::simulated_processors_test {
namespace {

constexpr int64_t millisecond = 1'000'000, second = 1000 * millisecond;

/// Two hosts of one machine. Their jobs note when they begin; each takes 10 ms.
struct Machine {
  explicit Machine(size_t cores) : processors({.cores = cores, .together = true}) {
    simulation.set_processors(&processors);
  }
  Job job(size_t number) {
    return make_job([this, number] {
      begun.at(number) = simulation.now();
      simulation.spend(10 * millisecond);
    });
  }
  void run() {
    simulation.run_until([this] { return begun.back() >= 0; }, second);
  }

  SimulatedProcessors processors;
  Simulation simulation;
  SimulatedHost one{simulation}, other{simulation};
  std::array<int64_t, 3> begun{-1, -1, -1};
};

BOOST_AUTO_TEST_SUITE(simulated_processors)

BOOST_AUTO_TEST_CASE(computations_wait_for_a_core) {
  for (const size_t cores : {1, 2}) {
    Machine machine(cores);
    machine.one.compute(machine.job(0));
    machine.other.compute(machine.job(1));
    machine.one.compute(machine.job(2));
    machine.run();
    BOOST_TEST(machine.begun[0] == 0);
    BOOST_TEST(machine.begun[1] >= (cores == 1 ? 10 * millisecond : 0));
    BOOST_TEST(machine.begun[1] < (cores == 1 ? 20 : 10) * millisecond);
    BOOST_TEST(machine.begun[2] >= (cores == 1 ? 20 : 10) * millisecond);
  }
}

BOOST_AUTO_TEST_CASE(a_message_does_not_wait_for_a_core_but_delays_what_runs_there) {
  Machine machine(1);
  machine.one.compute(machine.job(0));
  machine.other.enqueue(machine.job(1));
  machine.one.compute(machine.job(2));
  machine.run();
  BOOST_TEST(machine.begun[1] == 0);
  BOOST_TEST(machine.begun[2] >= 20 * millisecond);
}

BOOST_AUTO_TEST_CASE(a_host_handles_one_message_after_the_other) {
  Machine machine(2);
  machine.one.enqueue(machine.job(0));
  machine.one.enqueue(machine.job(1));
  machine.other.enqueue(machine.job(2));
  machine.simulation.run_until([&] { return machine.begun[1] >= 0; }, second);
  BOOST_TEST(machine.begun[1] >= 10 * millisecond);
  BOOST_TEST(machine.begun[2] == 0);
}

/// Returns the time of a step that reads a variable of another host.
int64_t time_of_step(const Costs& costs) {
  SimulatedProcessors processors(costs);
  SimulatedCluster cluster(1, {"/job:worker/replica:0/task:0", "/job:ps/replica:0/task:0"}, 60 * second);
  auto& simulation = cluster.simulation();
  BOOST_TEST_REQUIRE(simulation.run_until([&] { return cluster.complete(); }, 60 * second));
  cluster.network().set_faults({.min_delay = 0, .max_delay = 0});
  Graph graph(cluster.node(0).library->ops);
  const Scope g(graph), ps = g.with_device("/job:ps");
  const Output v = ps.add_one("VariableV2", {}, {{"dtype", DType::Float}, {"shape", PartialShape{1000}}});
  const Output value = g.constant(value_or_throw(Tensor::allocate(DType::Float, Shape{1000})));
  const Output assigned{ps.add("Assign", {v, value}), Output::control};
  int64_t took = 0;
  cluster.start_client(0, [&] {
    Session session = cluster.session(0, graph);
    session.run({assigned});
    session.run({v});
    const int64_t begin = simulation.now();
    session.run({v});
    took = simulation.now() - begin;
  });
  simulation.set_processors(&processors);
  BOOST_TEST_REQUIRE(
      simulation.run_until([&] { return cluster.clients_ended(); }, simulation.now() + 60 * second));
  simulation.set_processors(nullptr);
  return took;
}

// The step takes a request and a reply of 4,000 bytes and more.
BOOST_AUTO_TEST_CASE(frames_cost_time_at_both_ends) {
  BOOST_TEST(time_of_step({}) < 10 * millisecond);
  BOOST_TEST(time_of_step({.frame = 10 * millisecond}) >= 40 * millisecond);
  BOOST_TEST(time_of_step({.byte = 10'000}) >= 2 * 4000 * 10'000);
  BOOST_TEST(time_of_step({.wire = 10'000}) >= 2 * 4000 * 10'000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::simulated_processors_test
