// Batches in steps (the ops Batch, Unbatch, UnbatchGrad): what steps that run at the same time compute together.
#include <boost/test/unit_test.hpp>

#include <future>

#include "actors/runtime.h"
#include "actors/step/session.h"
#include "graph/build/gradients.h"
#include "graph/build/scope.h"
#include "tests/support/failure_of.h"

namespace troupe::batch_steps_test {
namespace {

using namespace std::chrono_literals;

constexpr int64_t never = 100'000'000;  ///< microseconds: longer than the test runs

struct Fixture {
  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  Scope g{graph};
  const Output x = g.add_one("Placeholder", {}, {{"dtype", f32}, {"shape", PartialShape{unknown_dim}}});

  NodeId batch(const Attributes& more) {
    Attributes attrs{{"num_batch_threads", int64_t{1}},
                     {"max_batch_size", int64_t{2}},
                     {"batch_timeout_micros", never},
                     {"grad_timeout_micros", never}};
    for (const auto& [attr, value] : more) attrs.set(attr, value);
    return g.add("Batch", {x}, attrs);
  }
  Output part(Output computed, NodeId of, int64_t timeout = never) {
    return g.add_one("Unbatch", {computed, Output{of, 1}, Output{of, 2}}, {{"timeout_micros", timeout}});
  }
  static std::vector<float> numbers(const Tensor& tensor) {
    return {tensor.as<float>().begin(), tensor.as<float>().end()};
  }
  Status failure(Session& session, const Tensor& fed, Output what, StepOptions options = {}) {
    return test::failure_of([&] { session.run({{x, fed}}, {what}, options); });
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(batch_steps, Fixture)

BOOST_AUTO_TEST_CASE(steps_are_computed_together_and_each_gets_its_part_and_its_gradient) {
  const NodeId joined = batch({});
  const Output square = part(g.add_one("Square", {Output{joined, 0}}), joined);
  const Output slope = dense(g, gradients(g, {square}, {x})[0], x);
  Session session = runtime.session(graph);
  const auto run = [&](float value) {
    std::vector<std::vector<float>> all;
    for (int step = 0; step < 20; ++step)
      for (const Tensor& result : session.run({{x, Tensor::vector<float>({value})}}, {square, slope}))
        all.push_back(numbers(result));
    return all;
  };
  const auto check = [](const std::vector<std::vector<float>>& all, float value) {
    BOOST_TEST(all.size() == 40u);
    for (size_t i = 0; i < all.size(); ++i)
      BOOST_TEST(all[i] == std::vector{i % 2 == 0 ? value * value : 2 * value});
  };
  auto beside = std::async(std::launch::async, [&] { return run(3); });
  check(run(5), 5);
  check(beside.get(), 3);
}

BOOST_AUTO_TEST_CASE(one_step_alone_gets_a_batch_when_its_time_has_come) {
  const NodeId joined = batch({{"batch_timeout_micros", int64_t{1000}},
                               {"max_batch_size", int64_t{8}},
                               {"allowed_batch_sizes", std::vector<int64_t>{4, 8}}});
  Session session = runtime.session(graph);
  const auto results = session.run({{x, Tensor::vector<float>({3, 4, 5})}},
                                   {Output{joined, 0}, Output{joined, 1}, Output{joined, 2}});
  BOOST_TEST(numbers(results[0]) == (std::vector<float>{3, 4, 5, 3}));
  const auto index = results[1].as<int64_t>();
  BOOST_TEST((index[0] == results[2].item<int64_t>() && index[1] == 0 && index[2] == 3));
}

BOOST_AUTO_TEST_CASE(a_step_that_waits_for_others_can_be_ended) {
  const Output joined{batch({}), 0};
  Session session = runtime.session(graph, {.share_state = true}),
          waiting = runtime.session(graph, {.share_state = true});
  const Tensor one = Tensor::vector<float>({1}), two = Tensor::vector<float>({2, 3});
  BOOST_TEST((failure(waiting, one, joined, {.timeout = 20ms}).code() == Code::DeadlineExceeded));
  waiting.close();  // the step ends a little later than its caller is answered
  BOOST_TEST(numbers(session.run({{x, two}}, {joined})[0]) == (std::vector<float>{2, 3}));
}

BOOST_AUTO_TEST_CASE(a_part_that_does_not_come_is_given_up) {
  const NodeId joined = batch({{"batch_timeout_micros", int64_t{0}}});
  const Output foreign =
      g.add_one("Unbatch", {Output{joined, 0}, Output{joined, 1}, g.constant(Tensor::scalar<int64_t>(7))},
                {{"timeout_micros", int64_t{1000}}});
  Session session = runtime.session(graph);
  BOOST_TEST((failure(session, Tensor::vector<float>({1}), foreign).code() == Code::DeadlineExceeded));
}

BOOST_AUTO_TEST_CASE(a_gradient_whose_batch_has_no_index_is_refused) {
  const Output no_index = g.constant(Tensor::of<int64_t>(Shape{0, 3}, std::span<const int64_t>()));
  const Output id = g.constant(Tensor::scalar<int64_t>(7));
  const Output joined = g.add_one("UnbatchGrad", {x, no_index, x, id});
  Session session = runtime.session(graph);
  BOOST_TEST((failure(session, Tensor::vector<float>({1}), joined).code() == Code::InvalidArgument));
}

BOOST_AUTO_TEST_CASE(attributes_out_of_range_are_refused) {
  const std::pair<Attributes, const char*> wrong[] = {
      {{{"num_batch_threads", int64_t{0}}}, "num_batch_threads is 0"},
      {{{"max_batch_size", int64_t{0}}}, "max_batch_size is 0"},
      {{{"batch_timeout_micros", int64_t{-1}}}, "batch_timeout_micros is -1"},
      {{{"max_enqueued_batches", int64_t{-1}}}, "max_enqueued_batches is -1"},
      {{{"allowed_batch_sizes", std::vector<int64_t>{2, 2}}}, "ascending"},
      {{{"allowed_batch_sizes", std::vector<int64_t>{0, 2}}}, "positive"},
      {{{"allowed_batch_sizes", std::vector<int64_t>{1, 3}}}, "must be max_batch_size, 2"}};
  for (const auto& [attrs, text] : wrong) {
    const Output joined{batch(attrs), 0};
    Session session = runtime.session(graph);
    const Status status = failure(session, Tensor::vector<float>({1}), joined);
    BOOST_TEST((status.code() == Code::InvalidArgument), status.text());
    BOOST_TEST(status.text().find(text) != std::string::npos, status.text());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::batch_steps_test
