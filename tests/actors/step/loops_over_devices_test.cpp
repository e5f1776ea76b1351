// Loops on one device that use variables of others. A loop that only reads them takes their values once, when it begins.
#include <boost/test/unit_test.hpp>

#include <map>

#include "actors/runtime.h"
#include "actors/step/session.h"
#include "graph/build/control_flow.h"
#include "graph/build/variables.h"
#include "kernels/constructors.h"

namespace troupe::test::loops_over_devices_test {
namespace {

struct Fixture {
  Runtime runtime{{.threads = 2, .tasks = {{"ps", 0, 1}, {"worker", 0, 2}}}};
  Graph graph{runtime.ops()};
  Scope at_ps = Scope(graph).with_device("/job:ps/device:CPU:0"),
        here = Scope(graph).with_device("/job:worker/device:CPU:0"),
        beside = Scope(graph).with_device("/job:worker/device:CPU:1");
  Output w = variable(at_ps, at_ps.constant(Tensor::scalar(2.0f)), "w");
  Output zero = here.constant(Tensor::scalar(0)), one = here.constant(Tensor::scalar(1.0f));
  std::map<std::string, uint64_t> runs;  ///< of the step before, by the op

  float value_of(Output result) {
    Session session = runtime.session(graph);
    session.run({initializer(at_ps)});
    const PreparedStep step = session.prepare({}, {result});
    std::vector<DeviceProfile> profile;
    const float value = step.run({}, {.profile = &profile}).at(0).as<float>()[0];
    for (const DeviceProfile& device : profile)
      for (const NodeProfile& node : device.nodes) runs[node.op] += node.runs;
    return value;
  }

  static Output below_three(const Scope& s, std::span<const Output> v) { return less(s, v[0], 3); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(loops_over_devices, Fixture)

BOOST_AUTO_TEST_CASE(a_body_reads_a_variable_once) {
  const auto loop =
      while_loop(here, {zero, one}, below_three, [&](const Scope& s, std::span<const Output> v) {
        return std::vector{add(s, v[0], 1), mul(s, v[1], w)};
      });
  BOOST_TEST(value_of(loop[1]) == 8.0f);
  BOOST_TEST(runs["_RefSend"] + runs["_Send"] == 1u);
}

BOOST_AUTO_TEST_CASE(a_condition_reads_a_variable) {
  const auto loop = while_loop(
      here, {one}, [&](const Scope& s, std::span<const Output> v) { return less(s, v[0], mul(s, w, 4)); },
      [](const Scope& s, std::span<const Output> v) { return std::vector{add(s, v[0], v[0])}; });
  BOOST_TEST(value_of(loop[0]) == 8.0f);
}

BOOST_AUTO_TEST_CASE(two_devices_and_a_loop_within_read_a_variable) {
  const auto outer =
      while_loop(here, {zero, one}, below_three, [&](const Scope& s, std::span<const Output> v) {
        const auto inner =
            while_loop(s, {zero, v[1]}, below_three, [&](const Scope& t, std::span<const Output> u) {
              return std::vector{add(t, u[0], 1), mul(t, u[1], w)};
            });
        const Scope there = s.with_device("/job:worker/device:CPU:1");
        return std::vector{add(s, v[0], 1), div(there, inner[1], mul(there, w, w))};
      });
  BOOST_TEST(value_of(outer[1]) == 8.0f);
}

// Each iteration adds 1 where the variable is, and multiplies by the new value.
BOOST_AUTO_TEST_CASE(a_loop_sees_what_it_changes) {
  const auto loop =
      while_loop(here, {zero, one}, below_three, [&](const Scope& s, std::span<const Output> v) {
        const Output changed = assign_add(
            s.with_device("/job:ps/device:CPU:0").with_control({{v[1].node, Output::control}}), w, 1.0f);
        const Scope after = s.with_control({{changed.node, Output::control}});
        return std::vector{add(s, v[0], 1), mul(after, v[1], w)};
      });
  BOOST_TEST(value_of(loop[1]) == 60.0f);  // 3 * 4 * 5
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::loops_over_devices_test
