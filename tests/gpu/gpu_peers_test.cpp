// Several GPUs of one task: a GPU copies tensors from another one, and steps compute on both.
#include <boost/test/unit_test.hpp>

#include <cstdlib>

#include "apps/nn/gradients.h"
#include "devices/gpu_queue.h"
#include "devices/transfer.h"
#include "tests/gpu/gpu_machine.h"

namespace troupe::test::gpu_peers_test {
namespace {

/// Emulates two GPUs while it exists, if GPUs are emulated.
struct TwoGpus {
  TwoGpus() { setenv("TROUPE_EMULATED_GPUS", "2", 1); }
  TwoGpus(const TwoGpus&) = delete;
  TwoGpus& operator=(const TwoGpus&) = delete;
  ~TwoGpus() { unsetenv("TROUPE_EMULATED_GPUS"); }
};

bool needs_two_gpus(boost::unit_test::test_unit_id suite) {
  const TwoGpus emulated;
  return finds_gpus(2, suite);
}

std::shared_ptr<Device> gpu(int index, Pool& pool) {
  return value_or_throw(make_gpu({"test", 0, 0, "GPU", index}, 1, pool,
                                 {.index = index, .memory_cap = 64 << 20, .peers = {1 - index}}));
}

/// A perceptron with a layer on each device, which is trained by gradient descent.
struct Layers : Machine {
  Layers(int gpus, const std::string& one, const std::string& other) : Machine(gpus) {
    const Scope first = scope.with_device(one), second = scope.with_device(other);
    x = placeholder(scope, f32, {-1, 6});
    const Output w = weight(first, Shape{6, 5}), v = weight(second, Shape{5, 3});
    const Output hidden = tanh(first, matmul(first, x, w));
    loss = mean(second, square(second, matmul(second, hidden, v)));
    std::vector<Output> updates;
    for (const auto& [gradient, variable] : nn::compute_gradients(scope, loss, {w, v}))
      updates.push_back((variable == w ? first : second)
                            .add_one("ApplyGradientDescent", {variable, scope.constant(Tensor::scalar(0.1f)),
                                                              nn::values_of(gradient)}));
    train = scope.group(updates);
    weights = {w, v};
  }
  float step(Session& session, int64_t rows) const {
    return session.run({{x, ramp(Shape{rows, 6}, 1)}}, {loss, train})[0].item<float>();
  }

  Output x, loss, train;
  std::vector<Output> weights;

 private:
  Output weight(const Scope& there, const Shape& shape) {
    const Output result = there.add_one("VariableV2", {}, {{"dtype", f32}, {"shape", PartialShape(shape)}});
    initializers.push_back(assign(there, result, there.constant(ramp(shape, 0.1f))));
    return result;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(gpu_peers, *boost::unit_test::precondition(needs_two_gpus))

BOOST_FIXTURE_TEST_CASE(a_gpu_copies_from_another_one, TwoGpus) {
  const auto pool = value_or_throw(ThreadPool::make(1));
  const auto first = gpu(0, *pool), second = gpu(1, *pool);
  const Tensor values = ramp(Shape{300, 500}, 1);
  Tensor there = value_or_throw(transfer(values, *first, *first));
  (void)value_or_throw(to_host(there, *first));  // the first GPU has ended its work
  Tensor across = value_or_throw(transfer(there, *second, *second));
  BOOST_TEST(second->holds(across));
  BOOST_TEST(!second->holds(there));
  there.reset();
  const Tensor back = value_or_throw(to_host(across, *second));
  while (!back.completion().ready()) second->context().queue()->poll();
  BOOST_TEST(identical(back, values));
  // Only the device that has the result can copy.
  const Status refused = first->copy(across, across).status();
  BOOST_TEST((refused.code() == Code::Internal), refused.message());
}

// From the third step on, both parts are recorded. The number of rows changes now and then.
BOOST_FIXTURE_TEST_CASE(a_training_on_both_is_that_of_a_cpu, TwoGpus) {
  Layers there(2, "/device:GPU:0", "/device:GPU:1"), here(0, "/device:CPU:0", "/device:CPU:0");
  Session gpus = there.open(), cpu = here.open();
  for (int step = 0; step < 60; ++step) {
    const int64_t rows = step % 7 == 6 ? 3 : 4;
    BOOST_TEST(there.step(gpus, rows) == here.step(cpu, rows), boost::test_tools::tolerance(1e-4f));
  }
  const auto weights = gpus.run(there.weights), expected = cpu.run(here.weights);
  for (size_t i = 0; i < weights.size(); ++i) BOOST_TEST(close(weights[i], expected[i]));
  std::vector<DeviceProfile> profile;
  gpus.run({{there.x, ramp(Shape{4, 6}, 1)}}, {there.train}, {.profile = &profile});
  BOOST_TEST(ran_on(profile, "Tanh", gpu_name) == 1u);
  BOOST_TEST(ran_on(profile, "_Send", gpu_name) >= 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::gpu_peers_test
