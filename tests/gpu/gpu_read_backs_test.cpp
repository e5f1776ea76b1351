// Kernels of a GPU of which the host reads a result within the step: CheckNumerics and Where, among nodes that run from records.
#include <boost/test/unit_test.hpp>

#include <cmath>

#include "graph/build/scope.h"
#include "kernels/constructors.h"
#include "tests/gpu/gpu_machine.h"
#include "tests/support/failure_of.h"

namespace troupe::test::gpu_read_backs_test {
namespace {

constexpr size_t width = 5;

/// A vector for step number `step`: of some length, with some zeros.
Tensor sample(int step) {
  const int64_t length = 3 + step % 2 * 100;
  Tensor tensor = ramp(Shape{length, width}, 1);
  for (size_t i = 0; float& value : tensor.write<float>())
    if (static_cast<int>(i++ * 5 % 7) < step % 3 * 2) value = 0;
  return tensor;
}

/// Adds the doubled elements that are not zero to a variable, if they are finite.
struct Checked : Machine {
  explicit Checked(int gpus) : Machine(gpus) {
    input = placeholder(scope, f32, {-1, width});
    const Output total = variable("total", Tensor::scalar(0.0f));
    const Output positions = nonzero(scope, not_equal(scope, input, zeros_like(scope, input)));
    const Output picked = scope.add_one("GatherNd", {add(scope, input, input), positions});
    checked = check_numerics(scope, sum(scope, picked), "sum");
    count = shape(scope, positions);
    train = scope.group({scope.add_one("AssignAdd", {total, checked})});
    state = total;
  }

  Output input, checked, count, train, state;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(gpu_read_backs, *boost::unit_test::precondition(needs_gpu))

BOOST_AUTO_TEST_CASE(what_is_not_zero_is_picked_as_on_a_cpu) {
  Checked there(1), here(0);
  Session gpu = there.open(), cpu = here.open();
  for (int step = 0; step < 40; ++step) {
    const auto run = [&](Session& session, const Checked& model) {
      return session.run({{model.input, sample(step / 4)}}, {model.checked, model.count, model.train});
    };
    const auto found = run(gpu, there), expected = run(cpu, here);
    BOOST_TEST(close(found[0], expected[0]));
    BOOST_TEST(found[1].as<int32_t>()[0] == expected[1].as<int32_t>()[0]);
  }
  BOOST_TEST(close(gpu.run({there.state})[0], cpu.run({here.state})[0]));
  std::vector<DeviceProfile> profile;
  gpu.run({{there.input, sample(2)}}, {there.train}, {.profile = &profile});
  BOOST_TEST(ran_on(profile, "Where", gpu_name) == 1u);
  BOOST_TEST(ran_on(profile, "CheckNumerics", gpu_name) == 1u);
}

BOOST_AUTO_TEST_CASE(what_waits_for_a_check_runs_only_if_it_succeeds) {
  Checked machine(1);
  Session session = machine.open();
  for (int step = 0; step < 20; ++step) {
    const bool wrong = step % 4 == 3;
    Tensor input = ramp(Shape{1, width}, 1);
    std::ranges::fill(input.write<float>(), wrong ? INFINITY : 0.1f);
    const Status status = failure_of([&] { session.run({{machine.input, input}}, {machine.train}); });
    BOOST_TEST(status.ok() != wrong, status.message());
    if (wrong) BOOST_TEST(status.text().find("sum : Tensor had Inf values") != std::string::npos);
    if (wrong) BOOST_TEST((status.op() == "CheckNumerics" && status.code() == Code::InvalidArgument));
  }
  BOOST_TEST(session.run({machine.state})[0].item<float>() == 15.0f, boost::test_tools::tolerance(1e-5f));
}

BOOST_AUTO_TEST_CASE(the_first_node_of_a_gpu_that_computes_no_finite_numbers_is_named) {
  Machine machine(1);
  const Scope& g = machine.scope;
  const Output x = placeholder(g, f32, {-1});
  const Output ratio = div(g.with_name("ratio"), x, x);
  const Output total = sum(g, exp(g, ratio));
  Session session = machine.runtime.session(machine.graph, {.check_finite = true});
  const auto run = [&](const std::vector<float>& values) {
    return session.run({{x, Tensor::vector<float>(values)}}, {total});
  };
  BOOST_TEST(std::abs(run({2, 4})[0].as<float>()[0] - 2 * std::exp(1.0f)) < 1e-5f);
  const Status status = failure_of([&] { run({2, 0}); });
  BOOST_TEST(status.node() == "ratio");
  BOOST_TEST(status.text() == "output 0 has NaN, the first numbers of the step that are not finite");
  BOOST_TEST(failure_of([&] { run({INFINITY, 2}); }).text().starts_with("the tensor that is fed has Inf"));
  BOOST_TEST(std::abs(run({3, 5})[0].as<float>()[0] - 2 * std::exp(1.0f)) < 1e-5f);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::gpu_read_backs_test
