// Steps of unlocked phases (StepOptions::unlocked_phase): updates in place, while others hold and change the values.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <thread>

#include "actors/runtime.h"
#include "graph/build/scope.h"

namespace troupe::unlocked_steps_test {
namespace {

struct Fixture {
  Output variable(const std::string& name, const Tensor& initial) {
    const Output v = g.with_name(name).add_one(
        "VariableV2", {}, {{"dtype", initial.dtype()}, {"shape", PartialShape(initial.shape())}});
    initializers.push_back({g.add("Assign", {v, g.constant(initial)}), Output::control});
    return v;
  }
  Output vector(const std::string& name, size_t elements, float initial) {
    const std::vector<float> values(elements, initial);
    return variable(name, Tensor::vector<float>(std::span<const float>(values)));
  }
  /// Returns the target that adds one to each element.
  Output increment(Output v) {
    const Output ones = g.add_one("OnesLike", {v});
    return {g.add("AssignAdd", {v, ones}), Output::control};
  }
  Session initialized() {
    Session session = runtime.session(graph);
    for (const Output& initializer : initializers) session.run({initializer});
    return session;
  }

  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  const Scope g{graph};
  std::vector<Output> initializers;
};

bool all_are(const Tensor& tensor, float value) {
  return std::ranges::all_of(tensor.as<float>(), [&](float x) { return x == value; });
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(unlocked_steps, Fixture)

BOOST_AUTO_TEST_CASE(change_values_that_others_hold) {
  for (const size_t elements : {10, 500'000}) {  // changed in the handler of the actor, and outside it
    const Output v = vector("v" + std::to_string(elements), elements, 0), more = increment(v);
    Session session = initialized();
    const auto step = session.prepare({}, {more});
    const Tensor before = session.run({v}).at(0);
    step.run({}, {.unlocked_phase = 1});
    const Tensor during = session.run({v}).at(0);
    BOOST_TEST(all_are(during, 1));
    step.run({}, {.unlocked_phase = 1});
    BOOST_TEST(all_are(during, 2));
    step.run({}, {.unlocked_phase = 2});
    const Tensor after = session.run({v}).at(0);
    step.run({});
    BOOST_TEST(all_are(before, 0));
    BOOST_TEST(all_are(during, 2));
    BOOST_TEST(all_are(after, 3));
    BOOST_TEST(all_are(session.run({v}).at(0), 4));
  }
}

// Kernels keep filters in another layout once they have seen them unchanged.
BOOST_AUTO_TEST_CASE(are_seen_by_kernels_that_keep_their_filters) {
  const auto full = [&](const Shape& shape, float value) {
    Tensor tensor = value_or_throw(Tensor::allocate(DType::Float, shape));
    std::ranges::fill(tensor.write<float>(), value);
    return tensor;
  };
  const Output filter = variable("filter", full(Shape{3, 3, 16, 16}, 0)), more = increment(filter);
  const Output images = g.constant(full(Shape{1, 12, 12, 16}, 1));
  const Output convolved =
      g.add_one("Conv2D", {images, filter},
                {{"strides", std::vector<int64_t>{1, 1, 1, 1}}, {"padding", std::string("VALID")}});
  Session session = initialized();
  const auto step = session.prepare({}, {more}), look = session.prepare({}, {convolved});
  for (int change = 1; change < 5; ++change) {
    step.run({}, {.unlocked_phase = 1});
    for (int use = 0; use < 20; ++use)
      BOOST_TEST(all_are(look.run({}).at(0), 9 * 16 * static_cast<float>(change)));
  }
}

BOOST_AUTO_TEST_CASE(of_one_thread_yield_what_locked_ones_yield) {
  std::vector<Output> all;
  std::vector<Output> steps;
  for (const std::string prefix : {"locked", "unlocked"}) {
    std::vector<Output> inputs;
    for (const char* name : {"/weights", "/first", "/second"})
      inputs.push_back(variable(prefix + name, Tensor::vector<float>({1, 2, 3})));
    all.insert(all.end(), inputs.begin(), inputs.end());
    for (const float number : {0.9f, 0.999f, 0.1f, 0.9f, 0.999f, 1e-8f})
      inputs.push_back(g.constant(Tensor::scalar(number)));
    inputs.push_back(g.add_one("Square", {inputs[0]}));
    steps.push_back({g.add("ApplyAdam", inputs), Output::control});
    const Output rows = variable(prefix + "/rows", Tensor::of<float>({3, 1}, {1, 2, 3}));
    const Output indices = g.constant(Tensor::vector<int32_t>({2, 0, 2}));
    const Output values = g.constant(Tensor::of<float>({3, 1}, {1, 2, 4}));
    steps.back() = {g.with_control({steps.back()}).add("ScatterAdd", {rows, indices, values}),
                    Output::control};
    all.push_back(rows);
  }
  Session session = initialized();
  for (int i = 0; i < 5; ++i) {
    session.run({}, {steps[0]});
    session.run({}, {steps[1]}, {.unlocked_phase = 1});
  }
  const auto values = session.run(all);
  for (size_t i = 0; i < 4; ++i) BOOST_TEST(identical(values[i], values[i + 4]), i);
}

BOOST_AUTO_TEST_CASE(of_several_threads_change_one_value_at_once) {
  constexpr int threads = 4, times = 50;
  const Output v = vector("v", 10'000, 0), more = increment(v);
  Session session = initialized();
  const auto step = session.prepare({}, {more});
  {
    std::vector<std::jthread> running;
    for (int i = 0; i < threads; ++i)
      running.emplace_back([&] {
        for (int k = 0; k < times; ++k) step.run({}, {.unlocked_phase = 1});
      });
  }
  const Tensor values = session.run({v}).at(0);
  for (const float x : values.as<float>())
    if (x < 1 || x > threads * times || x != std::floor(x)) BOOST_ERROR("an element became " << x);
  step.run({});
  const Tensor next = session.run({v}).at(0);
  for (size_t i = 0; i < 10'000; ++i)
    if (next.as<float>()[i] != values.as<float>()[i] + 1) BOOST_ERROR("a locked change was lost");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::unlocked_steps_test
