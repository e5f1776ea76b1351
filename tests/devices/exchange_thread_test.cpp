// ExchangeThread: exchanges run one after the other, and each ends, whatever happens to those before it.
#include "devices/exchange_thread.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "tests/support/comes_true.h"

namespace troupe::exchange_thread_test {
namespace {

Status connected() { return {}; }

/// Waits for the end of an exchange.
Status ending(const Completion& exchange) {
  BOOST_TEST_REQUIRE(test::comes_true([&] { return exchange.ready(); }));
  return exchange.status();
}

/// Runs until the thread is aborted.
Status until_aborted(const ExchangeThread& thread) {
  while (!thread.aborted()) std::this_thread::yield();
  return unavailable("interrupted");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exchange_thread)

BOOST_AUTO_TEST_CASE(exchanges_run_in_their_order) {
  std::vector<int> order;  // written by the thread alone, until it has ended
  {
    ExchangeThread thread(connected);
    Completion last;
    for (int i = 0; i < 100; ++i)
      last = thread.add([&order, i] {
        order.push_back(i);
        return Status();
      });
    BOOST_TEST(ending(last).ok());
  }
  BOOST_TEST(order.size() == 100u);
  BOOST_TEST(std::ranges::is_sorted(order));
}

BOOST_AUTO_TEST_CASE(all_exchanges_fail_if_the_members_cannot_be_connected) {
  ExchangeThread thread([] { return unavailable("nobody answers"); });
  std::atomic<bool> ran = false;
  const Completion exchange = thread.add([&ran] {
    ran = true;
    return Status();
  });
  BOOST_TEST(ending(exchange).text() == "nobody answers");
  BOOST_TEST(!ran);
}

BOOST_AUTO_TEST_CASE(an_exchange_that_fails_ends_those_after_it) {
  ExchangeThread thread(connected);
  const Completion first = thread.add([] { return internal("broken"); }),
                   second = thread.add([] { return Status(); });
  BOOST_TEST(ending(first).text() == "broken");
  BOOST_TEST(ending(second).text() == "broken");
  BOOST_TEST(thread.failure().text() == "broken");
}

BOOST_AUTO_TEST_CASE(an_abort_ends_what_runs_and_what_waits_with_its_reason) {
  ExchangeThread thread(connected);
  const Completion runs = thread.add([&] { return until_aborted(thread); }),
                   waits = thread.add([] { return Status(); });
  thread.abort(unavailable("a member is lost"));
  thread.abort(unavailable("too late"));
  BOOST_TEST(ending(runs).text() == "a member is lost");
  BOOST_TEST(ending(waits).text() == "a member is lost");
  BOOST_TEST(ending(thread.add([] { return Status(); })).text() == "a member is lost");
}

BOOST_AUTO_TEST_CASE(closing_ends_all_exchanges) {
  std::optional<ExchangeThread> thread(std::in_place, connected);
  const Completion runs = thread->add([&owner = *thread] { return until_aborted(owner); }),
                   waits = thread->add([] { return Status(); });
  thread.reset();
  for (const Completion& exchange : {runs, waits}) {
    BOOST_TEST_REQUIRE(exchange.ready());
    BOOST_TEST((exchange.status().code() == Code::Cancelled));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::exchange_thread_test
