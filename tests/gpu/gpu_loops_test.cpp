// Loops on a GPU: lists and arrays of tensors stay there, and iterations are repeated from records.
#include <boost/test/unit_test.hpp>

#include <atomic>

#include "apps/nn/gradients.h"
#include "graph/build/functional.h"
#include "graph/build/gradients.h"
#include "tests/gpu/gpu_machine.h"

namespace troupe::test::gpu_loops_test {
namespace {

/// A recurrent layer over sequences of any length, [time, batch, features], that is trained by gradient descent.
struct RecurrentModel : Machine {
  explicit RecurrentModel(int gpus) : Machine(gpus) {
    sequence = placeholder(scope, f32, {-1, 2, 3});
    const Output w = variable("w", ramp(Shape{3, 4}, 0.1f)), u = variable("u", ramp(Shape{4, 4}, 0.05f)),
                 bias = variable("bias", ramp(Shape{4}, 0.02f));
    const auto states = scan(scope, {sequence}, {scope.constant(ramp(Shape{2, 4}, 0))},
                             [&](const Scope& s, Outputs state, Outputs slice) {
                               const Output sum = add(s, matmul(s, slice[0], w), matmul(s, state[0], u));
                               return std::vector{tanh(s, s.add_one("BiasAdd", {sum, bias}))};
                             });
    loss = mean(scope, square(scope, states[0]));
    std::vector<Output> updates;
    for (const auto& [gradient, weight] : nn::compute_gradients(scope, loss, {w, u, bias}))
      updates.push_back(scope.add_one(
          "ApplyGradientDescent", {weight, scope.constant(Tensor::scalar(0.1f)), nn::values_of(gradient)}));
    train = scope.group(updates);
    weights = {w, u, bias};
  }
  std::vector<std::pair<Output, Tensor>> feeds(int64_t length) const {
    return {{sequence, ramp(Shape{length, 2, 3}, 1)}};
  }

  Output sequence, loss, train;
  std::vector<Output> weights;
};

/// Returns small whole numbers of float or int32.
Tensor numbers(DType dtype, const Shape& shape, float scale) {
  const Tensor floats = ramp(shape, scale);
  if (dtype == f32) return floats;
  Tensor integers = value_or_throw(Tensor::allocate(dtype, shape));
  std::ranges::transform(floats.as<float>(), integers.write<int32_t>().begin(),
                         [](float number) { return static_cast<int32_t>(number); });
  return integers;
}

/// Runs what `build` adds to a graph, on a GPU and on a CPU, and compares the results.
template <class Build>
void check_as_on_cpu(Build build) {
  std::vector<std::vector<Tensor>> results;
  for (const int gpus : {0, 1}) {
    Machine machine(gpus);
    const std::vector<Output> fetches = build(machine.scope);
    Session session = machine.open();
    for (int step = 0; step < 5; ++step) results.push_back(session.run(fetches));
    std::vector<DeviceProfile> profile;
    session.run({}, fetches, {.profile = &profile});
    for (const DeviceProfile& device : profile)
      for (const NodeProfile& node : device.nodes)
        if (gpus != 0 && node.op.starts_with("Tensor")) BOOST_TEST(device.device == gpu_name, node.op);
  }
  for (size_t i = 1; i < results.size(); ++i)
    for (size_t k = 0; k < results[0].size(); ++k) {
      BOOST_TEST(results[i][k].shape().text() == results[0][k].shape().text());
      if (results[0][k].dtype() == f32)
        BOOST_TEST(close(results[i][k], results[0][k]));
      else
        BOOST_TEST(identical(results[i][k], results[0][k]));
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gpu_loops, *boost::unit_test::precondition(needs_gpu))

BOOST_AUTO_TEST_CASE(a_recurrent_layer_is_trained_as_on_a_cpu) {
  RecurrentModel there(1), here(0);
  Session gpu = there.open(), cpu = here.open();
  for (int step = 0; step < 60; ++step) {
    const int64_t length = step % 7 == 6 ? 3 : 5;
    const float expected = cpu.run(here.feeds(length), {here.loss, here.train})[0].item<float>(),
                loss = gpu.run(there.feeds(length), {there.loss, there.train})[0].item<float>();
    BOOST_TEST(loss == expected, boost::test_tools::tolerance(1e-4f));
  }
  const auto weights = gpu.run(there.weights), expected = cpu.run(here.weights);
  for (size_t i = 0; i < weights.size(); ++i) BOOST_TEST(close(weights[i], expected[i]));
}

BOOST_AUTO_TEST_CASE(the_lists_of_a_loop_stay_on_the_gpu) {
  RecurrentModel model(1);
  Session session = model.open();
  std::vector<DeviceProfile> profile;
  session.run(model.feeds(5), {model.loss, model.train}, {.profile = &profile});
  for (const char* const op : {"TensorListPushBack", "TensorListPopBack", "TensorListStack"}) {
    BOOST_TEST(ran_on(profile, op, gpu_name) > 0u, op);
    BOOST_TEST(ran_on(profile, op, cpu_name) == 0u, op);
  }
}

// The kernel counts how often it runs.
BOOST_AUTO_TEST_CASE(iterations_with_the_same_arguments_are_not_run_again) {
  std::atomic<int> runs{0};
  Runtime runtime(with_op("Counted", [&] { ++runs; }));
  Graph graph(runtime.ops());
  const Scope scope(graph);
  constexpr int length = 20;
  const Output sequence = placeholder(scope, f32, {-1, 2});
  const auto sums = foldl(scope, {sequence}, {scope.constant(ramp(Shape{2}, 0))},
                          [](const Scope& s, Outputs sum, Outputs slice) {
                            return std::vector{s.add_one("Counted", {add(s, sum[0], slice[0])})};
                          });
  Session session = runtime.session(graph);
  const auto run = [&](float value) {
    const Tensor values = ramp(Shape{length, 2}, value);
    float expected = 0;
    for (size_t i = 0; i < length; ++i) expected += values.as<float>()[2 * i];
    BOOST_TEST(session.run({{sequence, values}}, sums)[0].as<float>()[0] == expected,
               boost::test_tools::tolerance(1e-5f));
  };
  for (int step = 0; step < 10; ++step) run(1 + static_cast<float>(step));
  const int before = runs;
  BOOST_TEST(before >= length);
  for (int step = 0; step < 50; ++step) run(2 + static_cast<float>(step));
  BOOST_TEST(runs == before);
}

// The elements of lists of int32 lie on the host.
BOOST_AUTO_TEST_CASE(lists_are_those_of_a_cpu) {
  for (const DType dtype : {f32, i32})
    check_as_on_cpu([dtype](const Scope& g) {
      const Attributes elements = {{"element_dtype", dtype}};
      const auto value = [&](const Shape& shape, float scale) {
        return g.constant(numbers(dtype, shape, scale));
      };
      const Output any = g.constant(Tensor::scalar<int32_t>(-1)),
                   row = g.constant(Tensor::vector<int32_t>({3})),
                   rows = g.constant(Tensor::vector<int32_t>({2, 3}));
      const auto index = [&](int32_t i) { return g.constant(Tensor::scalar(i)); };
      const Output empty = g.add_one("TensorListReserve", {row, index(4)}, elements);
      const Output some = g.add_one("TensorListSetItem",
                                    {g.add_one("TensorListSetItem", {empty, index(1), value(Shape{3}, 1)}),
                                     index(3), value(Shape{3}, 2)});
      const Output all = g.add_one("TensorListFromTensor", {value(Shape{4, 3}, 3), any});
      const Output sum = g.add_one("AddN", {some, all}), zeros = g.add_one("ZerosLike", {all});
      const NodeId popped = g.add("TensorListPopBack", {empty, row}, elements);
      const Output pairs = g.add_one("TensorListFromTensor", {value(Shape{3, 2, 3}, 1), any});
      const NodeId joined = g.add("TensorListConcatV2",
                                  {pairs, rows, g.constant(Tensor::vector<int64_t>(std::vector<int64_t>{}))},
                                  {{"element_dtype", dtype}, {"shape_type", i32}});
      std::vector<Output> fetches = {{popped, 1}, {joined, 0}, {joined, 1}};
      for (const Output& list : {some, sum, zeros}) {
        fetches.push_back(g.add_one("TensorListStack", {list, row}, elements));
        fetches.push_back(g.add_one("TensorListGetItem", {list, index(1), row}, elements));
        fetches.push_back(g.add_one("TensorListGather",
                                    {list, g.constant(Tensor::vector<int32_t>({3, 0, 3})), row}, elements));
      }
      return fetches;
    });
}

// An element that is read twice has a gradient of two terms.
BOOST_AUTO_TEST_CASE(arrays_and_their_gradients_are_those_of_a_cpu) {
  check_as_on_cpu([](const Scope& g) {
    const Attributes floats = {{"dtype", f32}};
    const auto index = [&](int32_t i) { return g.constant(Tensor::scalar(i)); };
    const Output x = g.constant(ramp(Shape{3, 2}, 1)), y = g.constant(ramp(Shape{2}, 2));
    const NodeId array =
        g.add("TensorArrayV3", {index(4)},
              {{"dtype", f32}, {"clear_after_read", false}, {"element_shape", PartialShape{2}}});
    const Output handle{array, 0};
    Output flow{array, 1};
    flow =
        g.add_one("TensorArrayScatterV3", {handle, g.constant(Tensor::vector<int32_t>({0, 2, 1})), x, flow});
    flow = g.add_one("TensorArrayWriteV3", {handle, index(3), y, flow});
    const Output all = g.add_one("TensorArrayGatherV3",
                                 {handle, g.constant(Tensor::vector<int32_t>({3, 1, 0})), flow}, floats);
    const Output one = g.add_one("TensorArrayReadV3", {handle, index(1), flow}, floats);
    const NodeId joined = g.add("TensorArrayV3", {index(2)}, {{"dtype", f32}});
    const Output parts = g.add_one(
        "TensorArraySplitV3", {{joined, 0}, all, g.constant(Tensor::vector<int64_t>({1, 2})), {joined, 1}});
    const NodeId whole = g.add("TensorArrayConcatV3", {{joined, 0}, parts}, floats);
    const Output loss = add(g, sum(g, square(g, Output{whole, 0})), sum(g, mul(g, one, y)));
    const auto slopes = gradients(g, {loss}, {x, y});
    return std::vector{all,
                       one,
                       Output{whole, 0},
                       Output{whole, 1},
                       loss,
                       std::get<Output>(slopes[0]),
                       std::get<Output>(slopes[1])};
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::gpu_loops_test
