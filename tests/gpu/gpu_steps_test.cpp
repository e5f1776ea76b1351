// Sessions with a GPU: where nodes run, how tensors reach the GPU and leave it, and what fails.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "apps/nn/gradients.h"
#include "apps/nn/loss_scaling.h"
#include "apps/nn/optimizer.h"
#include "graph/build/scope.h"
#include "kernels/constructors.h"
#include "tests/gpu/gpu_machine.h"
#include "tests/support/comes_true.h"
#include "tests/support/failure_of.h"
#include "tests/support/temporary_folder.h"

namespace troupe::test::gpu_steps_test {
namespace {

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
  BOOST_TEST(ran_on(profile, "_FusedApply", gpu_name) == 1u);
  BOOST_TEST(ran_on(profile, "ApplyGradientDescent", gpu_name) == 0u);
}

// Steps without profiles are repeated from records. The rows differ in number and value, and weights are fetched now and then.
BOOST_AUTO_TEST_CASE(a_training_of_many_steps_is_that_of_a_cpu) {
  Perceptron there(1), here(0);
  Session gpu = there.open(), cpu = here.open();
  for (int step = 0; step < 80; ++step) {
    const int64_t rows = step % 3 == 2 ? 3 : 4;
    const auto train = [&](Session& session, const Perceptron& model) {
      std::vector<int32_t> labels(static_cast<size_t>(rows));
      for (size_t i = 0; i < labels.size(); ++i)
        labels[i] = static_cast<int32_t>((i + static_cast<size_t>(step)) % 3);
      return session
          .run({{model.images, ramp(Shape{rows, 6}, 1 + 0.1f * static_cast<float>(step % 7))},
                {model.labels, Tensor::vector<int32_t>(labels)}},
               {model.loss, model.train})[0]
          .item<float>();
    };
    BOOST_TEST(train(gpu, there) == train(cpu, here), boost::test_tools::tolerance(1e-4f));
    if (step % 20 == 10) {
      const auto weights = gpu.run(there.weights), expected = cpu.run(here.weights);
      for (size_t i = 0; i < weights.size(); ++i) BOOST_TEST(close(weights[i], expected[i]));
    }
  }
}

/// A perceptron whose learning rate follows a schedule, which counts steps in an integer.
BOOST_AUTO_TEST_CASE(a_schedule_counts_its_steps_on_the_host) {
  const auto losses = [](int gpus, size_t& on_gpu) {
    Machine machine(gpus);
    const Scope& g = machine.scope;
    const Output first = troupe::variable(g, g.constant(ramp(Shape{6, 5}, 0.1f)), "first"),
                 second = troupe::variable(g, g.constant(ramp(Shape{5, 3}, 0.1f)), "second");
    const Output y = matmul(g, tanh(g, matmul(g, g.constant(ramp(Shape{4, 6}, 1)), first)), second);
    const Output loss = mean(g, square(g, y));
    const Output train = nn::Adam(nn::exponential_decay(0.1, 2, 0.5)).minimize(g, loss);
    machine.initializers.push_back(initializer(g));
    Session session = machine.open();
    std::vector<float> result;
    for (int step = 0; step < 8; ++step) result.push_back(session.run({}, {loss, train})[0].item<float>());
    std::vector<DeviceProfile> profile;
    session.run({}, {train}, {.profile = &profile});
    on_gpu = ran_on(profile, "_FusedApply", gpu_name);
    return result;
  };
  size_t on_gpu = 0, on_cpu = 0;
  const auto there = losses(1, on_gpu), here = losses(0, on_cpu);
  for (size_t i = 0; i < here.size(); ++i)
    BOOST_TEST(there[i] == here[i], boost::test_tools::tolerance(1e-4f));
  BOOST_TEST(on_gpu == 1u);
}

/// A model in half whose loss is scaled. The first scales are infinite in half, and later ones are now and then.
struct ScaledModel : Machine {
  explicit ScaledModel(int gpus) : Machine(gpus) {
    weight = troupe::variable(scope, scope.constant(ramp(Shape{6, 3}, 0.1f)), "weight");
    const Output x = cast(scope, scope.constant(ramp(Shape{4, 6}, 1)), DType::Half),
                 y = cast(scope, matmul(scope, x, cast(scope, weight, DType::Half)), f32),
                 loss = mean(scope, square(scope, y));
    nn::LossScaling scaling(scope, {.initial = 1e6, .grow_after = 3});
    auto gradients = scaling.unscaled(scope, nn::compute_gradients(scope, scaling.scaled(scope, loss)));
    gradients = scaling.where_finite(scope, std::move(gradients));
    nn::ReplicationStrategy strategy;
    const Output updates = nn::Momentum(0.01, 0.5).apply_gradients(scope, gradients, strategy);
    train = scope.group({updates, scaling.update(scope, strategy)});
    state = variables(graph);
    initializers.push_back(initializer(scope));
  }
  Output weight, train;
  std::vector<Output> state;
};

BOOST_AUTO_TEST_CASE(updates_that_are_not_finite_are_left_out_as_on_a_cpu) {
  ScaledModel there(1), here(0);
  Session gpu = there.open(), cpu = here.open();
  std::vector<DeviceProfile> profile;
  for (int step = 0; step < 20; ++step) {
    gpu.run({there.train});
    cpu.run({here.train});
    const auto values = gpu.run(there.state), expected = cpu.run(here.state);
    for (size_t i = 0; i < values.size(); ++i) BOOST_TEST(close(values[i], expected[i]));
  }
  BOOST_TEST(gpu.run({there.weight})[0].as<float>()[0] != ramp(Shape{6, 3}, 0.1f).as<float>()[0]);
  gpu.run({}, {there.train}, {.profile = &profile});
  BOOST_TEST(ran_on(profile, "Switch", gpu_name) == 1u);
}

BOOST_AUTO_TEST_CASE(a_kernel_with_the_same_arguments_is_not_run_again) {
  std::atomic<int> runs{0};
  Runtime runtime(with_op("Counted", [&] { ++runs; }));
  Graph graph(runtime.ops());
  const Scope scope(graph);
  const Output x = placeholder(scope, f32, {-1});
  const Output y = scope.add_one("Counted", {add_n(scope, {x, x})});
  Session session = runtime.session(graph);
  for (int step = 0; step < 100; ++step) {
    const auto value = static_cast<float>(step);
    BOOST_TEST(session.run({{x, Tensor::vector<float>({value, 1})}}, {y})[0].as<float>()[0] == 2 * value);
  }
  BOOST_TEST(runs < 10);
  session.run({{x, Tensor::vector<float>({1, 2, 3})}}, {y});
  const int again = runs;
  session.run({{x, Tensor::vector<float>({4, 5, 6})}}, {y});
  BOOST_TEST(runs == again);
}

BOOST_AUTO_TEST_CASE(sessions_on_several_threads_repeat_their_steps) {
  Machine machine(1);
  const Output x = placeholder(machine.scope, f32, {-1});
  const Output total = sum(machine.scope, machine.scope.add_one("Square", {add_n(machine.scope, {x, x})}));
  Session session = machine.open();
  std::vector<std::jthread> threads;
  std::atomic<int> wrong{0};
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int step = 0; step < 200; ++step) {
        const auto value = static_cast<float>(thread * 200 + step);
        wrong +=
            session.run({{x, Tensor::vector<float>({value})}}, {total})[0].item<float>() != 4 * value * value;
      }
    });
  threads.clear();
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(steps_that_are_over_leave_their_memory_to_others) {
  Machine machine(1, size_t{64} << 20);
  const Output x = placeholder(machine.scope, f32, {-1});
  const auto total = [&](int32_t rows) {
    const Output size = machine.scope.constant(Tensor::vector<int32_t>({rows, 1024}));
    return sum(machine.scope, machine.scope.add_one("Sqrt", {broadcast_to(machine.scope, x, size)}));
  };
  const Output first = total(7000), second = total(7001);  // each takes 27 MiB, or twice that
  Session session = machine.open();
  for (int step = 0; step < 8; ++step)
    for (const auto& [result, rows] : {std::pair(first, 7000.0f), std::pair(second, 7001.0f)})
      BOOST_TEST(session.run({{x, Tensor::of<float>(Shape{1024}, std::vector<float>(1024, 4))}}, {result})[0]
                     .item<float>() == 2048 * rows);
}

BOOST_AUTO_TEST_CASE(random_numbers_differ_from_step_to_step) {
  Machine there(1), here(0);
  const auto numbers = [](Machine& machine) {
    const Output shape = machine.scope.constant(Tensor::vector<int32_t>({4}));
    const Output drawn = machine.scope.with_name("drawn").add_one("RandomUniform", {shape},
                                                                  {{"dtype", f32}, {"seed", int64_t{7}}});
    const Output doubled = add_n(machine.scope, {drawn, drawn});
    Session session = machine.open();
    std::vector<Tensor> results;
    for (int step = 0; step < 10; ++step) results.push_back(session.run({doubled})[0]);
    return results;
  };
  const auto gpu = numbers(there), cpu = numbers(here);
  for (size_t i = 0; i < gpu.size(); ++i) {
    BOOST_TEST(close(gpu[i], cpu[i]));
    BOOST_TEST((i == 0 || !identical(gpu[i], gpu[i - 1])));
  }
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
  for (int step = 0; step < 20; ++step) {
    const bool wrong = step % 4 == 1;
    const auto run = [&] {
      return session.run({{rows, Tensor::vector<int32_t>({1, wrong ? 9 : 3})}}, {taken})[0];
    };
    if (wrong)
      BOOST_TEST(failure_of(run).message().find('9') != std::string::npos);
    else
      BOOST_TEST(run().as<float>()[3] == ramp(Shape{4, 3}, 1).as<float>()[9]);
  }
}

BOOST_AUTO_TEST_CASE(tasks_of_a_process_share_the_memory_of_a_gpu) {
  const auto memory = [](size_t tasks) {
    RuntimeOptions options = with_gpus(1);
    options.tasks.clear();
    for (size_t i = 0; i < tasks; ++i)
      options.tasks.push_back({.job = "worker", .task = static_cast<int>(i), .gpus = 1});
    Runtime runtime(options);
    Graph graph(runtime.ops());
    std::vector<double> shares;
    for (const DeviceDescription& device : runtime.session(graph).devices())
      if (device.type == "GPU") shares.push_back(static_cast<double>(device.memory));
    BOOST_TEST_REQUIRE(shares.size() == tasks);
    return shares;
  };
  const double whole = memory(1)[0];
  for (const double share : memory(2)) BOOST_TEST(share == whole / 2, boost::test_tools::tolerance(0.02));
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

// The failure is found when the result is copied to the host; steps without profiles are repeated from records.
BOOST_AUTO_TEST_CASE(a_wrong_index_names_its_op_and_node_and_the_next_step_runs) {
  Machine machine(1);
  const Scope& g = machine.scope;
  const Output ids = placeholder(g, i32, {-1});
  const Output first = gather(g.with_name("first"), g.constant(ramp(Shape{4, 2}, 1)), ids);
  const Output rows =
      gather(g.with_name("lookup"), mul(g, first, 2), g.constant(Tensor::vector<int32_t>({0, 1})));
  const Output total = sum(g, rows);
  Session session = machine.open();
  const auto run = [&](int32_t id) {
    return session.run({{ids, Tensor::vector<int32_t>({1, id})}}, {total})[0].item<float>();
  };
  const float expected = run(3);
  for (int step = 0; step < 5; ++step) {
    BOOST_TEST(run(3) == expected);
    const Status wrong = failure_of([&] { run(9); });
    BOOST_TEST((wrong.code() == Code::InvalidArgument), wrong.message());
    BOOST_TEST(wrong.node() == "first", wrong.message());
    BOOST_TEST(wrong.op() == machine.graph.node(first.node).type(), wrong.message());
    BOOST_TEST(wrong.text().find('9') != std::string::npos, wrong.message());
  }
}

/// Two sums of rows that are looked up; between the lookup and the sum, steps of the first one run the op Held.
struct Lookups {
  explicit Lookups(Runtime& runtime) : graph(runtime.ops()) {
    const Scope g(graph);
    ids = placeholder(g, i32, {-1});
    const Output rows = g.constant(ramp(Shape{4, 2}, 1));
    held = sum(g, g.add_one("Held", {gather(g.with_name("first"), rows, ids)}));
    free = sum(g, gather(g.with_name("second"), rows, ids));
  }
  float run(Session& session, const Output& total, int32_t id) const {
    return session.run({{ids, Tensor::vector<int32_t>({1, id})}}, {total})[0].item<float>();
  }
  Graph graph;
  Output ids, held, free;
};

BOOST_AUTO_TEST_CASE(a_wrong_index_fails_its_own_step_and_no_other) {
  std::atomic<bool> found = false, goes_on = false;
  Runtime runtime(with_op("Held", [&] {
    found = true;
    (void)comes_true([&] { return goes_on.load(); });
  }));
  const Lookups lookups(runtime);
  Session session = runtime.session(lookups.graph);
  Status wrong, right;
  {
    const std::jthread other([&] { wrong = failure_of([&] { lookups.run(session, lookups.held, 9); }); });
    BOOST_TEST(comes_true([&] { return found.load(); }));
    right = failure_of([&] { lookups.run(session, lookups.free, 3); });
    goes_on = true;
  }
  BOOST_TEST(right.ok(), right.message());
  BOOST_TEST(wrong.node() == "first", wrong.message());
}

// Steps of two sessions, soon from records.
BOOST_AUTO_TEST_CASE(wrong_indices_fail_their_own_steps_among_many) {
  Runtime runtime(with_op("Held", [] {}));
  const Lookups lookups(runtime);
  constexpr int steps = 200;
  std::atomic<int> refused = 0, failed = 0;
  {
    const std::jthread other([&] {
      Session session = runtime.session(lookups.graph);
      for (int step = 0; step < steps; ++step)
        refused += failure_of([&] { lookups.run(session, lookups.held, 9); }).node() == "first";
    });
    Session session = runtime.session(lookups.graph);
    for (int step = 0; step < steps; ++step)
      failed += !failure_of([&] { lookups.run(session, lookups.free, 3); }).ok();
  }
  BOOST_TEST(refused == steps);
  BOOST_TEST(failed == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::gpu_steps_test
