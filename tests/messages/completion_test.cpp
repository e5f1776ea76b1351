#include "messages/values/completion.h"

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <thread>
#include <vector>

namespace troupe::completion_test {
namespace {

BOOST_AUTO_TEST_SUITE(completion)

BOOST_AUTO_TEST_CASE(is_ready_by_default) {
  const Completion done;
  BOOST_TEST(done.ready());
  int called = 0;
  done.then([&](const Status& status) { called += status.ok() ? 1 : 100; });
  BOOST_TEST(called == 1);
  done.complete(internal("ignored"));
  BOOST_TEST(done.status().ok());
}

BOOST_AUTO_TEST_CASE(can_start_failed) {
  const Completion failed(internal("broken"));
  BOOST_TEST(failed.ready());
  BOOST_TEST((failed.status().code() == Code::Internal));
}

BOOST_AUTO_TEST_CASE(calls_back_once_in_order) {
  const Completion pending = Completion::pending();
  const Completion same = pending;
  std::vector<int> order;
  pending.then([&](const Status&) { order.push_back(1); });
  same.then([&](const Status&) { order.push_back(2); });
  BOOST_TEST(!pending.ready());
  BOOST_TEST(pending.status().ok());
  BOOST_TEST(order.empty());
  same.complete(aborted("first"));
  pending.complete(Status{});
  BOOST_TEST(order == (std::vector<int>{1, 2}), boost::test_tools::per_element());
  BOOST_TEST((pending.status().code() == Code::Aborted));
  pending.then([&](const Status&) { order.push_back(3); });
  BOOST_TEST(order.back() == 3);
}

BOOST_AUTO_TEST_CASE(threads_may_race_to_complete_and_to_wait) {
  for (int round = 0; round < 200; ++round) {
    const Completion pending = Completion::pending();
    std::atomic<int> called{0};
    std::thread completes([&] { pending.complete({}); });
    std::thread waits([&] {
      for (int i = 0; i < 10; ++i) pending.then([&](const Status&) { ++called; });
    });
    completes.join();
    waits.join();
    BOOST_TEST(called == 10);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::completion_test
