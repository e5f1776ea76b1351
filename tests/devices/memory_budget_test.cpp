// The memory that several allocators share: no allocator exceeds the cap, and free memory of one is available to the others.
#include "devices/memory_budget.h"

#include <boost/test/unit_test.hpp>

#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>
#include <vector>

#include "devices/caching_allocator.h"
#include "devices/cgroup.h"
#include "messages/values/memory_claims.h"
#include "tests/support/temporary_folder.h"

namespace troupe::memory_budget_test {
namespace {

constexpr size_t mebibyte = 1 << 20;

struct Fixture {
  static constexpr size_t cap = 64 * mebibyte;
  BufferRef get(size_t bytes, CachingAllocator& allocator) {
    return value_or_throw(allocator.allocate(bytes));
  }

  std::shared_ptr<MemoryBudget> budget = std::make_shared<MemoryBudget>(cap);
  std::optional<CachingAllocator> one{std::in_place, Arena::Options{.cap = cap}, budget},
      other{std::in_place, Arena::Options{.cap = cap}, budget};
};

BOOST_FIXTURE_TEST_SUITE(memory_budget, Fixture)

BOOST_AUTO_TEST_CASE(allocators_that_share_a_budget_stay_within_it) {
  const BufferRef held = get(40 * mebibyte, *one);
  const Status full = other->allocate(40 * mebibyte).status();
  BOOST_TEST((full.code() == Code::ResourceExhausted));
  BOOST_TEST(full.text() ==
             "an allocation of 41943040 bytes: the memory cap is 67108864 bytes "
             "(RuntimeOptions::memory, --memory), 41943040 bytes are in use");
  BOOST_TEST(get(20 * mebibyte, *other)->bytes == 20 * mebibyte);
}

// one has 40 MiB free between buffers in use; other needs them.
BOOST_AUTO_TEST_CASE(what_one_keeps_free_serves_the_other) {
  for (int again = 0; again < 3; ++again) {
    const BufferRef before = get(4 * mebibyte, *one);
    std::optional<BufferRef> large = get(40 * mebibyte, *one);
    const BufferRef after = get(4 * mebibyte, *one);
    std::memset(after->data, 7, after->bytes);
    large.reset();
    BufferRef there = get(40 * mebibyte, *other);
    std::memset(there->data, 1, there->bytes);
    BOOST_TEST(budget->used() <= cap);
    BOOST_TEST((after->data[after->bytes - 1] == std::byte{7}));
    // one cannot have the memory back until other releases it.
    BOOST_TEST((one->allocate(40 * mebibyte).status().code() == Code::ResourceExhausted));
    there = {};
    const BufferRef back = get(40 * mebibyte, *one);
    std::memset(back->data, 2, back->bytes);
    BOOST_TEST(budget->used() <= cap);
  }
  one.reset();
  other.reset();
  BOOST_TEST(budget->used() == 0u);
}

BOOST_AUTO_TEST_CASE(small_blocks_are_paid_for_by_the_slab) {
  const uint64_t before = budget->used();
  std::vector<BufferRef> scalars;
  for (int i = 0; i < 1000; ++i) scalars.push_back(get(4, *one));
  BOOST_TEST(budget->used() - before <= 2 * Arena::granule);
}

BOOST_AUTO_TEST_CASE(what_is_claimed_counts_until_it_is_let_go) {
  BufferRef claim = value_or_throw(one->claim(40 * mebibyte));
  BOOST_TEST(budget->used() == 40 * mebibyte);
  BOOST_TEST(!one->claim(40 * mebibyte));
  BOOST_TEST(!other->allocate(40 * mebibyte));
  one.reset();
  claim = {};
  BOOST_TEST(get(40 * mebibyte, *other)->bytes == 40 * mebibyte);
}

BOOST_AUTO_TEST_CASE(threads_that_are_short_of_memory_do_not_stop_each_other) {
  std::vector<std::thread> threads;
  for (CachingAllocator* const allocator : {&*one, &*other, &*one, &*other})
    threads.emplace_back([allocator] {
      for (int i = 0; i < 200; ++i) {
        const auto buffer = allocator->allocate((1 + i % 40) * mebibyte);
        if (buffer) std::memset((*buffer)->data, 1, 4096);
      }
    });
  for (auto& thread : threads) thread.join();
  BOOST_TEST(budget->used() <= cap);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(cgroup)

struct Root {
  void file(const std::string& path, const std::string& content) const {
    std::filesystem::create_directories(std::filesystem::path(folder.path() + path).parent_path());
    folder.write(path.substr(1), content);
  }
  test::TemporaryFolder folder;
};

BOOST_FIXTURE_TEST_CASE(the_least_limit_on_the_way_up_counts, Root) {
  BOOST_TEST(!cgroup_memory_limit(folder.path()).has_value());
  file("/proc/self/cgroup", "0::/a/b\n");
  file("/sys/fs/cgroup/a/b/memory.max", "max\n");
  BOOST_TEST(!cgroup_memory_limit(folder.path()).has_value());
  file("/sys/fs/cgroup/a/memory.max", "1000000\n");
  BOOST_TEST(cgroup_memory_limit(folder.path()).value() == 1'000'000u);
  file("/sys/fs/cgroup/a/b/memory.max", "500000\n");
  BOOST_TEST(cgroup_memory_limit(folder.path()).value() == 500'000u);
}

BOOST_FIXTURE_TEST_CASE(version_one_is_known_too, Root) {
  file("/proc/self/cgroup", "5:cpu,memory:/a\n4:devices:/\n0::/\n");
  file("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "700000\n");
  BOOST_TEST(cgroup_memory_limit(folder.path()).value() == 700'000u);
}

// As in a container: the path of the group is that of the host, and does not exist.
BOOST_FIXTURE_TEST_CASE(a_group_that_is_not_seen_has_the_limit_of_the_topmost, Root) {
  file("/proc/self/cgroup", "0::/../../host/pod\n");
  file("/sys/fs/cgroup/memory.max", "300000\n");
  BOOST_TEST(cgroup_memory_limit(folder.path()).value() == 300'000u);
}

BOOST_AUTO_TEST_CASE(the_default_is_a_share_of_what_there_is) {
  BOOST_TEST(default_memory_cap() <= usable_memory() / 10 * 8);
  BOOST_TEST(default_memory_cap(4) == default_memory_cap() / 4);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::memory_budget_test
