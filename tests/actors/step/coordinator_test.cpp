// Coordinator: threads of a program that end together, their first failure, their grace, and what ends their waiting.
#include "actors/step/coordinator.h"

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <future>
#include <thread>

#include "actors/runtime.h"
#include "graph/build/queue_runner.h"
#include "tests/support/failure_of.h"

namespace troupe::coordinator_test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using test::failure_of;

std::function<void()> fail_with(const Status& status) {
  return [status] { throw Error(status); };
}

}  // namespace

BOOST_AUTO_TEST_SUITE(coordinator)

BOOST_AUTO_TEST_CASE(threads_that_end_by_themselves_are_joined_without_a_failure) {
  Coordinator coordinator;
  std::atomic<int> ended = 0;
  for (int i = 0; i < 4; ++i) coordinator.start("worker", [&] { ++ended; });
  coordinator.join();
  BOOST_TEST(ended == 4);
  BOOST_TEST(coordinator.should_stop());
  coordinator.join();  // again
}

BOOST_AUTO_TEST_CASE(the_first_failure_stops_all_threads_and_is_thrown) {
  Coordinator coordinator;
  for (int i = 0; i < 3; ++i)
    coordinator.start("waits", [&] {
      coordinator.wait_for_stop();
      throw Error(internal("a consequence"));
    });
  coordinator.start("fails", fail_with(data_loss("the cause")));
  for (int i = 0; i < 2; ++i) {
    const Status failure = failure_of([&] { coordinator.join(); });
    BOOST_TEST((failure.code() == Code::DataLoss));
    BOOST_TEST(failure.text() == "the cause");
  }
}

BOOST_AUTO_TEST_CASE(failures_of_any_type_are_thrown) {
  Coordinator coordinator;
  coordinator.start("fails", [] { throw std::out_of_range("of a container"); });
  BOOST_CHECK_THROW(coordinator.join(), std::out_of_range);
  Coordinator other;
  other.start("fails", [] { throw 3; });
  BOOST_CHECK_THROW(other.join(), int);
}

BOOST_AUTO_TEST_CASE(the_end_of_the_input_is_no_failure) {
  Coordinator coordinator;
  std::atomic<bool> stopped = false;
  coordinator.start("waits", [&] {
    coordinator.wait_for_stop();
    stopped = true;
  });
  coordinator.start("reads", fail_with(out_of_range("the queue is closed")));
  coordinator.join();
  BOOST_TEST(stopped);
}

BOOST_AUTO_TEST_CASE(a_failure_after_a_stop_does_not_count) {
  Coordinator coordinator;
  coordinator.request_stop();
  coordinator.run(fail_with(internal("too late")));
  coordinator.request_stop(std::make_exception_ptr(Error(internal("too late"))));
  BOOST_CHECK_NO_THROW(coordinator.join());
}

BOOST_AUTO_TEST_CASE(a_thread_of_the_program_reports_its_failure) {
  Coordinator coordinator;
  std::thread own([&] { coordinator.run(fail_with(not_found("no file"))); });
  coordinator.wait_for_stop();
  own.join();
  BOOST_TEST((failure_of([&] { coordinator.join(); }).code() == Code::NotFound));
}

BOOST_AUTO_TEST_CASE(a_wait_ends_after_its_time) {
  Coordinator coordinator;
  BOOST_TEST(!coordinator.wait_for_stop(milliseconds(1)));
  BOOST_TEST(!coordinator.wait_for_stop(milliseconds(-1)));
  coordinator.request_stop();
  BOOST_TEST(coordinator.wait_for_stop(hours(2'000'000)));
}

BOOST_AUTO_TEST_CASE(times_may_be_of_any_length) {
  Coordinator coordinator;
  std::promise<void> called;
  coordinator.start_every("rarely", nanoseconds::max(), [&] { called.set_value(); });
  coordinator.start("worker", [&] { called.get_future().wait(); });
  BOOST_CHECK_NO_THROW(coordinator.join(nanoseconds::max()));
}

BOOST_AUTO_TEST_CASE(threads_that_outlast_the_grace_are_named) {
  std::promise<void> end;
  Coordinator coordinator;
  coordinator.start("slow", [ended = end.get_future().share()] { ended.wait(); });
  coordinator.start("quick", [] {});
  coordinator.request_stop();
  const Status failure = failure_of([&] { coordinator.join(milliseconds(20)); });
  BOOST_TEST((failure.code() == Code::DeadlineExceeded));
  BOOST_TEST(failure.text() == "threads still run after 20 ms since they were to stop: 'slow'");
  end.set_value();
  coordinator.join();
}

BOOST_AUTO_TEST_CASE(a_failure_counts_more_than_a_thread_that_outlasts_the_grace) {
  std::promise<void> end;
  Coordinator coordinator;
  coordinator.start("slow", [ended = end.get_future().share()] { ended.wait(); });
  coordinator.request_stop(std::make_exception_ptr(Error(aborted("the cause"))));
  BOOST_TEST((failure_of([&] { coordinator.join(milliseconds(0)); }).code() == Code::Aborted));
  end.set_value();
}

BOOST_AUTO_TEST_CASE(a_body_is_called_every_period_until_the_stop) {
  Coordinator coordinator;
  std::atomic<int> calls = 0;
  std::promise<void> third;
  coordinator.start_every("timer", milliseconds(1), [&] {
    if (++calls == 3) third.set_value();
  });
  coordinator.start("worker", [&] { third.get_future().wait(); });
  coordinator.join();  // the timer alone does not keep it waiting
  BOOST_TEST(calls >= 3);
  BOOST_TEST((failure_of([&] { coordinator.start_every("timer", milliseconds(0), [] {}); }).code() ==
              Code::InvalidArgument));
}

BOOST_AUTO_TEST_CASE(functions_at_the_stop_end_what_threads_wait_for) {
  std::promise<void> end;
  Coordinator coordinator;
  coordinator.at_stop([&] { end.set_value(); });
  coordinator.at_stop(fail_with(unavailable("a failure at the end")));
  coordinator.at_stop(fail_with(internal("a second one")));
  coordinator.start("waits", [ended = end.get_future().share()] { ended.wait(); });
  coordinator.request_stop();
  BOOST_TEST((failure_of([&] { coordinator.join(); }).code() == Code::Unavailable));
}

BOOST_AUTO_TEST_CASE(a_coordinator_that_nobody_joins_ends_its_threads) {
  std::promise<void> end;
  std::atomic<int> ended = 0;
  {
    Coordinator coordinator;
    coordinator.at_stop([&] { end.set_value(); });
    coordinator.at_stop(fail_with(internal("ignored")));
    coordinator.start("waits", [&, over = end.get_future().share()] {
      over.wait();
      ++ended;
    });
    coordinator.start("waits too", [&] {
      coordinator.wait_for_stop();
      ++ended;
    });
  }
  BOOST_TEST(ended == 2);
}

// placeholder -> enqueue -> queue -> dequeue: nothing is ever enqueued, so the steps of the threads wait.
struct WaitingSteps {
  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  Scope g{graph};
  std::vector<DType> types = {DType::Int32};
  Output queue = g.add_one("FIFOQueueV2", {}, {{"component_types", types}});
  Output taken = g.add_one("QueueDequeueV2", {queue}, {{"component_types", types}});
};

BOOST_FIXTURE_TEST_CASE(a_stop_cancels_steps, WaitingSteps) {
  Session session = runtime.session(graph);
  Coordinator coordinator;
  for (int i = 0; i < 3; ++i)
    coordinator.start("trainer",
                      [&] { session.run({taken}, {.cancellation = &coordinator.cancellation()}); });
  coordinator.request_stop();
  BOOST_CHECK_NO_THROW(coordinator.join());
}

BOOST_FIXTURE_TEST_CASE(the_failure_of_a_queue_runner_reaches_the_program, WaitingSteps) {
  const Output missing =
      g.add_one("Placeholder", {}, {{"dtype", DType::Int32}, {"shape", PartialShape::scalar()}});
  const auto close = [&](bool cancel) {
    return Output{g.add("QueueCloseV2", {queue}, {{"cancel_pending_enqueues", cancel}}), Output::control};
  };
  add_queue_runner(g, {.enqueue = {{g.add("QueueEnqueueV2", {queue, missing}), Output::control}},
                       .close = close(false),
                       .cancel = close(true)});
  Session session = runtime.session(graph);
  Coordinator coordinator;
  coordinator.at_stop([&] { session.stop_queue_runners(); });
  for (int i = 0; i < 3; ++i)
    coordinator.start("trainer", [&] {
      while (!coordinator.should_stop()) session.run({taken});
    });
  session.start_queue_runners();
  const Status failure = failure_of([&] { coordinator.join(); });
  BOOST_TEST((failure.code() == Code::InvalidArgument), failure.message());
  BOOST_TEST(failure.node() == "Placeholder");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::coordinator_test
