// Ops that are split over devices, in sessions of two and three tasks: values and gradients are those of the same graph without
// declarations, apart from the order of sums, and each device computes its part.
#include <boost/test/unit_test.hpp>

#include "actors/runtime.h"
#include "actors/step/step_compiler.h"
#include "graph/build/control_flow.h"
#include "graph/build/gradients.h"
#include "graph/build/split.h"
#include "graph/build/variables.h"
#include "kernels/constructors.h"
#include "tests/support/failure_of.h"
#include "tests/support/ops/op_library.h"

namespace troupe::split_steps_test {
namespace {

using Dims = std::vector<int64_t>;
using Outputs = std::vector<Output>;

/// Returns a tensor whose element i is element(i).
template <class T, class Function>
Tensor filled(const Dims& dims, const Function& element) {
  const Shape shape = value_or_throw(Shape::make(dims, DTypeOf<T>::value));
  std::vector<T> values;
  for (int64_t i = 0; i < shape.elements(); ++i) values.push_back(static_cast<T>(element(i)));
  return Tensor::vector(std::span<const T>(values)).reshaped(shape);
}
/// Returns a tensor of numbers between -1 and 1.
Tensor numbers(const Dims& dims, int64_t seed) {
  return filled<float>(
      dims, [=](int64_t i) { return static_cast<float>((i * 37 + seed * 101) % 41 - 20) / 20.0f; });
}
/// Returns a tensor of integers from 0 to 6.
Tensor integers(const Dims& dims) {
  return filled<int32_t>(dims, [](int64_t i) { return i * i % 7; });
}

/// Declares tensors to be split over devices, or leaves them as they are.
struct Splits {
  std::vector<std::string> devices;  ///< empty: nothing is declared

  Output split(const Scope& g, Output x, int64_t dimension) const {
    return devices.empty() ? x : split_over(g, x, devices, dimension);
  }
  Output broadcast(const Scope& g, Output x) const {
    return devices.empty() ? x : broadcast_over(g, x, devices);
  }
};

std::vector<std::string> workers(int count) {
  std::vector<std::string> devices;
  for (int i = 0; i < count; ++i) devices.push_back("/job:worker/task:" + std::to_string(i));
  return devices;
}

RuntimeOptions three_tasks() {
  return {.threads = 2, .tasks = {{"worker", 0, 1}, {"worker", 1, 1}, {"worker", 2, 1}}};
}

/// A model: makes outputs of inputs.
using Model = std::function<Output(const Scope& g, const Splits& splits, const Outputs& inputs)>;

Output with_bias(const Scope& g, Output x, Output bias) { return g.add_one("BiasAdd", {x, bias}); }

struct Setting {
  explicit Setting(const Splits& splits, const Model& model, const std::vector<Tensor>& values, bool known)
      : g(graph) {
    for (const Tensor& value : values) {
      Dims dims(value.shape().dims().begin(), value.shape().dims().end());
      if (!known && !dims.empty()) dims[0] = unknown_dim;
      inputs.push_back(placeholder(g, value.dtype(), PartialShape(dims)));
    }
    result = model(g, splits, inputs);
    Outputs xs;
    for (const Output& input : inputs)
      if (graph.dtype(input) == f32) xs.push_back(input);
    const Output weighted = square(g, result);  // so that the gradients of elements differ
    const auto slopes = graph.dtype(result) == f32 ? gradients(g, {weighted}, xs) : std::vector<Gradient>();
    fetches = {result};
    for (size_t i = 0; i < slopes.size(); ++i) fetches.push_back(dense(g, slopes[i], xs[i]));
  }

  std::vector<Tensor> run(const std::vector<Tensor>& values) {
    Session session = runtime.session(graph);
    std::vector<std::pair<Output, Tensor>> feeds;
    for (size_t i = 0; i < inputs.size(); ++i) feeds.emplace_back(inputs[i], values[i]);
    return session.run(feeds, fetches);
  }

  Runtime runtime{three_tasks()};
  Graph graph{runtime.ops()};
  const Scope g;
  Outputs inputs, fetches;
  Output result;
};

void check_near(const Tensor& apart, const Tensor& alone) {
  BOOST_TEST_REQUIRE(apart.shape().text() == alone.shape().text());
  BOOST_TEST_REQUIRE((apart.dtype() == alone.dtype()));
  if (apart.dtype() != f32) {
    BOOST_TEST(identical(apart, alone));
    return;
  }
  const auto a = apart.as<float>(), b = alone.as<float>();
  for (size_t i = 0; i < a.size(); ++i) BOOST_TEST(std::abs(a[i] - b[i]) <= 1e-5f * (1 + std::abs(b[i])));
}

/// Checks values and gradients, over two and three devices, with sizes that are known or not.
void check(const Model& model, const std::vector<Tensor>& values,
           std::vector<bool> sizes_known = {true, false}) {
  for (const bool known : sizes_known) {
    const auto alone = Setting({}, model, values, known).run(values);
    for (const int count : {2, 3}) {
      const auto apart = Setting({workers(count)}, model, values, known).run(values);
      for (size_t i = 0; i < alone.size(); ++i) check_near(apart[i], alone[i]);
    }
  }
}

/// Returns the devices of three workers.
std::vector<WorkerDevices> three_workers() {
  std::vector<WorkerDevices> result;
  for (int task = 0; task < 3; ++task)
    result.push_back({{"/job:worker/replica:0/task:" + std::to_string(task), 1, "worker", {}},
                      {{DeviceName{"worker", 0, task, "CPU", 0}, 1, 0}}});
  return result;
}

/// Returns how many nodes of an op each device computes in a step, in the order of devices.
std::vector<int> placed(const Graph& graph, const Outputs& fetches, const Outputs& feeds,
                        const std::string& op) {
  const auto library = test::op_library();
  const auto step = value_or_throw(place_step(graph, {feeds, fetches, {}}, *library, three_workers(), {}));
  std::vector<int> counts(step.devices.size(), 0);
  for (const Partition& part : step.partitions)
    for (const Node& node : part.graph.nodes())
      if (node.type().find(op) != std::string::npos) ++counts[part.device];
  return counts;
}

Status failure(const std::function<void()>& action) { return test::failure_of(action); }

const Tensor x75 = numbers({7, 5}, 1), w58 = numbers({5, 8}, 2), w84 = numbers({8, 4}, 3);

}  // namespace

BOOST_AUTO_TEST_SUITE(split_steps)

BOOST_AUTO_TEST_CASE(products_are_split_by_rows_columns_and_terms) {
  for (const int side : {0, 1})
    for (const int64_t dimension : {0, 1})
      check(
          [=](const Scope& g, const Splits& splits, const Outputs& in) {
            Outputs sides = in;
            sides[side] = splits.split(g, in[side], dimension);
            return matmul(g, sides[0], sides[1]);
          },
          {x75, w58});
  check(
      [](const Scope& g, const Splits& splits, const Outputs& in) {
        return matmul(g, splits.split(g, in[0], 1), splits.split(g, in[1], 0), true, true);
      },
      {numbers({5, 7}, 1), numbers({8, 5}, 2)});
}

// Columns of the first weights and rows of the second: the activations stay in parts, and one sum is exchanged.
BOOST_AUTO_TEST_CASE(a_perceptron_is_split_by_its_hidden_units) {
  const Model model = [](const Scope& g, const Splits& splits, const Outputs& in) {
    const Output hidden = relu(g, with_bias(g, matmul(g, in[0], splits.split(g, in[1], 1)), in[2]));
    return tanh(g, matmul(g, hidden, splits.split(g, in[3], 0)));
  };
  const std::vector<Tensor> values = {x75, w58, numbers({8}, 4), w84};
  check(model, values);
  const Setting setting({workers(2)}, model, values, true);
  BOOST_TEST(placed(setting.graph, {setting.result}, setting.inputs, "MatMul") == (std::vector{2, 2, 0}),
             boost::test_tools::per_element());
  BOOST_TEST(placed(setting.graph, setting.fetches, setting.inputs, "MatMul") == (std::vector{6, 6, 0}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(convolutions_are_split_by_batch_and_channels) {
  const std::vector<Tensor> values = {numbers({3, 5, 5, 4}, 1), numbers({3, 3, 4, 5}, 2), numbers({5}, 3)};
  const auto model = [](int64_t image, int64_t filter) {
    return [=](const Scope& g, const Splits& splits, const Outputs& in) {
      const Output x = image < 0 ? in[0] : splits.split(g, in[0], image),
                   f = filter < 0 ? in[1] : splits.split(g, in[1], filter);
      return relu(g, with_bias(g, conv2d(g, x, f, {1, 1, 1, 1}, "SAME"), in[2]));
    };
  };
  for (const auto& [image, filter] :
       std::vector<std::pair<int64_t, int64_t>>{{0, -1}, {3, -1}, {-1, 3}, {-1, 2}, {0, 3}})
    check(model(image, filter), values);
}

BOOST_AUTO_TEST_CASE(lookups_are_split_by_rows_columns_and_indices) {
  const Tensor table = numbers({7, 3}, 1), ids = Tensor::vector<int32_t>({6, 0, 3, 3, 5, 1, 6, 2});
  for (const int64_t dimension : {0, 1})
    check([=](const Scope& g, const Splits& splits,
              const Outputs& in) { return gather(g, splits.split(g, in[0], dimension), in[1]); },
          {table, ids});
  check([](const Scope& g, const Splits& splits,
           const Outputs& in) { return gather(g, in[0], splits.split(g, in[1], 0)); },
        {table, ids});
  check(
      [](const Scope& g, const Splits& splits, const Outputs& in) {
        return gather(g, splits.split(g, in[0], 0), reshape(g, in[1], {2, -1}));
      },
      {table, ids});
  Setting outside(
      {workers(2)},
      [](const Scope& g, const Splits& splits, const Outputs& in) {
        return gather(g, splits.split(g, in[0], 0), in[1]);
      },
      {table, ids}, false);
  for (const int32_t wrong : {-1, 7})
    BOOST_TEST((failure([&] {
                  outside.run({table, Tensor::vector<int32_t>({0, wrong})});
                }).code() == Code::InvalidArgument));
}

BOOST_AUTO_TEST_CASE(rows_that_have_no_sum_are_looked_up_in_the_whole_table) {
  check(
      [](const Scope& g, const Splits& splits, const Outputs& in) {
        const Output table = less(g, in[0], 0.0f);
        return cast(g, gather(g, splits.split(g, table, 0), in[1]), i32);
      },
      {numbers({7, 3}, 1), Tensor::vector<int32_t>({6, 0, 3, 3, 5, 1, 6, 2})});
}

BOOST_AUTO_TEST_CASE(reductions_are_split) {
  const Tensor x = numbers({7, 5, 3}, 1);
  for (const int64_t dimension : {0, 1, 2})
    for (const int64_t axis : {0, 1, 2})
      for (const bool keeps : {false, true}) {
        const auto reduced = [=](auto reduce) {
          check(
              [=](const Scope& g, const Splits& splits, const Outputs& in) {
                return reduce(g, splits.split(g, in[0], dimension), Argument(axis), keeps);
              },
              {x});
        };
        reduced([](const Scope& g, Output y, auto axes, bool keep) { return sum(g, y, axes, keep); });
        reduced([](const Scope& g, Output y, auto axes, bool keep) { return mean(g, y, axes, keep); });
        reduced([](const Scope& g, Output y, auto axes, bool keep) { return max(g, y, axes, keep); });
      }
  check([](const Scope& g, const Splits& splits,
           const Outputs& in) { return l2_loss(g, splits.split(g, in[0], 1)); },
        {x});
}

BOOST_AUTO_TEST_CASE(axes_in_parts_do_not_split_what_they_are_for) {
  for (const char* const op : {"Sum", "Transpose"})
    check(
        [=](const Scope& g, const Splits& splits, const Outputs& in) {
          const Output axes = g.constant(Tensor::vector<int32_t>({2, 0, 1}));
          return g.add_one(op, {in[0], splits.split(g, axes, 0)});
        },
        {integers({3, 4, 5})});
}

// The mean of the sums is 14; those of the terms of the sums are 7 and 6, or 5, 4 and 4.
BOOST_AUTO_TEST_CASE(means_of_integers_are_rounded_once) {
  const Tensor x = integers({7, 3});
  check([](const Scope& g, const Splits& splits,
           const Outputs& in) { return mean(g, splits.split(g, in[0], 0), {0}); },
        {x});
  check([](const Scope& g, const Splits& splits,
           const Outputs& in) { return mean(g, sum(g, splits.split(g, in[0], 0), {0}), {0}); },
        {x});
}

BOOST_AUTO_TEST_CASE(elementwise_ops_and_losses_are_split) {
  for (const int64_t dimension : {0, 1}) {
    check(
        [=](const Scope& g, const Splits& splits, const Outputs& in) {
          const Output x = splits.split(g, in[0], dimension);
          return add(g, mul(g, sigmoid(g, x), in[1]), sub(g, exp(g, x), in[2]));
        },
        {x75, numbers({7, 5}, 2), numbers({5}, 3)});
    check([=](const Scope& g, const Splits& splits,
              const Outputs& in) { return softmax(g, splits.split(g, in[0], dimension)); },
          {x75});
    check(
        [=](const Scope& g, const Splits& splits, const Outputs& in) {
          return sparse_softmax_cross_entropy_with_logits(g, splits.split(g, in[0], dimension), in[1]);
        },
        {x75, Tensor::vector<int32_t>({0, 4, 2, 2, 1, 3, 0})});
  }
}

BOOST_AUTO_TEST_CASE(layer_norms_are_split_by_rows) {
  const Tensor scale = numbers({3}, 2), offset = numbers({3}, 3);
  const auto model = [](int64_t dimension) {
    return [=](const Scope& g, const Splits& splits, const Outputs& in) {
      return g.outputs(g.add_one("LayerNorm", {splits.split(g, in[0], dimension), in[1], in[2]}))[0];
    };
  };
  const Tensor x = numbers({7, 5, 3}, 1);
  for (const int64_t dimension : {0, 1, 2}) check(model(dimension), {x, scale, offset});
  const Setting setting({workers(2)}, model(0), {x, scale, offset}, true);
  BOOST_TEST(placed(setting.graph, setting.fetches, setting.inputs, "LayerNorm") == (std::vector{2, 2, 0}),
             boost::test_tools::per_element());  // with LayerNormGrad
}

// A dimension that is 1 when the step runs is repeated, which no device may take for a part of its own.
BOOST_AUTO_TEST_CASE(a_row_that_is_repeated_is_not_split) {
  const Model model = [](const Scope& g, const Splits& splits, const Outputs& in) {
    return add(g, splits.split(g, in[0], 0), in[1]);
  };
  check(model, {x75, numbers({1, 5}, 2)});
  check(model, {numbers({1, 5}, 2), x75}, {false});
}

BOOST_AUTO_TEST_CASE(layouts_change_and_distributions_are_exchanged) {
  const Tensor x = numbers({6, 4, 5}, 1);
  for (const int64_t dimension : {0, 1, 2}) {
    check(
        [=](const Scope& g, const Splits& splits, const Outputs& in) {
          return transpose(g, splits.split(g, in[0], dimension), {2, 0, 1});
        },
        {x});
    check(
        [=](const Scope& g, const Splits& splits, const Outputs& in) {
          return reshape(g, splits.split(g, in[0], dimension), {-1, 5});
        },
        {x});
    check(
        [=](const Scope& g, const Splits& splits, const Outputs& in) {
          return reshape(g, splits.split(g, in[0], dimension), {-1, 20});
        },
        {x});
    check([=](const Scope& g, const Splits& splits,
              const Outputs& in) { return shape(g, tanh(g, splits.split(g, in[0], dimension))); },
          {x});
    for (const int64_t other : {0, 1, 2})
      check(
          [=](const Scope& g, const Splits& splits, const Outputs& in) {
            return splits.split(g, tanh(g, splits.split(g, in[0], dimension)), other);
          },
          {x});
    check(
        [=](const Scope& g, const Splits& splits, const Outputs& in) {
          return cumsum(g, splits.broadcast(g, tanh(g, splits.split(g, in[0], dimension))), 1);
        },
        {x});
    check([=](const Scope& g, const Splits& splits,
              const Outputs& in) { return cumsum(g, splits.split(g, in[0], dimension), 1); },
          {x});
  }
  // From terms of a sum to parts.
  for (const int64_t other : {0, 1})
    check(
        [=](const Scope& g, const Splits& splits, const Outputs& in) {
          return relu(g, splits.split(g, matmul(g, splits.split(g, in[0], 1), in[1]), other));
        },
        {x75, w58});
}

// Each device has a part of the weights, and of their gradient.
BOOST_AUTO_TEST_CASE(variables_in_parts_are_trained_where_they_are) {
  const auto trained = [&](int count, int64_t dimension) {
    Runtime runtime(three_tasks());
    Graph graph(runtime.ops());
    const Scope g(graph);
    Outputs parts;
    for (int64_t i = 0; i < count; ++i) {
      const PartRange range = part_range(w58.shape()[static_cast<size_t>(dimension)], i, count);
      Dims begin = {0, 0}, size = {5, 8};
      begin[static_cast<size_t>(dimension)] = range.begin;
      size[static_cast<size_t>(dimension)] = range.size;
      const Scope there = count == 1 ? g : g.with_device(workers(count)[static_cast<size_t>(i)]);
      parts.push_back(
          variable(there, slice(there, w58, Argument(begin), Argument(size)), "w_" + std::to_string(i)));
    }
    const Output w = count == 1 ? parts[0] : split_parts(g, parts, workers(count), dimension);
    const Output x = placeholder(g, f32, {-1, 5});
    const Output loss = l2_loss(g, tanh(g, matmul(g, x, w)));
    const auto slopes = gradients(g, {loss}, parts);
    Outputs updates;
    for (size_t i = 0; i < parts.size(); ++i)
      updates.push_back(
          assign_sub(g.colocated_with(parts[i]), parts[i], mul(g, std::get<Output>(slopes[i]), 0.1)));
    Session session = runtime.session(graph);
    session.run({initializer(g)});
    for (int step = 0; step < 5; ++step) session.run({{x, x75}}, updates);
    if (count > 1) {
      const auto products = placed(graph, updates, {x}, "MatMul");
      for (int i = 0; i < count; ++i) BOOST_TEST(products[static_cast<size_t>(i)] == 2);
    }
    return session.run({count == 1 ? w : concat(g, parts, dimension)})[0];
  };
  for (const int64_t dimension : {0, 1})
    for (const int count : {2, 3}) check_near(trained(count, dimension), trained(1, dimension));
}

BOOST_AUTO_TEST_CASE(terms_of_a_sum_are_declared) {
  Runtime runtime(three_tasks());
  Graph graph(runtime.ops());
  const Scope g(graph);
  Outputs terms;
  for (int i = 0; i < 3; ++i)
    terms.push_back(tanh(g.with_device(workers(3)[static_cast<size_t>(i)]), numbers({4}, i)));
  const Output sum = partial_sums(g, terms, workers(3));
  const Output half = mul(g, sum, 0.5), plain = mul(g, add_n(g, terms), 0.5);
  Session session = runtime.session(graph);
  const auto values = session.run({half, plain});
  check_near(values[0], values[1]);
}

BOOST_AUTO_TEST_CASE(equal_steps_yield_equal_bits) {
  const Model model = [](const Scope& g, const Splits& splits, const Outputs& in) {
    return sum(g, matmul(g, splits.split(g, in[0], 1), in[1]));
  };
  Setting setting({workers(3)}, model, {x75, w58}, true);
  const auto first = setting.run({x75, w58});
  for (int i = 0; i < 3; ++i) {
    const auto again = setting.run({x75, w58});
    for (size_t k = 0; k < first.size(); ++k) BOOST_TEST(identical(again[k], first[k]));
  }
}

BOOST_AUTO_TEST_CASE(wrong_declarations_are_refused) {
  Runtime runtime(three_tasks());
  Graph graph(runtime.ops());
  const Scope g(graph);
  const Output x = g.constant(x75);
  const auto text = [&](const std::function<void()>& action) { return failure(action).message(); };
  BOOST_TEST(text([&] { split_over(g, x, workers(1), 0); }).find("1 devices; allowed: 2 to 64") !=
             std::string::npos);
  BOOST_TEST(text([&] { split_over(g, x, workers(2), 2); }).find("allowed dimensions: 0 to 2 - 1") !=
             std::string::npos);
  BOOST_TEST(text([&] { split_over(g, x, workers(6), 1); }).find("at least as long") != std::string::npos);
  BOOST_TEST(text([&] {
               split_over(g, x, {"/job:worker", "worker"}, 1);
             }).find("worker") != std::string::npos);
  BOOST_TEST(text([&] {
               split_parts(g, {x, x, x}, workers(2), 1);
             }).find("3 parts for 2 devices") != std::string::npos);
  const Output y = g.constant(numbers({7, 3}, 1));
  BOOST_TEST(text([&] {
               split_parts(g, {y, x}, workers(2), 1);
             }).find("part 0 has length 3") != std::string::npos);

  Session session = runtime.session(graph);
  const auto run = [&](Output output) { return failure([&] { session.run({output}); }); };
  const Output fed = placeholder(g, f32, {7, 5});
  const Output nowhere = tanh(g, split_over(g, fed, {"/job:worker/task:0", "/job:worker/task:9"}, 0));
  const Status unknown = failure([&] { session.run({{fed, x75}}, {nowhere}); });
  BOOST_TEST(unknown.text().find("task:9' does not exist") != std::string::npos, unknown.text());
  const auto declared = [&](const std::string& op, Outputs inputs, const std::string& split,
                            AttrValue devices) {
    return g.add_one(op, std::move(inputs), {{"_split", split}, {"_split_devices", std::move(devices)}});
  };
  for (const std::string split : {"", "S", "S(-1)", "S(x)", "S(1", "Q", "S(99999999999999999999)"})
    BOOST_TEST(run(declared("Identity", {x}, split, workers(2))).text().find("must be \"S(dimension)\"") !=
               std::string::npos);
  BOOST_TEST(run(declared("Identity", {x}, "S(2)", workers(2))).text().find("no such dimension") !=
             std::string::npos);
  BOOST_TEST(run(declared("Identity", {x}, "S(1)", workers(6))).text().find("at least as long") !=
             std::string::npos);
  BOOST_TEST(run(declared("Identity", {x}, "S(1)", std::vector<std::string>())).text().find("0 devices") !=
             std::string::npos);
  BOOST_TEST(run(declared("Identity", {x}, "S(1)", std::string("a"))).text().find("a list of devices") !=
             std::string::npos);
  BOOST_TEST(run(declared("Identity", {x}, "P", workers(2))).text().find("is for AddN") != std::string::npos);
  BOOST_TEST(run(declared("Tanh", {x}, "S(0)", workers(2))).text().find("is for Identity or ConcatV2") !=
             std::string::npos);
  BOOST_TEST(run(declared("AddN", {x, x, x}, "P", workers(2))).text().find("3 parts for 2 devices") !=
             std::string::npos);
  const auto loop = while_loop(
      g, {g.constant(Tensor::scalar<int32_t>(0)), x},
      [](const Scope& s, std::span<const Output> v) { return less(s, v[0], 3); },
      [](const Scope& s, std::span<const Output> v) {
        return Outputs{add(s, v[0], 1), split_over(s, v[1], workers(2), 0)};
      });
  BOOST_TEST(run(loop[1]).text().find("inside a loop") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(split_tensors_may_enter_loops_and_branches) {
  const Model model = [](const Scope& g, const Splits& splits, const Outputs& in) {
    const Output x = tanh(g, splits.split(g, in[0], 0));
    const auto loop = while_loop(
        g, {g.constant(Tensor::scalar<int32_t>(0)), x},
        [](const Scope& s, std::span<const Output> v) { return less(s, v[0], 3); },
        [](const Scope& s, std::span<const Output> v) {
          return Outputs{add(s, v[0], 1), mul(s, v[1], 0.5)};
        });
    return add(g, loop[1], x);
  };
  check(model, {x75});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::split_steps_test
