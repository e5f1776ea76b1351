// Where the time of steps goes, as `troupe bench --profile` and the page of a run say it.
#include "apps/observe/step_costs.h"

#include <boost/test/unit_test.hpp>

#include "actors/runtime.h"
#include "apps/train/rounds/step_sampler.h"
#include "graph/build/scope.h"

namespace troupe::observe::step_costs_test {
namespace {

using std::chrono::nanoseconds;

double all_of(const DeviceCosts& device) {
  return device.computing() + device.between + device.waiting + device.outside;
}

BOOST_AUTO_TEST_SUITE(step_costs)

BOOST_AUTO_TEST_CASE(what_costs_most_comes_first_and_all_adds_up) {
  StepCosts costs;
  DeviceProfile device{"a", {}, nanoseconds(6'000), nanoseconds(8'000)};
  device.nodes = {{.name = "x", .op = "Add", .runs = 1, .time = nanoseconds(1'000)},
                  {.name = "y", .op = "MatMul", .runs = 2, .time = nanoseconds(3'000)},
                  {.name = "z", .op = "Add", .runs = 1, .time = nanoseconds(1'000)}};
  costs.add(nanoseconds(10'000), {device});
  costs.add(nanoseconds(20'000), {device});
  BOOST_TEST(costs.step_microseconds() == 15);
  const auto devices = costs.devices();
  BOOST_TEST_REQUIRE(devices.size() == 1u);
  BOOST_TEST_REQUIRE(devices[0].ops.size() == 2u);
  BOOST_TEST(devices[0].ops[0].op == "MatMul");
  BOOST_TEST(devices[0].ops[0].runs == 2);
  BOOST_TEST(devices[0].ops[0].microseconds == 3);
  BOOST_TEST(devices[0].ops[1].microseconds == 2);
  BOOST_TEST(devices[0].between == 1);
  BOOST_TEST(devices[0].waiting == 2);
  BOOST_TEST(devices[0].outside == 7);
}

BOOST_AUTO_TEST_CASE(each_device_of_a_real_step_adds_up_to_it) {
  Runtime runtime{{.threads = 1, .tasks = {{.job = "ps", .gpus = 0}, {.job = "worker", .gpus = 0}}}};
  Graph graph{runtime.ops()};
  const Scope g{graph};
  const Output one = g.with_device("/job:ps/task:0").constant(Tensor::scalar(1.0f));
  const Output sum = g.with_device("/job:worker/task:0").add_one("Add", {one, one});
  Session session = runtime.session(graph, {.simplify = false});
  const PreparedStep step = session.prepare({}, {sum});
  StepCosts costs;
  for (int i = 0; i < 3; ++i) {
    std::vector<DeviceProfile> profile;
    const auto begin = std::chrono::steady_clock::now();
    step.run({}, {.profile = &profile});
    costs.add(std::chrono::steady_clock::now() - begin, profile);
  }
  for (const auto& device : costs.devices()) {
    BOOST_TEST(all_of(device) == costs.step_microseconds(), boost::test_tools::tolerance(1e-9));
    BOOST_TEST(device.between >= 0);
    BOOST_TEST(device.waiting >= 0);
    BOOST_TEST(device.outside >= 0);
  }
  BOOST_TEST(costs.devices().size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_device_whose_nodes_overlap_does_not_wait_for_less_than_no_time) {
  StepCosts costs;
  costs.add(nanoseconds(5'000),
            {{.device = "a",
              .nodes = {{.name = "x", .op = "MatMul", .runs = 1, .time = nanoseconds(7'000)}},
              .driven = nanoseconds(1'000),
              .elapsed = nanoseconds(6'000)}});
  const DeviceCosts device = costs.devices().at(0);
  BOOST_TEST(device.between == 0);
  BOOST_TEST(device.waiting == 0);
  BOOST_TEST(device.outside == 0);
}

BOOST_AUTO_TEST_CASE(a_sampler_profiles_a_step_after_the_first_ones_and_keeps_its_own_devices) {
  const std::string task = "/job:worker/replica:0/task:1";
  train::StepSampler sampler(task);
  int profiled = 0;
  for (int i = 1; i <= 20; ++i) {
    const int returned = sampler.run([&](std::vector<DeviceProfile>* profile) {
      if (!profile) return i;
      ++profiled;
      BOOST_TEST(i == 11);
      for (const std::string& device : {task + "/device:CPU:0", task + "0/device:CPU:0"})
        profile->push_back({.device = device, .driven = nanoseconds(1), .elapsed = nanoseconds(2)});
      return i;
    });
    BOOST_TEST(returned == i);
  }
  BOOST_TEST(profiled == 1);
  const auto devices = sampler.take();
  BOOST_TEST_REQUIRE(devices.size() == 1u);
  BOOST_TEST(devices[0].device == task + "/device:CPU:0");
  BOOST_TEST(sampler.take().empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::observe::step_costs_test
