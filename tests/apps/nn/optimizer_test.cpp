// Compares optimizers, schedules and clipping with what TensorFlow computes: tests/golden/optimizers.npz, written by
// tests/golden/make_optimizers.py, which says what the arrays are. Also tests what an update waits for, and averages of weights.
#include "apps/nn/optimizer.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "actors/runtime.h"
#include "apps/data/arrays/npz.h"
#include "apps/nn/lbfgs.h"
#include "apps/nn/weight_averages.h"
#include "kernels/constructors.h"
#include "kernels/core/state.h"
#include "tests/support/ops/golden_values.h"
#include "tests/support/ops/run_op.h"
#include "tests/support/project_files.h"

namespace troupe::test::optimizer_test {
namespace {

using Arrays = std::map<std::string, Tensor>;

const Arrays& arrays() {
  static const Arrays all =
      value_or_throw(data::read_npz(project_file("tests/golden/optimizers.npz"), "optimizers.npz"));
  return all;
}

/// Returns element i of the first dimension.
Tensor part(const Tensor& whole, int64_t i) {
  const auto dims = whole.shape().dims().subspan(1);
  Tensor result =
      value_or_throw(Tensor::allocate(DType::Float, value_or_throw(Shape::make(dims, DType::Float))));
  const auto from = whole.as<float>();
  const auto to = result.write<float>();
  std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(to.size()) * i, to.size(), to.begin());
  return result;
}

std::map<std::string, std::unique_ptr<nn::Optimizer>> make_optimizers() {
  std::map<std::string, std::unique_ptr<nn::Optimizer>> all;
  const auto add = [&](const std::string& name, auto optimizer) {
    all.emplace(name, std::make_unique<decltype(optimizer)>(std::move(optimizer)));
  };
  add("sgd", nn::Sgd(0.1));
  add("momentum", nn::Momentum(0.1, 0.9));
  add("nesterov", nn::Momentum(0.1, 0.9, true));
  add("adagrad", nn::Adagrad(0.1));
  add("adagrad_da", nn::AdagradDa(0.1, 0.01, 0.02));
  add("adadelta", nn::Adadelta(0.5));
  add("adam", nn::Adam(0.1));
  add("scheduled_adam", nn::Adam(nn::exponential_decay(0.1, 2, 0.5)));
  add("lazy_adam", nn::Adam(0.1, 0.9, 0.999, 1e-8, true));
  add("adamw", nn::AdamW(0.1, 0.02));
  add("nadam", nn::Nadam(0.1));
  add("amsgrad", nn::AmsGrad(0.1, 0.9, 0.5));
  add("adamax", nn::AdaMax(0.1));
  add("lion", nn::Lion(0.1, 0.02));
  add("lars", nn::Lars(0.1, 0.9, 0.02, 0.5, 1e-3));
  add("lamb", nn::Lamb(0.1, 0));
  add("lamb_with_decay", nn::Lamb(0.1, 0.02));
  add("add_sign", nn::AddSign(0.1, 1.5, 0.5));
  add("power_sign", nn::PowerSign(0.1, 0.75, 0.5));
  add("rmsprop", nn::RmsProp(0.1, 0.9, 0.3));
  add("centered_rmsprop", nn::RmsProp(0.1, 0.9, 0.3, 1e-10, true));
  add("ftrl", nn::Ftrl(0.1, 0.01, 0.02, -0.5, 0.1, 0.03));
  add("proximal_sgd", nn::ProximalSgd(0.1, 0.01, 0.02));
  add("proximal_adagrad", nn::ProximalAdagrad(0.1, 0.01, 0.02));
  return all;
}

/// Returns the variable after one update for each of the fed gradients, which are dense or rows.
Tensor trained(const nn::Optimizer& optimizer, const std::string& gradients) {
  Runtime runtime;
  Graph graph(runtime.ops());
  const Scope g(graph);
  const Output v = variable(g, g.constant(arrays().at("start")), "v");
  const bool rows = gradients == "rows";
  const Output fed = placeholder(g, f32, rows ? PartialShape{3, 3} : PartialShape{4, 3}, "gradient");
  const Output used = rows ? gather(g, v, g.constant(arrays().at("indices"))) : v;
  const auto found = nn::compute_gradients(g, sum(g, mul(g, used, fed)));
  BOOST_TEST_REQUIRE(std::holds_alternative<IndexedSlices>(found.at(0).gradient) == rows);
  const Output update = optimizer.apply_gradients(g, found);
  Session session = runtime.session(graph);
  session.run({initializer(g)});
  for (int64_t i = 0; i < 3; ++i) session.run({{fed, part(arrays().at(gradients), i)}}, {update});
  return session.run({v}).at(0);
}

/// Returns the output of a graph whose variables have their initial values.
Tensor fetched(const std::function<Output(const Scope&)>& build) {
  Runtime runtime;
  Graph graph(runtime.ops());
  const Scope g(graph);
  const Output result = build(g), initial = initializer(g);
  Session session = runtime.session(graph);
  session.run({initial});
  return session.run({result}).at(0);
}

/// Returns the rates of a schedule at all steps of the golden file.
std::vector<float> rates(const nn::Schedule& schedule) {
  Runtime runtime;
  Graph graph(runtime.ops());
  const Scope g(graph);
  const Output step = placeholder(g, f32, PartialShape::scalar(), "step"), rate = schedule(g, step);
  Session session = runtime.session(graph);
  std::vector<float> result;
  for (const float at : arrays().at("steps").as<float>())
    result.push_back(session.run({{step, Tensor::scalar(at)}}, {rate}).at(0).as<float>()[0]);
  return result;
}

/// Returns the gradient of the golden file and its double after clipping, as one tensor.
Tensor clipped(
    const std::function<std::vector<nn::VariableGradient>(const Scope&, std::vector<nn::VariableGradient>)>&
        clip) {
  return fetched([&](const Scope& g) {
    const Output first = g.constant(part(arrays().at("dense"), 0)), v = variable(g, first, "v");
    const auto result = clip(g, {{first, v}, {add(g, first, first), v}});
    return stack(g, {nn::values_of(result[0].gradient), nn::values_of(result[1].gradient)});
  });
}

void check_equal(const Tensor& result, const std::string& array, Tolerance tolerance) {
  const std::string what = difference(result, arrays().at(array), tolerance);
  BOOST_TEST(what.empty(), array << ": " << what);
}

template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.status().text();
  }
  return "no error";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(optimizers)

BOOST_AUTO_TEST_CASE(update_as_those_of_tensorflow) {
  for (const auto& [name, optimizer] : make_optimizers())
    for (const std::string gradients : {"dense", "rows"})
      if (const std::string array = name + '/' + gradients; arrays().contains(array))
        check_equal(trained(*optimizer, gradients), array, {1e-5, 1e-6});
}

/// Expects of an update with factors what another optimizer yields.
void check_factors(nn::MethodOptimizer optimizer, nn::UpdateFactors factors, const nn::Optimizer& same) {
  optimizer.set_factors([=](Output) { return factors; });
  for (const char* const gradients : {"dense", "rows"})
    BOOST_TEST(identical(trained(optimizer, gradients), trained(same, gradients)), gradients);
}

BOOST_AUTO_TEST_CASE(factors_multiply_the_rate_and_the_decay_of_a_variable) {
  check_factors(nn::Sgd(0.2), {.learning_rate = 0.5}, nn::Sgd(0.1));
  check_factors(nn::Adam(nn::exponential_decay(0.2, 2, 0.5)), {.learning_rate = 0.5},
                nn::Adam(nn::exponential_decay(0.1, 2, 0.5)));
  check_factors(nn::AdamW(0.2, 0.04), {.learning_rate = 0.5, .weight_decay = 0.5}, nn::AdamW(0.1, 0.02));
  check_factors(nn::AdamW(nn::exponential_decay(0.2, 2, 0.5), 0.04), {.weight_decay = 0},
                nn::AdamW(nn::exponential_decay(0.2, 2, 0.5), 0));
  check_factors(nn::Lamb(0.1, 0.04), {.weight_decay = 0.5}, nn::Lamb(0.1, 0.02));
  check_factors(nn::Lion(0.1, 0.04), {.weight_decay = 0}, nn::Lion(0.1, 0));
  nn::Sgd refused(0.1);
  refused.set_factors([](Output) { return nn::UpdateFactors{.learning_rate = -1}; });
  BOOST_TEST(message_of([&] { trained(refused, "dense"); }) ==
             "the factor of the learning rate of 'v' is -1.000000; it must be a finite number of at least 0");
}

BOOST_AUTO_TEST_CASE(schedules_are_those_of_tensorflow) {
  const std::map<std::string, nn::Schedule> schedules = {
      {"piecewise_constant", nn::piecewise_constant({10, 25}, {0.5, 0.2, 0.1})},
      {"exponential_decay", nn::exponential_decay(0.5, 10, 0.7)},
      {"exponential_staircase", nn::exponential_decay(0.5, 10, 0.7, true)},
      {"natural_exp_decay", nn::natural_exp_decay(0.5, 10, 0.7)},
      {"inverse_time_decay", nn::inverse_time_decay(0.5, 10, 0.7, true)},
      {"polynomial_decay", nn::polynomial_decay(0.5, 20, 0.01, 2)},
      {"polynomial_cycle", nn::polynomial_decay(0.5, 20, 0.01, 0.5, true)},
      {"cosine_decay", nn::cosine_decay(0.5, 30, 0.1)},
      {"cosine_decay_restarts", nn::cosine_decay_restarts(0.5, 8, 2, 0.8, 0.1)},
      {"cosine_equal_restarts", nn::cosine_decay_restarts(0.5, 8, 1, 0.8)}};
  for (const auto& [name, schedule] : schedules)
    check_equal(Tensor::vector<float>(rates(schedule)), "schedule/" + name, {1e-4, 1e-6});
  const auto warm = rates(nn::warm_up(10, nn::constant_rate(0.5)));  // of steps 0, 1, 5, 9, 10, ...
  BOOST_TEST(warm[0] == 0.05f);
  BOOST_TEST(warm[2] == 0.3f);
  BOOST_TEST(warm[3] == 0.5f);
  BOOST_TEST(warm[6] == 0.5f);
}

BOOST_AUTO_TEST_CASE(clipping_is_that_of_tensorflow) {
  using Gradients = std::vector<nn::VariableGradient>;
  const auto by_global_norm = [](double norm) {
    return [norm](const Scope& g, Gradients in) { return nn::clip_by_global_norm(g, std::move(in), norm); };
  };
  check_equal(clipped([](const Scope& g, Gradients in) { return nn::clip_by_value(g, std::move(in), 0.5); }),
              "clip/value", {});
  check_equal(clipped([](const Scope& g, Gradients in) { return nn::clip_by_norm(g, std::move(in), 2.5); }),
              "clip/norm", {1e-6, 0});
  check_equal(clipped(by_global_norm(1.5)), "clip/global_norm", {1e-6, 0});
  check_equal(clipped(by_global_norm(50)), "clip/global_norm_above", {1e-6, 0});
  const Tensor broken = fetched([](const Scope& g) {
    const Output v = variable(g, zeros(g, {2}), "v");
    const Output infinite = g.constant(Tensor::vector<float>({1, INFINITY}));
    return nn::values_of(nn::clip_by_global_norm(g, {{infinite, v}}, 1).at(0).gradient);
  });
  BOOST_TEST(std::isnan(broken.as<float>()[0]));
}

BOOST_AUTO_TEST_CASE(gradients_without_a_limit_stay_as_they_are) {
  constexpr double none = std::numeric_limits<double>::infinity();
  const auto changed = [&](auto clip) {
    return fetched([&](const Scope& g) {
      const Output v = variable(g, zeros(g, {2}), "v");
      const Output gradient = g.constant(Tensor::vector<float>({3, -4}));
      return nn::values_of(clip(g, std::vector<nn::VariableGradient>{{gradient, v}}).at(0).gradient);
    });
  };
  const Tensor results[] = {
      changed([&](const Scope& g, auto in) { return nn::clip_by_value(g, std::move(in), none); }),
      changed([&](const Scope& g, auto in) { return nn::clip_by_norm(g, std::move(in), none); }),
      changed([&](const Scope& g, auto in) { return nn::clip_by_global_norm(g, std::move(in), none); })};
  for (const Tensor& result : results) {
    BOOST_TEST(result.as<float>()[0] == 3);
    BOOST_TEST(result.as<float>()[1] == -4);
  }
}

BOOST_AUTO_TEST_CASE(weight_decay_below_0_is_refused) {
  Runtime runtime;
  Graph graph(runtime.ops());
  const Scope g(graph);
  for (const double bad : {-1.0, std::nan(""), HUGE_VAL})
    BOOST_TEST(message_of([&] { nn::add_weight_decay(g, {}, bad); }).find("add_weight_decay: the rate is ") !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(weight_decay_of_rows_changes_only_these) {
  const Tensor values = fetched([](const Scope& g) {
    const Output v = variable(g, g.constant(Tensor::vector<float>({1, 2, 4})), "v");
    const Output rows = gather(g, v, g.constant(Tensor::vector<int32_t>({2, 0})));
    const auto decayed = nn::add_weight_decay(g, nn::compute_gradients(g, sum(g, rows)), 0.5);
    return nn::values_of(decayed.at(0).gradient);
  });
  BOOST_TEST(values.as<float>()[0] == 3.0f);
  BOOST_TEST(values.as<float>()[1] == 1.5f);
}

// The gradient of `w` depends on the weights of all branches, which other updates change. The decay of AdamW does not depend on a
// gradient, so nothing but its order keeps it from changing weights that are still read.
BOOST_AUTO_TEST_CASE(an_update_does_not_change_the_gradients_of_its_step) {
  constexpr int64_t size = 32, branches = 4;
  Runtime runtime({.threads = 2});
  Graph graph(runtime.ops());
  const Scope g(graph);
  const auto weights = [&](const std::string& name) {
    return variable(g, fill(g, {size, size}, 0.02), name);
  };
  const Output x = matmul(g, fill(g, {size, size}, 0.01), weights("w"));
  std::vector<Output> losses;
  for (int64_t i = 0; i < branches; ++i)
    losses.push_back(sum(g, square(g, matmul(g, x, weights("w" + std::to_string(i))))));
  const auto gradients = nn::compute_gradients(g, g.add_one("AddN", losses));
  std::vector<Output> plain;
  for (const auto& [gradient, variable] : gradients) plain.push_back(nn::values_of(gradient));
  const Output update = nn::AdamW(1, 0.5).apply_gradients(g, gradients);
  const Output initial = initializer(g);
  Session session = runtime.session(graph);
  for (int round = 0; round < 20; ++round) {
    session.run({initial});
    const auto before = session.run(plain), during = [&] {
      auto fetches = plain;
      fetches.push_back(update);
      return session.run(fetches);
    }();
    for (size_t i = 0; i < plain.size(); ++i)
      BOOST_TEST(identical(before[i], during[i]), "gradient " << i << " in round " << round);
  }
}

// The loss, and through it the gradient of w1, depend on w2. An evaluation reads w2 too, but in other steps.
BOOST_AUTO_TEST_CASE(an_update_waits_until_its_step_has_read_the_variable) {
  Graph graph(op_library()->ops);
  const Scope g(graph);
  const auto weights = [&](const char* name) { return variable(g, fill(g, {2, 2}, 0.5), name); };
  const Output x = placeholder(g, f32, {2, 2}), w1 = weights("w1"), w2 = weights("w2");
  const Output loss = add(g, sum(g, matmul(g, matmul(g, x, w1), w2)), l2_loss(g, w2));
  const Output evaluation = matmul(g, x, w2);
  nn::Sgd(1).minimize(g, loss);
  std::set<NodeId> readers, awaited;
  for (const Node& node : graph.nodes()) {
    if (node.inputs.empty() || node.type() == "Assign") continue;
    if (node.type() == "ApplyGradientDescent" && node.inputs[0] == w2)
      awaited.insert(node.control_inputs.begin(), node.control_inputs.end());
    else if (std::ranges::find(node.inputs, w2) != node.inputs.end() && node.id != evaluation.node)
      readers.insert(node.id);
  }
  BOOST_TEST(readers.size() >= 4u);  // two of the loss, two of the gradients
  BOOST_TEST(awaited == readers, boost::test_tools::per_element());
}

// A program may build the whole model in the scope of a worker's device. The request of the scope then does not hold for the state.
BOOST_AUTO_TEST_CASE(an_update_runs_on_the_device_of_its_variable) {
  Runtime runtime({.threads = 2, .tasks = {{"ps", 0, 1}, {"worker", 0, 1}}});
  for (const auto& [name, optimizer] : make_optimizers()) {
    Graph graph(runtime.ops());
    const Scope g(graph), ps = g.with_device("/job:ps/task:0"), worker = g.with_device("/job:worker/task:0");
    const Output w = variable(ps, fill(ps, {2}, 0.5), "w");
    const Output update = optimizer->minimize(worker, l2_loss(worker, w));
    nn::ReplicationStrategy together;
    const Output average = nn::WeightAverages(worker, 0.9, {w}).update(worker, together);
    for (const Node& node : graph.nodes())
      if (is_variable(node))
        BOOST_TEST(requested_device(graph, node.id) == "/job:ps/task:0", name << ": " << node.name);
    Session session = runtime.session(graph);
    session.run({initializer(g)});
    session.run({update});
    session.run({average});
    BOOST_TEST(session.run({w})[0].as<float>()[0] < 0.5f, name);
  }
}

BOOST_AUTO_TEST_CASE(averages_follow_the_weights) {
  Runtime runtime;
  Graph graph(runtime.ops());
  const Scope g(graph);
  const Output v = variable(g, g.constant(Tensor::vector<float>({8})), "v");
  const nn::WeightAverages averages(g, 0.75);
  nn::ReplicationStrategy strategy;
  const Output update =
      nn::Sgd(4).apply_gradients(g, nn::compute_gradients(g, sum(g, v)), strategy);  // v -= 4
  const Output both = g.group({update, averages.update(g, strategy)});
  Session session = runtime.session(graph);
  session.run({initializer(g)});
  session.run({both});
  BOOST_TEST(session.run({averages.of(v)}).at(0).as<float>()[0] == 7.0f);  // 8 - (8 - 4) / 4
  session.run({both});
  BOOST_TEST(session.run({averages.of(v)}).at(0).as<float>()[0] == 5.25f);  // 7 - (7 - 0) / 4
  BOOST_TEST((averages.of(both) == both));
}

BOOST_AUTO_TEST_CASE(what_belongs_to_another_graph_is_refused) {
  Graph graph(op_library()->ops), other(op_library()->ops);
  const Scope g(graph), elsewhere(other);
  const Output v = variable(elsewhere, ones(elsewhere, {2}), "v"), loss = sum(elsewhere, v);
  const auto gradients = nn::compute_gradients(elsewhere, loss);
  const auto refused = [](const auto& use) {
    const std::string message = message_of(use);
    BOOST_TEST(message.find("belongs to another graph") != std::string::npos, message);
  };
  refused([&] { nn::Sgd(0.1).minimize(g, loss); });
  refused([&] { nn::Sgd(0.1).apply_gradients(g, gradients); });
  refused([&] { nn::Lbfgs().apply_gradients(g, gradients); });
  refused([&] { nn::clip_by_norm(g, gradients, 1); });
  refused([&] { nn::WeightAverages(g, 0.9, {v}); });
  BOOST_TEST(graph.find("v") == nullptr);
}

BOOST_AUTO_TEST_CASE(mistakes_are_refused) {
  BOOST_TEST(message_of([] { nn::Sgd(nn::Schedule{}); }) ==
             "the schedule of the learning rate is an empty function");
  BOOST_TEST(message_of([] {
               nn::MethodOptimizer("adm", 0.1);
             }).starts_with("there is no optimizer 'adm'; known: sgd,"));
  BOOST_TEST(message_of([] {
               nn::MethodOptimizer("sgd", 0.1, {{"beta1", 0.5}});
             }) == "the optimizer 'sgd' has no hyperparameter 'beta1'");
  BOOST_TEST(message_of([] {
               nn::Adam(0.1, 1.0);
             }).starts_with("the optimizer 'adam' is given beta1 = 1.000000; allowed: from 0"));
  BOOST_TEST(message_of([] { nn::Adam(-1); }) ==
             "the learning rate is -1.000000; it must be a finite number of at least 0");
  BOOST_TEST(message_of([] {
               nn::piecewise_constant({1, 2}, {0.1});
             }) ==
             "piecewise_constant: there are 1 values for 2 boundaries; there must be one value more than "
             "boundaries");
  BOOST_TEST(message_of([] { nn::cosine_decay(0.1, 0); }) ==
             "cosine_decay: the number of steps is 0; it must be at least 1");
  BOOST_TEST(message_of([] {
               Runtime runtime;
               Graph graph(runtime.ops());
               nn::Sgd(0.1).apply_gradients(Scope(graph), {});
             }).starts_with("there are no gradients to apply"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::optimizer_test
