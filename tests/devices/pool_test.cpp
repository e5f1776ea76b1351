#include "devices/pool.h"

#include <sched.h>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <latch>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "devices/flush_denormals.h"
#include "devices/held_place.h"

namespace troupe::pool_test {
namespace {

BOOST_AUTO_TEST_SUITE(pool)

std::unique_ptr<ThreadPool> pool_of(size_t threads) { return value_or_throw(ThreadPool::make(threads)); }

void busy(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

BOOST_AUTO_TEST_CASE(runs_every_chunk_once_before_it_returns) {
  for (const size_t threads : {1, 2, 4}) {
    auto pool = pool_of(threads);
    BOOST_TEST(pool->threads() == threads);
    for (const size_t n : {0, 1, 2, 3, 64, 5000}) {
      std::vector<int> runs(n, 0);  // plain ints: each is written by one thread and read after the return
      pool->chunks(n, [&](size_t i) { ++runs[i]; });
      BOOST_TEST(std::count(runs.begin(), runs.end(), 1) == static_cast<long>(n));
    }
  }
}

// Runs loops until a thread other than the caller has run a chunk of one; returns false if the machine
// has one core. The chunks of the other thread take longer, so the caller waits for it at the end.
bool run_with_helper(Pool& pool, const std::function<void()>& in_each_chunk) {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0 || CPU_COUNT(&cores) < 2) return false;
  std::atomic<int> helped{0};
  const auto caller = std::this_thread::get_id();
  for (int tries = 0; helped == 0 && tries < 20000; ++tries)
    pool.chunks(8, [&](size_t) {
      busy(std::chrono::microseconds(50));
      in_each_chunk();
      if (std::this_thread::get_id() == caller) return;
      busy(std::chrono::microseconds(300));
      ++helped;
    });
  BOOST_TEST(helped > 0);
  return true;
}

BOOST_AUTO_TEST_CASE(helpers_take_chunks_that_are_long_enough) {
  run_with_helper(*pool_of(2), [] {});
}

BOOST_AUTO_TEST_CASE(helpers_treat_denormals_as_the_caller_does) {
  auto pool = pool_of(2);
  std::atomic<int> zeros{0}, others{0};
  const auto halve_smallest_normal = [&] {
    volatile float value = std::numeric_limits<float>::min();
    value = value / 2;
    ++(value == 0 ? zeros : others);
  };
  {
    const FlushDenormals flush;
    run_with_helper(*pool, halve_smallest_normal);
    BOOST_TEST(others == 0);
  }
  zeros = 0;
  run_with_helper(*pool, halve_smallest_normal);
  BOOST_TEST(zeros == 0);
}

BOOST_AUTO_TEST_CASE(a_helper_makes_room_for_a_task) {
  auto pool = pool_of(2);
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> submitted{false}, started{false}, ended{false};
  std::atomic<int> helped{0};
  pool->chunks(1000, [&](size_t) {
    if (std::this_thread::get_id() != caller) {
      if (started) ++helped;
      if (!submitted.exchange(true))
        pool->submit([&] {
          started = true;
          ended.wait(false);
        });
    }
    busy(std::chrono::microseconds(50));
  });
  ended = true;
  ended.notify_one();
  pool.reset();
  BOOST_TEST(helped <= 1);
}

BOOST_AUTO_TEST_CASE(who_waits_for_the_end_of_a_loop_runs_no_chunk_of_another) {
  auto pool = pool_of(3);
  static thread_local int outer = 0;
  std::atomic<int> nested{0};
  std::vector<std::jthread> callers;
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round)
        pool->chunks(4, [&](size_t) {
          if (outer++ != 0) ++nested;
          pool->chunks(4, [](size_t) { busy(std::chrono::microseconds(20)); });
          --outer;
        });
    });
  callers.clear();
  BOOST_TEST(nested == 0);
}

BOOST_AUTO_TEST_CASE(blocks_cover_the_range_in_pieces_of_the_given_size) {
  InlinePool pool;
  using Pieces = std::vector<std::pair<size_t, size_t>>;
  const auto pieces = [&](size_t total, size_t block) {
    Pieces out;
    pool.blocks(total, block, [&](size_t begin, size_t end) { out.emplace_back(begin, end); });
    return out;
  };
  BOOST_TEST(pieces(0, 4).empty());
  BOOST_TEST((pieces(3, 4) == Pieces{{0, 3}}));
  BOOST_TEST((pieces(8, 4) == Pieces{{0, 4}, {4, 8}}));
  BOOST_TEST((pieces(2, 0) == Pieces{{0, 1}, {1, 2}}));
  BOOST_TEST((pieces(9, 4) == Pieces{{0, 4}, {4, 8}, {8, 9}}));
}

BOOST_AUTO_TEST_CASE(a_sum_over_blocks_has_the_same_bits_for_any_number_of_threads) {
  std::vector<float> values(10000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = 1.0f / static_cast<float>(i + 1);
  const auto sum = [&](Pool& pool) {
    std::vector<float> partial(10);
    pool.blocks(values.size(), 1000, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) partial[begin / 1000] += values[i];
    });
    return std::accumulate(partial.begin(), partial.end(), 0.0f);
  };
  InlinePool alone;
  const float expected = sum(alone);
  for (const size_t threads : {1, 2, 3}) BOOST_TEST(sum(*pool_of(threads)) == expected);
}

BOOST_AUTO_TEST_CASE(calls_nest) {
  auto pool = pool_of(2);
  std::vector<std::vector<int>> runs(16, std::vector<int>(16, 0));
  pool->chunks(16, [&](size_t i) {
    pool->chunks(16, [&](size_t j) {
      busy(std::chrono::microseconds(10));
      ++runs[i][j];
    });
  });
  for (const auto& row : runs) BOOST_TEST(std::count(row.begin(), row.end(), 1) == 16);
}

BOOST_AUTO_TEST_CASE(many_threads_call_at_once) {
  auto pool = pool_of(3);
  std::atomic<size_t> ran{0};
  {
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 6; ++caller)
      callers.emplace_back([&] {
        for (size_t round = 0; round < 300; ++round) {
          std::atomic<size_t> mine{0};
          pool->chunks(round % 7, [&](size_t) {
            busy(std::chrono::microseconds(round % 5));
            ++mine;
          });
          ran += mine == round % 7 ? 1 : 0;
        }
      });
  }
  BOOST_TEST(ran == 6u * 300u);
}

BOOST_AUTO_TEST_CASE(an_exception_reaches_the_caller_and_the_pool_lives_on) {
  for (const size_t threads : {1, 2}) {
    auto pool = pool_of(threads);
    std::atomic<size_t> ran{0};
    const auto chunk = [&](size_t i) {
      busy(std::chrono::microseconds(20));
      ++ran;
      if (i == 3) throw std::runtime_error("chunk 3");
    };
    BOOST_CHECK_THROW(pool->chunks(1000, chunk), std::runtime_error);
    BOOST_TEST(ran < 1000u);
    ran = 0;
    pool->chunks(3, chunk);
    BOOST_TEST(ran == 3u);
  }
}

BOOST_AUTO_TEST_CASE(tasks_run_in_the_order_they_were_submitted_on_a_thread_of_the_pool) {
  auto pool = pool_of(1);
  std::vector<int> order;
  std::latch done(100);
  std::atomic<bool> elsewhere{true};
  const auto caller = std::this_thread::get_id();
  for (int i = 0; i < 100; ++i)
    pool->submit([&, i] {
      order.push_back(i);
      if (std::this_thread::get_id() == caller) elsewhere = false;
      done.count_down();
    });
  done.wait();
  BOOST_TEST(std::is_sorted(order.begin(), order.end()));
  BOOST_TEST(elsewhere);
}

BOOST_AUTO_TEST_CASE(tasks_progress_while_chunks_wait_for_them) {
  auto pool = pool_of(2);
  std::latch ran(1);
  pool->chunks(2, [&](size_t i) {
    if (i == 0) pool->submit([&] { ran.count_down(); });
    ran.wait();
  });
  BOOST_TEST(ran.try_wait());
}

BOOST_AUTO_TEST_CASE(as_many_tasks_run_at_once_as_there_are_threads) {
  auto pool = pool_of(3);
  std::latch together(3), done(3);
  for (int i = 0; i < 3; ++i)
    pool->submit([&] {
      together.arrive_and_wait();
      done.count_down();
    });
  done.wait();
  BOOST_TEST(done.try_wait());
}

BOOST_AUTO_TEST_CASE(a_task_may_wait_for_tasks_behind_it) {
  auto pool = pool_of(1);
  std::latch innermost(1), inner(2), done(1);
  const auto wait = [](std::latch& latch) {
    const LentPlaces lent;
    latch.wait();
  };
  pool->submit([&] {
    for (int i = 0; i < 2; ++i)
      pool->submit([&, i] {
        if (i == 0) pool->submit([&] { innermost.count_down(); });
        wait(innermost);
        inner.count_down();
      });
    wait(inner);
    done.count_down();
  });
  done.wait();
  BOOST_TEST(inner.try_wait());
}

BOOST_AUTO_TEST_CASE(after_tasks_have_waited_as_many_run_at_once_as_before) {
  auto pool = pool_of(1);
  for (int round = 0; round < 3; ++round) {
    std::latch waited(1);
    pool->submit([&] {
      {
        const LentPlaces lent;
        std::latch ran(1);
        pool->submit([&] { ran.count_down(); });
        ran.wait();
      }
      waited.count_down();
    });
    waited.wait();
    constexpr int tasks = 50;
    std::atomic<int> running{0}, most{0};
    std::latch done(tasks);
    for (int i = 0; i < tasks; ++i)
      pool->submit([&] {
        const int now = ++running;
        if (now > most) most = now;
        busy(std::chrono::microseconds(20));
        --running;
        done.count_down();
      });
    done.wait();
    BOOST_TEST(most == 1);
  }
}

BOOST_AUTO_TEST_CASE(what_was_submitted_runs_before_the_pool_ends) {
  std::atomic<int> ran{0};
  {
    auto pool = pool_of(2);
    for (int i = 0; i < 50; ++i)
      pool->submit([&, &pool = *pool] {
        pool.chunks(4, [&](size_t) { ++ran; });
        pool.submit([&] { ++ran; });
      });
  }
  BOOST_TEST(ran == 50 * 5);
}

BOOST_AUTO_TEST_CASE(pools_start_and_end_at_any_moment) {
  for (int i = 0; i < 50; ++i) {
    auto pool = pool_of(static_cast<size_t>(1 + i % 4));
    if (i % 2 == 0) pool->chunks(3, [](size_t) {});
  }
}

BOOST_AUTO_TEST_CASE(the_last_pool_leaves_no_thread_behind) {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  const auto before = threads();
  run_with_helper(*pool_of(2), [] {});
  for (int tries = 0; threads() != before && tries < 1'000'000; ++tries)
    std::this_thread::yield();  // the system may list joined threads for a moment
  BOOST_TEST(threads() == before);
}

BOOST_AUTO_TEST_CASE(two_pools_serve_one_thread) {
  auto outer = pool_of(2), inner = pool_of(2);
  std::atomic<int> ran{0};
  outer->chunks(4,
                [&](size_t) { inner->chunks(4, [&](size_t) { outer->chunks(2, [&](size_t) { ++ran; }); }); });
  BOOST_TEST(ran == 4 * 4 * 2);
}

BOOST_AUTO_TEST_CASE(refuses_a_senseless_number_of_threads) {
  BOOST_TEST((ThreadPool::make(0).status().code() == Code::InvalidArgument));
  BOOST_TEST(ThreadPool::make(5000).status().text() ==
             "a pool cannot have 5000 threads; 1 to 1024 are allowed");
}

BOOST_AUTO_TEST_CASE(inline_pool_runs_chunks_in_order_and_tasks_on_demand) {
  InlinePool pool;
  std::vector<size_t> order;
  pool.submit([&] {
    order.push_back(10);
    pool.submit([&] { order.push_back(11); });
  });
  pool.chunks(3, [&](size_t i) { order.push_back(i); });
  BOOST_TEST(pool.run_pending() == 2u);
  BOOST_TEST(pool.run_pending() == 0u);
  BOOST_TEST((order == std::vector<size_t>{0, 1, 2, 10, 11}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::pool_test
