// Random graphs of control flow are cut over several devices and run by step states that exchange tokens. Every node must do what
// step_reference.h says it does in the whole graph, and no Recv may be left waiting.
#include <boost/test/unit_test.hpp>
#include <random>

#include "graph/passes/partition/partition.h"
#include "graph/passes/subgraph.h"
#include "tests/graph/random_flow.h"
#include "tests/graph/step_simulation.h"

namespace troupe::partition_loops_test {
namespace {

using namespace testing;

std::vector<DeviceInfo> cpus(size_t n) {
  std::vector<DeviceInfo> devices(n);
  for (size_t i = 0; i < n; ++i)
    devices[i].name = value_or_throw(
        DeviceName::parse("/job:worker/replica:0/task:" + std::to_string(i) + "/device:CPU:0"));
  return devices;
}

/// If a value never arrives, its Recv waits. Such graphs would not end when cut, so they are not used here.
bool every_node_runs(const Graph& graph, const Meaning& meaning) {
  const FrameInfo frames = value_or_throw(assign_frames(graph));
  std::map<std::tuple<uint64_t, uint64_t, FrameId>, size_t> ran;
  for (const auto& [place, what] : meaning.ran) {
    const auto& [node, key, iteration] = place;
    ++ran[{key, iteration, frames.of_node[node]}];
  }
  std::vector<size_t> nodes(frames.frames.size());
  for (const FrameId frame : frames.of_node) ++nodes[frame];
  return meaning.ends && std::all_of(ran.begin(), ran.end(), [&](const auto& entry) {
           return entry.second == nodes[std::get<2>(entry.first)];
         });
}

struct Cluster {
  std::vector<Partition> parts;
  std::vector<std::shared_ptr<const Plan>> plans;

  Cluster(const Graph& graph, const std::vector<DeviceId>& device, size_t devices)
      : parts(value_or_throw(partition(graph, device, cpus(devices)))) {
    for (const Partition& part : parts)
      plans.push_back(value_or_throw(Plan::make(std::make_shared<const Graph>(part.graph), {}, {})));
  }

  /// What the nodes of the whole graph did, wherever they or their copies ran.
  std::map<RunPlace, Ran> run(std::mt19937_64& random) const {
    const auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
    Rendezvous rendezvous;
    std::vector<std::unique_ptr<StepSimulation>> steps;
    for (const auto& plan : plans) steps.push_back(std::make_unique<StepSimulation>(*plan, rendezvous));
    for (const auto& step : steps) step->begin();
    for (size_t idle = 0; idle < 50 * steps.size();)
      idle = steps[below(steps.size())]->step(below) ? 0 : idle + 1;
    std::map<RunPlace, Ran> all;
    for (size_t i = 0; i < steps.size(); ++i) {
      BOOST_REQUIRE_MESSAGE(steps[i]->under_way() == 0, "a Recv waits for ever");
      for (const auto& [place, what] : steps[i]->ran()) {
        const auto& [node, key, iteration] = place;
        const NodeId origin = parts[i].origin[node];
        if (origin == no_node) continue;
        const auto [at, is_new] = all.emplace(RunPlace{origin, key, iteration}, what);
        BOOST_REQUIRE_MESSAGE(is_new || at->second == what, "copies differ");
      }
    }
    BOOST_REQUIRE_MESSAGE(rendezvous.empty(), "something was sent that nobody took");
    return all;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(partition_loops)

BOOST_AUTO_TEST_CASE(random_control_flow_means_the_same_when_cut) {
  size_t cut = 0, loops = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      const FlowGraph g = random_flow(seed, 1 + static_cast<int>(seed % 3));
      const Graph& graph = const_cast<FlowGraph&>(g).graph();
      const Meaning expected = meaning_of(graph);
      if (!every_node_runs(graph, expected)) continue;
      ++cut;
      loops += value_or_throw(assign_frames(graph)).frames.size() > 1;
      std::mt19937_64 random(seed);
      const size_t devices = 2 + seed % 2;
      std::vector<DeviceId> device(graph.size());
      for (DeviceId& each : device) each = static_cast<DeviceId>(random() % devices);
      const Cluster cluster(graph, device, devices);
      BOOST_REQUIRE((cluster.run(random) == expected.ran));
    }
  }
  BOOST_TEST_MESSAGE(cut << " graphs, " << loops << " with loops");
  BOOST_TEST(cut > 900);
  BOOST_TEST(loops > 500);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::partition_loops_test
