// Where nodes go whose devices are chosen by estimated and measured times (features.md H9), and what such steps compute; and float
// tensors that travel between tasks as bfloat16 (I9).
#include <boost/test/unit_test.hpp>

#include <bit>
#include <random>
#include <set>

#include "actors/runtime.h"
#include "actors/step/placement_trials.h"
#include "actors/step/step_compiler.h"
#include "graph/build/control_flow.h"
#include "graph/build/variables.h"
#include "graph/passes/place/learned_placement.h"
#include "graph/passes/place/step_simulation.h"
#include "kernels/constructors.h"
#include "tests/support/ops/op_library.h"

namespace troupe::device_choice_test {
namespace {

constexpr SessionOptions earliest{.seed = 1, .device_choice = DeviceChoice::EarliestFinish};

std::vector<WorkerDevices> workers(int count, size_t memory = 0) {
  std::vector<WorkerDevices> result;
  for (int task = 0; task < count; ++task)
    result.push_back({{"/job:worker/replica:0/task:" + std::to_string(task), 1, "worker", {}},
                      {{DeviceName{"worker", 0, task, "CPU", 0}, 1, memory}}});
  return result;
}

RuntimeOptions tasks(int count) {
  RuntimeOptions options{.threads = 1, .tasks = {}};
  for (int task = 0; task < count; ++task) options.tasks.push_back({"worker", task, 1});
  return options;
}

/// Two products in a row, several times, of the same input with variables of their own.
struct Chains {
  explicit Chains(std::shared_ptr<const OpTable> ops, int64_t size) : graph(std::move(ops)) {
    x = placeholder(g, f32, {size, size}, "x");
    for (const std::string chain : {"a", "b"}) {
      Output y = x;
      for (int i = 0; i < 4; ++i) {
        const std::string number = chain + std::to_string(i);
        const Output initial =
            random_normal(g.with_name("init_" + number),
                          Tensor::vector<int32_t>({static_cast<int32_t>(size), static_cast<int32_t>(size)}));
        weights.push_back(variable(g, initial, "w_" + number));
        y = matmul(g.with_name("y_" + number), y, weights.back());
      }
      ends.push_back(y);
    }
    total = add(g, ends[0], ends[1]);
  }

  /// Returns the devices of these nodes in a step that fetches the total.
  std::set<DeviceId> devices(const std::vector<std::string>& nodes, const SessionOptions& options) const {
    const auto library = test::op_library();
    const auto step = value_or_throw(place_step(graph, {{x}, {total}, {}}, *library, workers(3), options));
    std::set<DeviceId> found;
    for (const Partition& part : step.partitions)
      for (const auto& name : nodes)
        if (part.graph.find(name)) found.insert(part.device);
    return found;
  }

  Graph graph;
  Scope g{graph};
  Output x, total;
  std::vector<Output> weights, ends;
};

const std::vector<std::string> first = {"y_a0", "y_a1", "y_a2", "y_a3", "w_a0", "w_a1", "w_a2", "w_a3"},
                               second = {"y_b0", "y_b1", "y_b2", "y_b3", "w_b0", "w_b1", "w_b2", "w_b3"};

/// Places a graph on three workers. A `seed` other than 0 is that of a learned placement.
PlacementResult placed(const Graph& graph, const MeasuredTimes* measured, uint64_t seed = 0,
                       SimulatedStep* simulated = nullptr) {
  std::vector<DeviceInfo> devices;
  for (const auto& worker : workers(3)) devices.push_back(worker.devices[0]);
  PlacementOptions options;
  options.policy = [&](const Graph& of, std::span<const DeviceInfo> on, const PlacementGroups& groups) {
    const NodeCosts costs(of, on, measured);
    auto chosen =
        seed == 0 ? earliest_finish(of, on, groups, costs) : learned_placement(of, on, groups, costs, seed);
    if (simulated) *simulated = StepModel(of, on, groups, costs).simulate(chosen);
    return chosen;
  };
  return value_or_throw(place(
      graph, devices, [](const Node&, std::string_view) { return true; }, options));
}

/// Returns the device of each node of the list.
std::vector<DeviceId> placed(const Graph& graph, const std::vector<std::string>& nodes,
                             const MeasuredTimes* measured, uint64_t seed = 0) {
  const PlacementResult all = placed(graph, measured, seed);
  std::vector<DeviceId> found;
  for (const auto& name : nodes) found.push_back(all.device[graph.find(name)->id]);
  return found;
}

size_t count_of(const std::vector<DeviceId>& devices) {
  return std::set<DeviceId>(devices.begin(), devices.end()).size();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(device_choice)

BOOST_AUTO_TEST_CASE(independent_chains_go_to_devices_of_their_own_with_their_variables) {
  const Chains chains(test::op_library()->ops, 256);
  const auto a = chains.devices(first, earliest), b = chains.devices(second, earliest);
  BOOST_TEST(a.size() == 1u);
  BOOST_TEST(b.size() == 1u);
  BOOST_TEST(*a.begin() != *b.begin());
  BOOST_TEST((chains.devices(first, {}) == chains.devices(second, {})));
}

BOOST_AUTO_TEST_CASE(what_takes_less_time_than_its_transfer_stays) {
  const Chains chains(test::op_library()->ops, 8);
  BOOST_TEST((chains.devices(first, earliest) == chains.devices(second, earliest)));
}

// Each device has room for three of the eight matrices.
BOOST_AUTO_TEST_CASE(variables_go_where_there_is_memory_for_them) {
  const Chains chains(test::op_library()->ops, 256);
  const auto library = test::op_library();
  const auto step = value_or_throw(place_step(chains.graph, {{chains.x}, {chains.total}, {}}, *library,
                                              workers(3, 3UL * 256 * 256 * sizeof(float)), earliest));
  for (const Partition& part : step.partitions) {
    size_t variables = 0;
    for (const Node& node : part.graph.nodes()) variables += node.type() == "VariableV2";
    BOOST_TEST(variables <= 3u);
  }
}

BOOST_AUTO_TEST_CASE(a_measured_time_comes_before_an_estimate) {
  Graph graph(test::op_library()->ops);
  const Scope g(graph);
  const Output x = placeholder(g, f32, {4}, "x");
  add(g, exp(g.with_name("one"), x), exp(g.with_name("two"), x));
  BOOST_TEST(count_of(placed(graph, {"one", "two"}, nullptr)) == 1u);
  MeasuredTimes measured;
  for (const char* node : {"one", "two"}) measured.add(node, "CPU", 0.5, 5);
  BOOST_TEST(count_of(placed(graph, {"one", "two"}, &measured)) == 2u);
}

BOOST_AUTO_TEST_CASE(a_loop_stays_on_one_device) {
  Graph graph(test::op_library()->ops);
  const Scope g(graph);
  const Output x = placeholder(g, f32, {512, 512}, "x");
  while_loop(
      g, {g.constant(Tensor::scalar<int32_t>(0)), x, x},
      [&](const Scope& at, std::span<const Output> v) { return less(at, v[0], 10); },
      [&](const Scope& at, std::span<const Output> v) {
        return std::vector<Output>{add(at, v[0], 1), matmul(at.with_name("p"), v[1], v[1]),
                                   matmul(at.with_name("q"), v[2], v[2])};
      });
  std::vector<std::string> products;
  for (const Node& node : graph.nodes())
    if (node.type() == "MatMul") products.push_back(node.name);
  BOOST_TEST_REQUIRE(products.size() == 2u);
  BOOST_TEST(count_of(placed(graph, products, nullptr)) == 1u);
}

// Each of the two nodes ends first on a device of its own, but then one gigabyte has to be moved.
BOOST_AUTO_TEST_CASE(a_learned_placement_thinks_of_later_transfers) {
  Graph graph(test::op_library()->ops);
  const Scope g(graph);
  const Output x = placeholder(g, f32, {1 << 28}, "x"), y = placeholder(g, f32, {1 << 28}, "y");
  add(g.with_name("sum"), exp(g.with_name("one"), x), exp(g.with_name("two"), y));
  MeasuredTimes measured;
  for (const char* const node : {"one", "two"}) measured.add(node, "CPU", 0.05, 1);
  const std::vector<std::string> nodes = {"one", "two", "sum"};
  BOOST_TEST(count_of(placed(graph, nodes, &measured)) == 2u);
  BOOST_TEST(count_of(placed(graph, nodes, &measured, 1)) == 1u);
}

BOOST_AUTO_TEST_CASE(a_learned_placement_is_never_slower_in_the_simulation) {
  std::mt19937 random(7);
  double ratios = 0;
  for (int round = 0; round < 10; ++round) {
    Graph graph(test::op_library()->ops);
    const Scope g(graph);
    MeasuredTimes measured;
    std::vector<Output> values = {placeholder(g, f32, {1 << 20}, "x")};
    for (int i = 0; i < 60; ++i) {
      const std::string name = "n" + std::to_string(i);
      const auto one = [&] { return values[random() % values.size()]; };
      values.push_back(add(g.with_name(name), one(), one()));
      measured.add(name, "CPU", 1e-3 * static_cast<double>(1 + random() % 20), 1);
    }
    SimulatedStep first, learned;
    placed(graph, &measured, 0, &first);
    placed(graph, &measured, 1, &learned);
    BOOST_TEST(learned.seconds <= first.seconds);
    ratios += learned.seconds / first.seconds / 10;
  }
  BOOST_TEST_MESSAGE("mean of the ratios: " << ratios);
  BOOST_TEST(ratios < 0.97);
}

// Of four candidates, those after the first are learned; the third one has the shortest steps.
BOOST_AUTO_TEST_CASE(the_candidate_with_the_shortest_steps_stays) {
  PlacementTrials trials(DeviceChoice::Learned);
  const std::vector<int64_t> durations = {50, 70, 30, 60};
  std::vector<uint64_t> compiled;
  for (int step = 0; step < 60; ++step) {
    const uint64_t candidate = trials.candidate("s");
    const StepMeasurement measurement = trials.begins("s");
    if (!measurement.nodes && !measurement.step) continue;
    const int64_t outlier = step % 7 == 4 ? 1000 : 0;
    if (trials.ended("s", measurement, durations[candidate] + outlier))
      compiled.push_back(trials.candidate("s"));
  }
  BOOST_TEST(compiled == (std::vector<uint64_t>{0, 1, 2, 3, 2}), boost::test_tools::per_element());
  BOOST_TEST(trials.candidate("another") == 0u);
}

// The first steps are placed by estimates, later ones by what was measured; the values are the same.
BOOST_AUTO_TEST_CASE(steps_compute_the_same_wherever_their_nodes_run) {
  const auto results = [](const SessionOptions& options, std::set<std::string>& devices) {
    Runtime runtime(tasks(3));
    Chains chains(runtime.ops(), 256);
    Session session = runtime.session(chains.graph, options);
    session.run({initializer(chains.g)});
    const Tensor x = Tensor::of<float>(Shape{256, 256}, std::vector<float>(size_t{256} * 256, 0.25F));
    std::vector<Tensor> totals;
    for (int step = 0; step < 40; ++step) totals.push_back(session.run({{chains.x, x}}, {chains.total})[0]);
    std::vector<DeviceProfile> profile;
    session.run({{chains.x, x}}, {chains.total}, {.profile = &profile});
    for (const DeviceProfile& device : profile)
      for (const NodeProfile& node : device.nodes)
        if (node.op == "MatMul") devices.insert(device.device);
    return totals;
  };
  std::set<std::string> one, several;
  const auto expected = results({.seed = 1}, one);
  BOOST_TEST(one.size() == 1u);
  for (const DeviceChoice choice : {DeviceChoice::EarliestFinish, DeviceChoice::Learned}) {
    const auto totals = results({.seed = 1, .device_choice = choice}, several);
    BOOST_TEST((several.size() > 1 || choice == DeviceChoice::Learned));
    for (size_t i = 0; i < totals.size(); ++i) BOOST_TEST(identical(totals[i], expected[i]));
  }
}

BOOST_AUTO_TEST_CASE(lossy_transfers_drop_the_lower_half_of_floats_between_tasks_alone) {
  const std::vector<float> values = {1.00390625F + 0x1p-20F, -3.14159265F, 0, 1e-39F, 65535.9F};
  const auto there_and_back = [&](bool lossy, const std::string& device) {
    Runtime runtime(tasks(2));
    Graph graph(runtime.ops());
    const Scope g(graph);
    const Output x = placeholder(g, f32, {-1}), n = placeholder(g, i32, {-1});
    const Output there = identity(g.with_device("/job:worker/task:1/cpu:0"), x);
    const Scope here = g.with_device(device);
    Session session = runtime.session(graph, {.lossy_transfers = lossy, .simplify = false});
    const Output floats = neg(here, there),
                 whole = neg(here, identity(g.with_device("/job:worker/task:1/cpu:0"), n));
    const auto got = session.run(
        {{x, Tensor::vector<float>(values)}, {n, Tensor::vector<int32_t>({16777217})}}, {floats, whole});
    BOOST_TEST(got[1].as<int32_t>()[0] == -16777217);
    return std::vector<float>(got[0].as<float>().begin(), got[0].as<float>().end());
  };
  const auto exact = there_and_back(false, "/job:worker/task:0/cpu:0"),
             near = there_and_back(true, "/job:worker/task:1/cpu:0"),
             far = there_and_back(true, "/job:worker/task:0/cpu:0");
  for (size_t i = 0; i < values.size(); ++i) {
    BOOST_TEST(exact[i] == -values[i]);
    BOOST_TEST(near[i] == -values[i]);
    BOOST_TEST(far[i] == -std::bit_cast<float>(std::bit_cast<uint32_t>(values[i]) & 0xFFFF0000U));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::device_choice_test
