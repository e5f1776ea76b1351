// The accumulator role, tested by messages: which gradients are added, what a take gets and when (features.md R3, R4).
#include "actors/services/accumulator/accumulator.h"

#include <boost/test/unit_test.hpp>

#include "devices/cpu_device.h"
#include "messages/schemas/accumulator.capnp.h"
#include "messages/schemas/waiting.capnp.h"
#include "messages/wire/wire.h"
#include "tests/support/simulation/simulated_node.h"

namespace troupe::accumulator_test {
namespace {

using Answered = std::optional<Result<AnyMessage>>;

AnyMessage apply(int64_t local_step, std::vector<Tensor> gradient) {
  Draft<wire::ApplyGradient> draft;
  draft->setLocalStep(local_step);
  return draft.finish(std::move(gradient));
}
AnyMessage take(uint64_t step, int32_t required) {
  Draft<wire::TakeGradient> draft;
  draft->initStep().setOrdinal(step);
  draft->setRequired(required);
  return draft.finish();
}
AnyMessage set_step(int64_t step) {
  Draft<wire::SetGlobalStep> draft;
  draft->setGlobalStep(step);
  return draft.finish();
}
AnyMessage cancel(uint64_t step) {
  Draft<wire::CancelRequests> draft;
  draft->initStep().setOrdinal(step);
  return draft.finish();
}

Tensor floats(std::vector<float> values) { return Tensor::vector<float>(std::span<const float>(values)); }
Tensor longs(std::vector<int64_t> values) {
  return Tensor::vector<int64_t>(std::span<const int64_t>(values));
}

/// An accumulator in a simulation.
struct Bench {
  explicit Bench(AccumulatorSpec spec)
      : accumulator(node.actors.engine.spawn(make_accumulator(node.actors, std::move(spec), device))) {}

  std::shared_ptr<const Answered> ask(AnyMessage message) {
    auto answer = node.ask(accumulator, std::move(message));
    simulation.run_ready();
    return answer;
  }
  Status status(AnyMessage message) {
    const auto answer = ask(std::move(message));
    return *answer ? (*answer)->status() : unavailable("still waiting");
  }
  /// Returns whether the gradient was dropped.
  bool dropped(AnyMessage message) {
    const auto answer = ask(std::move(message));
    BOOST_REQUIRE((*answer && (*answer)->ok()));
    return Message<wire::GradientApplied>(***answer)->getDropped();
  }
  uint64_t count() {
    const auto answer = ask(Draft<wire::GetAccumulated>().finish());
    return Message<wire::Accumulated>(***answer)->getCount();
  }
  static std::vector<Tensor> components(const std::shared_ptr<const Answered>& answer) {
    BOOST_REQUIRE((*answer && (*answer)->ok()));
    const auto found = (**answer)->attachments();
    return {found.begin(), found.end()};
  }

  test::Simulation simulation{0};
  SimulatedDisk disk{0};
  test::SimulatedNode node{simulation, disk};
  std::shared_ptr<Device> device =
      std::make_shared<CpuDevice>(DeviceName{"localhost", 0, 0, "CPU", 0}, 1, node.pool);
  ActorRef accumulator;
};

AccumulatorSpec dense(bool mean = true) {
  return {"a", DType::Float, PartialShape{unknown_dim}, false, mean};
}
AccumulatorSpec sparse(bool mean = true) {
  return {"a", DType::Float, PartialShape{10, unknown_dim}, true, mean};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(accumulator)

BOOST_AUTO_TEST_CASE(a_take_waits_for_its_number_and_gets_the_mean_of_all) {
  Bench bench(dense());
  const auto taken = bench.ask(take(1, 2));
  BOOST_TEST(!bench.dropped(apply(0, {floats({1, 10})})));
  BOOST_TEST(!taken->has_value());
  BOOST_TEST(!bench.dropped(apply(0, {floats({2, 20})})));
  BOOST_TEST(identical(Bench::components(taken)[0], floats({1.5, 15})));
  BOOST_TEST(bench.count() == 0u);
  // All three are taken, though two would do. They have the accumulator's step, which is 1 now.
  for (const float x : {1.0f, 2.0f, 6.0f}) bench.dropped(apply(1, {floats({x})}));
  BOOST_TEST(bench.count() == 3u);
  BOOST_TEST(identical(Bench::components(bench.ask(take(2, 2)))[0], floats({3})));
}

BOOST_AUTO_TEST_CASE(gradients_of_earlier_steps_are_dropped) {
  Bench bench(dense());
  bench.ask(set_step(3));
  BOOST_TEST(bench.dropped(apply(2, {floats({100})})));
  BOOST_TEST(!bench.dropped(apply(3, {floats({1})})));
  BOOST_TEST(!bench.dropped(apply(9, {floats({2})})));
  BOOST_TEST(identical(Bench::components(bench.ask(take(1, 1)))[0], floats({1.5})));
  BOOST_TEST(bench.dropped(apply(3, {floats({1})})));
  BOOST_TEST(bench.count() == 0u);
}

BOOST_AUTO_TEST_CASE(takes_are_served_in_turn_and_cancelled_with_their_step) {
  Bench bench(dense(false));
  const auto large = bench.ask(take(1, 3)), small = bench.ask(take(2, 1)), other = bench.ask(take(1, 1));
  bench.dropped(apply(0, {floats({1})}));
  BOOST_TEST(!small->has_value());
  bench.node.actors.engine.send(bench.accumulator, cancel(1));
  bench.simulation.run_ready();
  BOOST_TEST(((*large)->status().code() == Code::Cancelled));
  BOOST_TEST(((*other)->status().code() == Code::Cancelled));
  BOOST_TEST(identical(Bench::components(small)[0], floats({1})));
}

BOOST_AUTO_TEST_CASE(the_gradient_that_was_applied_is_not_changed) {
  Bench bench(dense(false));
  const Tensor first = floats({1, 2}), second = floats({10, 20});
  bench.dropped(apply(0, {first}));
  bench.dropped(apply(0, {second}));
  bench.dropped(apply(0, {second}));
  BOOST_TEST(identical(Bench::components(bench.ask(take(1, 3)))[0], floats({21, 42})));
  BOOST_TEST(identical(first, floats({1, 2})));
  BOOST_TEST(identical(second, floats({10, 20})));
}

// 100,000 floats are added and divided outside the handler; what came meanwhile waits.
BOOST_AUTO_TEST_CASE(large_gradients_are_added_in_turn) {
  Bench bench(dense());
  std::vector<std::shared_ptr<const Answered>> answers;
  const auto taken = bench.node.ask(bench.accumulator, take(1, 4));
  for (const float x : {1.0f, 2.0f, 3.0f, 6.0f})
    answers.push_back(bench.node.ask(bench.accumulator, apply(0, {floats(std::vector<float>(100'000, x))})));
  const auto late = bench.node.ask(bench.accumulator, apply(0, {floats(std::vector<float>(90'000, 1))}));
  bench.simulation.run_ready();
  for (const auto& answer : answers) BOOST_TEST(answer->value().ok());
  BOOST_TEST(identical(Bench::components(taken)[0], floats(std::vector<float>(100'000, 3))));
  // The fifth came before the take was answered, but its turn is in the next step.
  BOOST_REQUIRE(late->value().ok());
  BOOST_TEST(Message<wire::GradientApplied>(*late->value())->getDropped());
  BOOST_TEST(bench.count() == 0u);
}

BOOST_AUTO_TEST_CASE(rows_are_sorted_and_each_is_the_mean_of_those_who_have_it) {
  Bench bench(sparse());
  const Tensor shape = longs({10, 2});
  bench.dropped(apply(0, {longs({7, 2}), Tensor::of<float>(Shape{2, 2}, {1, 2, 3, 4}), shape}));
  // Rows of the same number in one gradient are added and count once.
  bench.dropped(apply(0, {longs({2, 5, 2}), Tensor::of<float>(Shape{3, 2}, {10, 10, 5, 6, 1, 1})}));
  bench.dropped(apply(0, {longs({}), Tensor::of<float>(Shape{0, 2}, {})}));
  const auto taken = Bench::components(bench.ask(take(1, 3)));
  BOOST_TEST(identical(taken[0], longs({2, 5, 7})));
  BOOST_TEST(identical(taken[1], Tensor::of<float>(Shape{3, 2}, {7, 7.5, 5, 6, 1, 2})));
  BOOST_TEST(identical(taken[2], longs({10, 2})));
}

BOOST_AUTO_TEST_CASE(rows_are_added_without_division_if_the_sum_is_wanted) {
  Bench bench(sparse(false));
  for (int i = 0; i < 3; ++i)
    bench.dropped(apply(0, {longs({i, 9}), Tensor::of<float>(Shape{2, 1}, {1, 2})}));
  const auto taken = Bench::components(bench.ask(take(1, 3)));
  BOOST_TEST(identical(taken[0], longs({0, 1, 2, 9})));
  BOOST_TEST(identical(taken[1], Tensor::of<float>(Shape{4, 1}, {1, 1, 1, 6})));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused_and_changes_nothing) {
  Bench bench(dense());
  bench.dropped(apply(0, {floats({1, 2})}));
  const auto refused = [&](Bench& at, AnyMessage message, const std::string& text) {
    const Status status = at.status(std::move(message));
    BOOST_TEST((status.code() == Code::InvalidArgument));
    BOOST_TEST(status.text().find(text) != std::string::npos, status.text());
  };
  refused(bench, apply(0, {longs({1})}), "the gradient is int64[1], accumulator 'a' takes float[?], mean");
  refused(bench, apply(0, {Tensor::scalar(1.0f)}), "the gradient is float[], accumulator 'a'");
  refused(bench, apply(0, {floats({1})}), "the gradient is float[1], those in accumulator 'a' are float[2]");
  refused(bench, apply(0, {}), "got 0 components");
  refused(bench, take(1, 0), "num_required is 0");
  BOOST_TEST(bench.count() == 1u);

  Bench rows(sparse());
  const Tensor two = Tensor::of<float>(Shape{2, 1}, {1, 2});
  refused(rows, apply(0, {longs({1}), two}), "one index for each row");
  refused(rows, apply(0, {longs({1, 10}), two}),
          "gradient_indices[1] is 10, but must be at least 0 and less than 10");
  refused(rows, apply(0, {longs({-1, 1}), two}), "gradient_indices[0] is -1");
  refused(rows, apply(0, {longs({1, 2}), two, longs({10, 2})}), "but gradient_shape says [10,2]");
  refused(rows, apply(0, {longs({1, 2}), two, longs({11, 1})}), "of a tensor of shape [11,1]");
  refused(rows, apply(0, {longs({1, 2}), floats({1, 2})}), "of a tensor of shape [?]");
  rows.dropped(apply(0, {longs({1, 2}), two}));
  refused(rows, apply(0, {longs({1}), Tensor::of<float>(Shape{1, 2}, {1, 2})}),
          "those in accumulator 'a' have shape [1]");
  BOOST_TEST(rows.count() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::accumulator_test
