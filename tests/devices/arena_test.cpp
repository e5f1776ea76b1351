#include "devices/arena.h"

#include <sys/mman.h>

#include <boost/test/unit_test.hpp>

#include <cstring>

namespace troupe::arena_test {
namespace {

BOOST_AUTO_TEST_SUITE(arena)

constexpr uint64_t mebibyte = 1 << 20;

BOOST_AUTO_TEST_CASE(takes_nothing_until_asked_and_never_moves) {
  Arena arena({.cap = 64 * mebibyte});
  BOOST_TEST(arena.committed() == 0u);
  BOOST_REQUIRE(arena.commit(1).ok());
  BOOST_TEST(arena.committed() == Arena::granule);
  std::byte* const data = arena.data();
  BOOST_TEST(reinterpret_cast<uintptr_t>(data) % Arena::granule == 0u);
  std::memset(data, 7, arena.committed());
  BOOST_REQUIRE(arena.commit(64 * mebibyte).ok());
  BOOST_REQUIRE(arena.commit(3).ok());  // less than is committed, so nothing is done
  BOOST_TEST(arena.committed() == 64 * mebibyte);
  BOOST_TEST(arena.data() == data);
  data[64 * mebibyte - 1] = std::byte{1};
  BOOST_TEST((data[Arena::granule - 1] == std::byte{7}));
}

BOOST_AUTO_TEST_CASE(stops_at_its_cap) {
  Arena arena({.cap = 5 * mebibyte});
  BOOST_TEST(arena.cap() == 4 * mebibyte);  // whole granules
  const Status past = arena.commit(4 * mebibyte + 1);
  BOOST_TEST((past.code() == Code::ResourceExhausted));
  BOOST_TEST(past.text() == "the memory cap is 4194304 bytes");
  BOOST_TEST(arena.commit(4 * mebibyte).ok());
}

BOOST_AUTO_TEST_CASE(a_cap_beyond_all_addresses_is_an_error) {
  for (const auto& shared : {std::shared_ptr<SharedArenas>(), std::make_shared<SharedArenas>()}) {
    Arena arena({.cap = uint64_t{1} << 62, .shared = shared});
    for (int again = 0; again < 2; ++again) {
      const Status status = arena.commit(1);
      BOOST_TEST((status.code() == Code::ResourceExhausted));
      BOOST_TEST(status.text().find("4611686018427387904") != std::string::npos);
    }
    BOOST_TEST(arena.descriptor() == -1);
  }
}

BOOST_AUTO_TEST_CASE(discarded_pages_read_as_zero) {
  for (const auto& shared : {std::shared_ptr<SharedArenas>(), std::make_shared<SharedArenas>()}) {
    Arena arena({.cap = 4 * mebibyte, .shared = shared});
    BOOST_REQUIRE(arena.commit(2 * mebibyte).ok());
    std::memset(arena.data(), 7, mebibyte);
    arena.discard(100, mebibyte / 2);
    BOOST_TEST((arena.data()[4095] == std::byte{7}));  // a page that is discarded only in part stays
    BOOST_TEST((arena.data()[4096] == std::byte{0}));
    BOOST_TEST((arena.data()[mebibyte / 2 + 4096] == std::byte{7}));
  }
}

BOOST_AUTO_TEST_CASE(a_shared_one_can_be_mapped_again) {
  Arena arena({.cap = 4 * mebibyte, .shared = std::make_shared<SharedArenas>()});
  BOOST_REQUIRE(arena.commit(mebibyte).ok());
  arena.data()[12345] = std::byte{42};
  void* const mapped = mmap(nullptr, arena.cap(), PROT_READ, MAP_SHARED, arena.descriptor(), 0);
  BOOST_REQUIRE(mapped != MAP_FAILED);
  BOOST_TEST((static_cast<std::byte*>(mapped)[12345] == std::byte{42}));
  munmap(mapped, arena.cap());
  BOOST_TEST(Arena({.cap = mebibyte}).descriptor() == -1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::arena_test
