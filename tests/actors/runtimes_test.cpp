// Several runtimes in one process, as a program has them whose parts embed Troupe without knowing of each other: they run steps at
// the same time, fail and end each on its own, in any order.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "actors/runtime.h"
#include "apps/nn/optimizer.h"
#include "graph/build/variables.h"
#include "kernels/constructors.h"
#include "tests/support/comes_true.h"
#include "tests/support/failure_of.h"

namespace troupe::runtimes_test {
namespace {

/// A runtime that fits a line to points. All of them have the same names.
class Fit {
 public:
  explicit Fit(float slope, const RuntimeOptions& options = {.threads = 2})
      : runtime_(options), graph_(runtime_.ops()) {
    const Scope g(graph_);
    x_ = placeholder(g, f32, {-1}, "x");
    const Output w = variable(g, zeros(g, {}), "w");
    const Output loss = mean(g, square(g, sub(g, mul(g, w, x_), mul(g, x_, slope))));
    step_ = nn::Sgd{0.1}.minimize(g, loss);
    weight_ = identity(g, w);
    const Attributes components = {{"component_types", std::vector<DType>{f32}}};
    const Output waits = variable(g, zeros(g, {}), "waits");
    waiting_ = identity(g, waits);
    const Output noted = assign_add(g, waits, 1.0F);
    stuck_ = g.with_control({noted}).add_one("QueueDequeueV2", {g.add_one("FIFOQueueV2", {}, components)},
                                             components);
    session_ = std::make_unique<Session>(runtime_.session(graph_, {.seed = 1}));
    session_->run({initializer(g)});
  }

  void train(int steps) {
    for (int i = 0; i < steps; ++i) session_->run({{x_, Tensor::vector<float>({1, 2, 3})}}, {step_});
  }
  Tensor weight() { return session_->run({weight_})[0]; }
  bool has_learnt(float slope) { return std::abs(weight().item<float>() - slope) < 1e-3F; }
  void wait_for_ever() { session_->run({stuck_}); }
  bool is_waiting() { return session_->run({waiting_})[0].item<float>() > 0; }
  PreparedStep endless_step() { return session_->prepare({}, {stuck_}); }
  void end_session() { session_.reset(); }
  Session& session() { return *session_; }
  Runtime& runtime() { return runtime_; }

 private:
  Runtime runtime_;
  Graph graph_;
  Output x_, step_, weight_, waiting_, stuck_;
  std::unique_ptr<Session> session_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(runtimes)

BOOST_AUTO_TEST_CASE(train_side_by_side_what_each_would_alone) {
  constexpr size_t count = 3;
  std::array<std::unique_ptr<Fit>, count> together;
  for (size_t i = 0; i < count; ++i) together[i] = std::make_unique<Fit>(static_cast<float>(i) + 1);
  std::vector<std::thread> threads;
  for (auto& fit : together) threads.emplace_back([&fit] { fit->train(50); });
  for (auto& thread : threads) thread.join();
  for (size_t i = 0; i < count; ++i) {
    const auto slope = static_cast<float>(i) + 1;
    Fit alone(slope);
    alone.train(50);
    BOOST_TEST(together[i]->has_learnt(slope));
    BOOST_TEST(identical(together[i]->weight(), alone.weight()));
  }
}

BOOST_AUTO_TEST_CASE(end_in_any_order_while_the_others_go_on) {
  std::array<size_t, 3> order = {0, 1, 2};
  do {
    std::array<std::unique_ptr<Fit>, 3> fits;
    for (auto& fit : fits) fit = std::make_unique<Fit>(2.0F, RuntimeOptions{.threads = 1});
    for (const size_t ending : order) {
      std::vector<std::thread> threads;
      for (size_t i = 0; i < fits.size(); ++i)
        if (fits[i] && i != ending) threads.emplace_back([&fit = *fits[i]] { fit.train(20); });
      fits[ending].reset();
      for (auto& thread : threads) thread.join();
      for (const auto& fit : fits)
        if (fit) BOOST_TEST(fit->has_learnt(2));
    }
  } while (std::ranges::next_permutation(order).found);
}

BOOST_AUTO_TEST_CASE(keep_failures_to_themselves) {
  Fit other(3), waiting(3), limited(3, {.threads = 1, .memory = 16 << 20});
  Status ended;
  std::thread waiter([&] { ended = test::failure_of([&] { waiting.wait_for_ever(); }); });
  BOOST_TEST(test::comes_true([&] { return waiting.is_waiting(); }));
  waiting.session().cancel();
  waiter.join();
  BOOST_TEST((ended.code() == Code::Cancelled), ended.message());

  Graph large(limited.runtime().ops());
  const Scope g(large);
  Session session = limited.runtime().session(large);
  const Output size = placeholder(g, i32, {1}, "size");
  const Output total = sum(g, fill(g, size, 1.0F));
  const Status refused = test::failure_of([&] {
    session.run({{size, Tensor::vector<int32_t>({64 << 20})}}, {total});
  });
  BOOST_TEST((refused.code() == Code::ResourceExhausted), refused.message());

  limited.runtime().reset();
  BOOST_TEST((test::failure_of([&] { limited.train(1); }).code() == Code::Aborted));
  other.train(50);
  BOOST_TEST(other.has_learnt(3));
}

BOOST_AUTO_TEST_CASE(begin_and_end_in_many_threads) {
  std::vector<std::thread> threads;
  std::atomic<int> learnt = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&learnt, slope = static_cast<float>(i)] {
      for (int again = 0; again < 5; ++again) {
        Fit fit(slope, {.threads = 1});
        fit.train(20);
        learnt += fit.has_learnt(slope) ? 1 : 0;
      }
    });
  for (auto& thread : threads) thread.join();
  BOOST_TEST(learnt == 20);
}

BOOST_AUTO_TEST_CASE(stay_as_long_as_their_sessions) {
  auto runtime = std::make_unique<Runtime>(RuntimeOptions{.threads = 1});
  Graph graph(runtime->ops());
  const Scope g(graph);
  const Output x = placeholder(g, f32, {}, "x"), twice = mul(g, x, 2);
  Session session = runtime->session(graph);
  runtime.reset();
  BOOST_TEST(session.run({{x, Tensor::scalar(3.0F)}}, {twice})[0].item<float>() == 6);
  Session moved = std::move(session);
  BOOST_TEST(moved.run({{x, Tensor::scalar(4.0F)}}, {twice})[0].item<float>() == 8);
  const Status refused = test::failure_of([&] { session.run({twice}); });  // NOLINT(bugprone-use-after-move)
  BOOST_TEST((refused.code() == Code::FailedPrecondition), refused.message());
}

BOOST_AUTO_TEST_CASE(end_the_steps_of_a_session_that_is_destroyed) {
  Fit fit(2);
  const PreparedStep step = fit.endless_step();
  Status ended;
  std::thread waiter([&] { ended = test::failure_of([&] { step.run({}); }); });
  BOOST_TEST(test::comes_true([&] { return fit.is_waiting(); }));
  fit.end_session();
  waiter.join();
  BOOST_TEST((ended.code() == Code::Cancelled), ended.message());
  BOOST_TEST((test::failure_of([&] { step.run({}); }).code() == Code::Unavailable));
}

BOOST_AUTO_TEST_CASE(refuse_options_that_make_no_sense) {
  const auto refused = [](const auto& call) { return test::failure_of(call).code(); };
  BOOST_TEST((refused([] { Runtime runtime({.tasks = {{"a"}, {"a"}}}); }) == Code::InvalidArgument));
  Fit fit(2, {.threads = 1});
  BOOST_TEST((refused([&] { fit.runtime().join(); }) == Code::FailedPrecondition));
  const PreparedStep step = fit.endless_step();
  BOOST_TEST(
      (refused([&] { step.run({}, {.timeout = std::chrono::milliseconds(-5)}); }) == Code::InvalidArgument));
}

BOOST_AUTO_TEST_CASE(leave_tensors_that_outlive_them) {
  Tensor weight;
  {
    Fit fit(4);
    fit.train(50);
    weight = fit.weight();
  }
  Runtime later({.threads = 1});
  Graph graph(later.ops());
  const Scope g(graph);
  const Output x = placeholder(g, f32, {}, "x");
  Session session = later.session(graph);
  const Tensor twice = session.run({{x, weight}}, {mul(g, x, 2)})[0];
  BOOST_TEST(std::abs(twice.item<float>() - 8) < 1e-2F);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::runtimes_test
