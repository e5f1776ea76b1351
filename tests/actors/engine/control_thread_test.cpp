// The control thread: blocking jobs delay only each other, and are finished before the control thread ends. Uses real threads;
// every wait has a deadline.
#include "actors/engine/control_thread.h"

#include <sys/resource.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace troupe::control_thread_test {
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

BOOST_AUTO_TEST_CASE(a_job_in_the_background_holds_up_no_other_work_with_files_and_comes_behind_it) {
  ControlThread loop(*pool);
  std::promise<void> released;
  std::atomic<bool> blocked{false}, ended{false};
  const auto priority = [] { return ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid())); };
  int usual = 0, behind = 0;
  loop.block_in_background(make_job([&] {
    released.get_future().wait();
    behind = priority();
    ended = true;
    loop.wake();
  }));
  loop.block(make_job([&] {
    usual = priority();
    blocked = true;
    loop.wake();
  }));
  const int64_t deadline = loop.now() + std::chrono::nanoseconds(std::chrono::seconds(30)).count();
  BOOST_TEST(loop.wait([&] { return blocked.load(); }, deadline));
  BOOST_TEST(!ended);
  released.set_value();
  BOOST_TEST(loop.wait([&] { return ended.load(); }, deadline));
  BOOST_TEST(behind > usual);  // a higher number is a lower priority
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

/// Is active, but never has work.
struct Idle final : Polled {
  bool is_active() const override { return true; }
  bool poll() override { return false; }
  bool sleep() override { return true; }
};

// While something is polled, a thread that waits does the work of the control thread. When none waits, the control thread does.
BOOST_AUTO_TEST_CASE(whoever_waits_does_the_work) {
  ControlThread loop(*pool);
  const auto idle = std::make_shared<Idle>();
  loop.add(idle);
  std::thread::id control, waiting;
  run_on_control(loop, [&] { control = std::this_thread::get_id(); });
  for (int i = 0; i < 100; ++i) run_on_control(loop, [&] { waiting = std::this_thread::get_id(); });
  BOOST_TEST((waiting == std::this_thread::get_id()));
  BOOST_TEST((control != waiting));
  std::promise<std::thread::id> unattended;
  loop.enqueue(make_job([&] { unattended.set_value(std::this_thread::get_id()); }));
  auto future = unattended.get_future();
  BOOST_TEST_REQUIRE((future.wait_for(std::chrono::seconds(30)) == std::future_status::ready));
  BOOST_TEST((future.get() == control));
}

// Nobody waits in vain, and no handlers run side by side, whoever runs them.
BOOST_AUTO_TEST_CASE(threads_that_wait_take_turns) {
  ControlThread loop(*pool);
  const auto idle = std::make_shared<Idle>();
  loop.add(idle);
  std::atomic<int> inside{0}, most{0}, timers{0}, late{0};
  const auto handler = [&] {
    most = std::max(most.load(), ++inside);
    --inside;
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        if ((i + t) % 3 == 0) {
          const int64_t deadline = loop.now() + 30'000'000'000;
          const int before = timers;
          loop.call_at(loop.now() + 1000, [&] {
            handler();
            ++timers;
            loop.wake();
          });
          if (!loop.wait([&] { return timers != before; }, deadline)) ++late;
        } else if (i % 50 == 0) {
          std::this_thread::yield();
          loop.wait([] { return false; }, loop.now() + 300'000);
        } else {
          run_on_control(loop, handler);
        }
      }
    });
  for (auto& thread : threads) thread.join();
  BOOST_TEST(late == 0);
  BOOST_TEST(most == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::control_thread_test
