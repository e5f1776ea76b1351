// The control thread: blocking jobs delay only each other, and are finished before the control thread ends. Uses real threads;
// every wait has a deadline.
#include "actors/engine/control_thread.h"

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <future>

namespace troupe {
namespace {

struct Fixture {
  std::unique_ptr<ThreadPool> pool = value_or_throw(ThreadPool::make(1));
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(control_thread, Fixture)

BOOST_AUTO_TEST_CASE(a_job_that_blocks_holds_up_neither_actors_nor_timers_nor_computations) {
  ControlThread loop(*pool);
  std::promise<void> released;
  std::atomic<bool> blocked{false};
  std::atomic<int> others{0};
  loop.block(make_job([&] {
    released.get_future().wait();
    blocked = true;
    loop.wake();
  }));
  const auto other = [&] {
    ++others;
    loop.wake();
  };
  loop.enqueue(make_job(other));
  loop.compute(make_job(other));
  loop.call_at(loop.now(), other);
  const int64_t deadline = loop.now() + std::chrono::nanoseconds(std::chrono::seconds(30)).count();
  BOOST_TEST(loop.wait([&] { return others == 3; }, deadline));
  BOOST_TEST(!blocked);
  released.set_value();
  BOOST_TEST(loop.wait([&] { return blocked.load(); }, deadline));
}

BOOST_AUTO_TEST_CASE(jobs_that_block_run_one_at_a_time_and_are_done_before_the_loop_ends) {
  int done = 0;  // needs no atomic, because the jobs run one at a time
  {
    ControlThread loop(*pool);
    for (int i = 0; i < 1000; ++i)
      loop.block(make_job([&] {
        loop.block(make_job([&] { ++done; }));
        ++done;
      }));
  }
  BOOST_TEST(done == 2000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe
