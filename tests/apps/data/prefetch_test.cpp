// Batches that other threads make ahead: their order, how many there are, what failures do, and how the threads end.
#include "apps/data/stream/prefetch.h"

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <latch>

namespace troupe::data::prefetch_test {
namespace {

/// Batches of one number, that of their step. Fails at one step.
class Numbers final : public Batches {
 public:
  explicit Numbers(std::atomic<int>& read, std::optional<uint64_t> failing = {})
      : Batches(1000, 1), read_(read), failing_(failing) {}
  Result<Dataset> at(uint64_t step) override {
    ++read_;
    if (step == failing_) return data_loss("step " + std::to_string(step) + " is damaged");
    return Dataset({{"x", Tensor::vector<int64_t>({static_cast<int64_t>(step)})}});
  }

 private:
  std::atomic<int>& read_;
  std::optional<uint64_t> failing_;
};

int64_t number_of(const Dataset& batch) { return batch.find("x")->as<int64_t>()[0]; }

struct Fixture {
  std::unique_ptr<Batches> numbers(std::optional<uint64_t> failing = {}) {
    return std::make_unique<Numbers>(read, failing);
  }
  std::atomic<int> read = 0;
};

BOOST_FIXTURE_TEST_SUITE(prefetch, Fixture)

// A later batch is ready before the earlier ones: the map of step 0 waits for that of step 3.
BOOST_AUTO_TEST_CASE(batches_come_in_order_whichever_is_ready_first) {
  std::latch last_is_mapped(1);
  Prefetch batches(numbers(), {.ahead = 4, .threads = 4}, [&](uint64_t step, const Dataset& batch) {
    if (step == 0) last_is_mapped.wait();
    if (step == 3) last_is_mapped.count_down();
    return Result(Dataset({{"x", Tensor::vector<int64_t>({10 * number_of(batch)})}}));
  });
  for (uint64_t step = 0; step < 50; ++step)
    BOOST_TEST(number_of(value_or_throw(batches.at(step))) == static_cast<int64_t>(10 * step));
  for (const uint64_t step : {7u, 8u, 3u, 3u, 900u})
    BOOST_TEST(number_of(value_or_throw(batches.at(step))) == static_cast<int64_t>(10 * step));
}

// Nobody takes the batches after the first one, so no more than `ahead` others are read.
BOOST_AUTO_TEST_CASE(only_so_many_batches_are_made_ahead) {
  for (const size_t threads : {1, 3}) {
    read = 0;
    {
      Prefetch batches(numbers(), {.ahead = 5, .threads = threads});
      BOOST_TEST(batches.at(0).ok());
      while (read < 6) std::this_thread::yield();
      while (batches.queue()->ready < 5) std::this_thread::yield();
      BOOST_TEST(batches.queue()->most == 5u);
    }
    BOOST_TEST(read == 6);
  }
}

BOOST_AUTO_TEST_CASE(failures_are_those_of_their_step) {
  const auto double_fault = [](uint64_t step, Dataset batch) -> Result<Dataset> {
    if (step == 4) return invalid_argument("step 4 cannot be mapped");
    return batch;
  };
  Prefetch batches(numbers(6), {.ahead = 3, .threads = 2}, double_fault);
  for (uint64_t step = 0; step < 10; ++step) {
    const auto batch = batches.at(step);
    const Code expected = step == 4 ? Code::InvalidArgument : step == 6 ? Code::DataLoss : Code::Ok;
    BOOST_TEST((batch.status().code() == expected), "step " << step << ": " << batch.status().message());
  }
}

BOOST_AUTO_TEST_CASE(threads_end_while_batches_are_in_work) {
  std::latch in_work(2);
  Prefetch batches(numbers(), {.ahead = 8, .threads = 2}, [&](uint64_t step, Dataset batch) {
    if (step == 1 || step == 2) in_work.count_down();
    return Result(std::move(batch));
  });
  BOOST_TEST(batches.at(0).ok());
  in_work.wait();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::data::prefetch_test
