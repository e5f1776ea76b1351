// Accumulators in steps: the ops, waiting across steps, sharing by name (features.md R3, R4).
#include <boost/test/unit_test.hpp>

#include <thread>

#include "actors/runtime.h"
#include "actors/step/session.h"
#include "graph/build/scope.h"
#include "tests/support/failure_of.h"

namespace troupe::accumulator_steps_test {
namespace {

struct Fixture {
  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  Scope g{graph};
  const Attributes dtype{{"dtype", DType::Float}};

  Output make(const std::string& op, const std::string& name, Attributes more = {}) {
    Attributes attrs{{"dtype", DType::Float}, {"shape", PartialShape{2}}};
    for (const auto& [attr, value] : more) attrs.set(attr, value);
    return g.with_name(name).add_one(op, {}, attrs);
  }
  Output constant(Tensor value) { return g.constant(std::move(value)); }
  Output step(int64_t value) { return constant(Tensor::scalar(value)); }
  Output number(int32_t value) { return constant(Tensor::scalar(value)); }
  Output run(const std::string& op, std::vector<Output> inputs, const Attributes& attrs = {}) {
    return {g.add(op, std::move(inputs), attrs), Output::control};
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(accumulator_steps, Fixture)

BOOST_AUTO_TEST_CASE(gradients_of_several_steps_are_taken_in_one) {
  struct {
    const char *make, *apply, *set, *take, *count;
  } const forms[] = {{"ConditionalAccumulator", "AccumulatorApplyGradient", "AccumulatorSetGlobalStep",
                      "AccumulatorTakeGradient", "AccumulatorNumAccumulated"},
                     {"ResourceConditionalAccumulator", "ResourceAccumulatorApplyGradient",
                      "ResourceAccumulatorSetGlobalStep", "ResourceAccumulatorTakeGradient",
                      "ResourceAccumulatorNumAccumulated"}};
  for (const auto& form : forms) {
    const Output accumulator = make(form.make, form.make);
    const Output x = g.add_one("Placeholder", {}, {{"dtype", DType::Float}, {"shape", PartialShape{2}}});
    const Output apply = run(form.apply, {accumulator, step(3), x}, dtype);
    const Output set = run(form.set, {accumulator, step(3)});
    const Output taken = g.add_one(form.take, {accumulator, number(2)}, dtype);
    const Output count = g.add_one(form.count, {accumulator});
    Session session = runtime.session(graph);
    session.run({set});
    session.run({{x, Tensor::vector<float>({1, 2})}}, {apply});
    BOOST_TEST(session.run({count}).at(0).as<int32_t>()[0] == 1);
    std::thread other([&] { session.run({{x, Tensor::vector<float>({3, 6})}}, {apply}); });
    BOOST_TEST(identical(session.run({taken}).at(0), Tensor::vector<float>({2, 4})));
    other.join();
    session.run({{x, Tensor::vector<float>({3, 6})}}, {apply});  // of an earlier step now
    BOOST_TEST(session.run({count}).at(0).as<int32_t>()[0] == 0);
  }
}

BOOST_AUTO_TEST_CASE(rows_are_taken_in_order) {
  const Output accumulator = make("SparseConditionalAccumulator", "rows",
                                  {{"shape", PartialShape{9, 1}}, {"reduction_type", "SUM"}});
  const auto apply = [&](std::vector<int64_t> numbers, bool knows_shape) {
    const auto count = static_cast<int64_t>(numbers.size());
    return run("SparseAccumulatorApplyGradient",
               {accumulator, step(0), constant(Tensor::vector<int64_t>(std::span<const int64_t>(numbers))),
                constant(Tensor::of<float>(Shape{count, 1}, std::vector<float>(numbers.size(), 1))),
                constant(Tensor::vector<int64_t>({knows_shape ? 9 : 12345, 1}))},
               {{"dtype", DType::Float}, {"has_known_shape", knows_shape}});
  };
  const Output first = apply({8, 1}, true), second = apply({1}, false), far = apply({9}, true);
  const NodeId taken = g.add("SparseAccumulatorTakeGradient", {accumulator, number(2)}, dtype);
  Session session = runtime.session(graph);
  session.run({first});
  session.run({second});
  const Status status = test::failure_of([&] { session.run({far}); });
  BOOST_TEST(status.text().find("gradient_indices[0] is 9") != std::string::npos, status.text());
  const auto result = session.run({Output{taken, 0}, Output{taken, 1}, Output{taken, 2}});
  BOOST_TEST(identical(result[0], Tensor::vector<int64_t>({1, 8})));
  BOOST_TEST(identical(result[1], Tensor::of<float>(Shape{2, 1}, {2, 1})));
  BOOST_TEST(identical(result[2], Tensor::vector<int64_t>({9, 1})));
}

BOOST_AUTO_TEST_CASE(rows_of_any_shape_fit_an_accumulator_of_scalars) {
  const Output accumulator = make("SparseConditionalAccumulator", "any", {{"shape", PartialShape::scalar()}});
  const Output apply =
      run("SparseAccumulatorApplyGradient",
          {accumulator, step(0), constant(Tensor::vector<int64_t>({4})),
           constant(Tensor::of<float>(Shape{1, 2}, {1, 3})), constant(Tensor::vector<int64_t>({5, 2}))},
          {{"dtype", DType::Float}, {"has_known_shape", true}});
  const NodeId taken = g.add("SparseAccumulatorTakeGradient", {accumulator, number(1)}, dtype);
  Session session = runtime.session(graph);
  session.run({apply});
  const auto result = session.run({{taken, 0}, {taken, 1}, {taken, 2}});
  BOOST_TEST(identical(result[0], Tensor::vector<int64_t>({4})));
  BOOST_TEST(identical(result[1], Tensor::of<float>(Shape{1, 2}, {1, 3})));
  BOOST_TEST(identical(result[2], Tensor::vector<int64_t>({-1, 2})));
}

BOOST_AUTO_TEST_CASE(a_take_that_waits_ends_with_its_step) {
  const Output taken =
      g.add_one("AccumulatorTakeGradient", {make("ConditionalAccumulator", "a"), number(1)}, dtype);
  Session session = runtime.session(graph);
  const Status status =
      test::failure_of([&] { session.run({taken}, {.timeout = std::chrono::milliseconds(20)}); });
  BOOST_TEST((status.code() == Code::DeadlineExceeded), status.text());
}

BOOST_AUTO_TEST_CASE(what_an_accumulator_cannot_be_or_do_is_refused) {
  const Output accumulator = make("ConditionalAccumulator", "a");
  const Output rows = make("SparseConditionalAccumulator", "b");
  const Output integers = make("ConditionalAccumulator", "c", {{"dtype", DType::Int32}});
  make("ConditionalAccumulator", "d", {{"shared_name", "a"}, {"shape", PartialShape{3}}});
  const Output other =
      make("ConditionalAccumulator", "e", {{"shared_name", "a"}, {"shape", PartialShape{3}}});
  const auto count = [&](Output handle) { return g.add_one("AccumulatorNumAccumulated", {handle}); };
  const Output counts[] = {count(accumulator), count(integers), count(other)};
  const Output wrong = g.add_one("AccumulatorTakeGradient", {rows, number(1)}, dtype);
  const Output none = g.add_one("AccumulatorTakeGradient", {accumulator, number(0)}, dtype);
  Session session = runtime.session(graph);
  session.run({counts[0]});
  const auto refused = [&](Output output, const std::string& text) {
    const Status status = test::failure_of([&] { session.run({output}); });
    BOOST_TEST((status.code() == Code::InvalidArgument));
    BOOST_TEST(status.text().find(text) != std::string::npos, status.text());
    BOOST_TEST(!status.node().empty());
  };
  refused(counts[1], "dtype is int32");
  refused(counts[2], "accumulator 'a' was made with float[2], mean; this node has float[3], mean");
  refused(wrong, "accumulator 'b' takes sparse float[2], mean, but the op is for dense float");
  refused(none, "num_required is 0");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::accumulator_steps_test
