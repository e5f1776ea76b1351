// Sessions with a GPU: where nodes run, how tensors reach the GPU and leave it, and what fails.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

#include "apps/nn/gradients.h"
#include "graph/build/scope.h"
#include "kernels/constructors.h"
#include "tests/support/failure_of.h"
#include "tests/support/gpu_runtime.h"
#include "tests/support/temporary_folder.h"

namespace troupe::test {
namespace {

constexpr const char* gpu_name = "/job:localhost/replica:0/task:0/device:GPU:0";

/// Counts the nodes with this op that ran on the device, in a profiled step.
size_t ran_on(const std::vector<DeviceProfile>& devices, std::string_view op, std::string_view device) {
  size_t count = 0;
  for (const DeviceProfile& profile : devices)
    if (profile.device == device)
      for (const NodeProfile& node : profile.nodes) count += node.op == op;
  return count;
}

struct Machine {
  explicit Machine(int gpus, size_t memory = 0) : runtime(options(gpus, memory)), graph(runtime.ops()) {}
  static RuntimeOptions options(int gpus, size_t memory) {
    RuntimeOptions options = with_gpus(gpus);
    options.gpu_memory = memory;
    return options;
  }

  Output variable(const char* name, const Tensor& initial) {
    const Output variable = scope.with_name(name).add_one(
        "VariableV2", {}, {{"dtype", initial.dtype()}, {"shape", PartialShape(initial.shape())}});
    initializers.push_back(assign(scope, variable, scope.constant(initial)));
    return variable;
  }
  Session open() {
    Session session = runtime.session(graph);
    session.run({scope.group(initializers)});
    return session;
  }

  Runtime runtime;
  Graph graph;
  const Scope scope{graph};
  std::vector<Output> initializers;
};

Tensor ramp(const Shape& shape, float scale) {
  Tensor tensor = value_or_throw(Tensor::allocate(DType::Float, shape));
  for (size_t i = 0; float& value : tensor.write<float>())
    value = scale * (static_cast<float>(i++ * 7 % 11) - 5.0f);
  return tensor;
}

/// A perceptron that is trained by gradient descent on one batch.
struct Perceptron : Machine {
  explicit Perceptron(int gpus) : Machine(gpus) {
    images = placeholder(scope, f32, {-1, 6});
    labels = placeholder(scope, i32, {-1});
    const Output first = variable("first", ramp(Shape{6, 5}, 0.1f)),
                 bias = variable("bias", ramp(Shape{5}, 0.01f)),
                 second = variable("second", ramp(Shape{5, 3}, 0.1f));
    const Output hidden = relu(scope, scope.add_one("BiasAdd", {matmul(scope, images, first), bias}));
    loss =
        mean(scope, sparse_softmax_cross_entropy_with_logits(scope, matmul(scope, hidden, second), labels));
    const auto gradients = nn::compute_gradients(scope, loss, {first, bias, second});
    std::vector<Output> updates;
    for (const auto& [gradient, weight] : gradients)
      updates.push_back(scope.add_one(
          "ApplyGradientDescent", {weight, scope.constant(Tensor::scalar(0.5f)), nn::values_of(gradient)}));
    train = scope.group(updates);
    weights = {first, bias, second};
  }

  Output images, labels, loss, train;
  std::vector<Output> weights;
  std::vector<std::pair<Output, Tensor>> feeds() const {
    return {{images, ramp(Shape{4, 6}, 1)}, {labels, Tensor::vector<int32_t>({0, 2, 1, 2})}};
  }
};

boost::test_tools::assertion_result needs_gpu(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(has_gpu());
  result.message() << "this process can use no GPU";
  return result;
}

bool close(const Tensor& a, const Tensor& b) {
  return std::ranges::equal(a.as<float>(), b.as<float>(),
                            [](float x, float y) { return std::abs(x - y) <= 1e-5f * (1 + std::abs(y)); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gpu_steps, *boost::unit_test::precondition(needs_gpu))

BOOST_AUTO_TEST_CASE(a_training_is_that_of_a_cpu) {
  Perceptron there(1), here(0);
  Session gpu = there.open(), cpu = here.open();
  std::vector<DeviceProfile> profile;
  for (int step = 0; step < 20; ++step) {
    const float expected = cpu.run(here.feeds(), {here.loss, here.train})[0].item<float>();
    const float loss =
        gpu.run(there.feeds(), {there.loss, there.train}, {.profile = &profile})[0].item<float>();
    BOOST_TEST(loss == expected, boost::test_tools::tolerance(1e-4f));
  }
  const auto weights = gpu.run(there.weights), expected = cpu.run(here.weights);
  for (size_t i = 0; i < weights.size(); ++i) BOOST_TEST(close(weights[i], expected[i]));
  BOOST_TEST(ran_on(profile, "MatMul", gpu_name) + ran_on(profile, "_FusedMatMul", gpu_name) >= 3u);
}

BOOST_AUTO_TEST_CASE(ops_without_a_kernel_for_gpus_run_on_the_cpu) {
  Machine machine(1);
  const Output x = placeholder(machine.scope, f32, {-1});
  const Output sum = add_n(machine.scope, {x, x, x});
  const Output words = machine.scope.add_one("AsString", {sum});
  Session session = machine.open();
  const auto results = session.run({{x, Tensor::vector<float>({1, 2})}}, {words, sum});
  BOOST_TEST(results[0].as<std::string>()[1] == "6.000000");
  BOOST_TEST(results[1].as<float>()[0] == 3.0f);
}

BOOST_AUTO_TEST_CASE(variables_survive_a_checkpoint) {
  const test::TemporaryFolder folder;
  Tensor before;
  {
    Perceptron machine(1);
    Session session = machine.open();
    for (int step = 0; step < 3; ++step) session.run(machine.feeds(), {machine.train});
    before = session.run({machine.weights[0]})[0];
    session.save(folder.path());
  }
  Perceptron machine(1);
  Session session = machine.open();
  session.restore(folder.path());
  BOOST_TEST(identical(session.run({machine.weights[0]})[0], before));
}

BOOST_AUTO_TEST_CASE(a_wrong_index_fails_the_step_and_not_the_next) {
  Machine machine(1);
  const Output table = machine.variable("table", ramp(Shape{4, 3}, 1));
  const Output rows = placeholder(machine.scope, i32, {-1});
  const Output taken = gather(machine.scope, table, rows);
  Session session = machine.open();
  const Status refused = failure_of([&] { session.run({{rows, Tensor::vector<int32_t>({1, 9})}}, {taken}); });
  BOOST_TEST(refused.message().find('9') != std::string::npos, refused.message());
  const Tensor right = session.run({{rows, Tensor::vector<int32_t>({1, 3})}}, {taken})[0];
  BOOST_TEST(right.as<float>()[0] == ramp(Shape{4, 3}, 1).as<float>()[3]);
}

BOOST_AUTO_TEST_CASE(a_step_without_memory_fails_by_name_and_the_next_runs) {
  Machine machine(1, size_t{64} << 20);
  const Output x = placeholder(machine.scope, f32, {-1});
  const Output size = placeholder(machine.scope, i32, {2});
  const Output total = sum(machine.scope, broadcast_to(machine.scope, x, size));
  Session session = machine.open();
  const auto run = [&](int32_t rows) {
    return session
        .run({{x, Tensor::of<float>(Shape{1024}, std::vector<float>(1024, 1))},
              {size, Tensor::vector<int32_t>({rows, 1024})}},
             {total})[0]
        .item<float>();
  };
  const Status refused = failure_of([&] { run(1 << 16); });
  BOOST_TEST((refused.code() == Code::ResourceExhausted), refused.message());
  BOOST_TEST(refused.message().find("BroadcastTo") != std::string::npos, refused.message());
  BOOST_TEST(run(16) == 16 * 1024.0f);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test
