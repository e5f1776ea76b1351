// Checkpoints in a store of objects that fails at any moment: the last complete one is found, and old ones go (robustness.md I7).
#include <boost/test/unit_test.hpp>

#include "messages/objects/s3_disk.h"
#include "tests/support/net/s3_server.h"
#include "tests/support/whole_checkpoint.h"

namespace troupe::stored_checkpoint_test {
namespace {

using Failure = test::S3Server::Failure;

const std::string folder = "s3://lab/runs/digits/001";

test::WholeCheckpoint checkpoint_of(uint64_t round) {
  std::vector<float> values(2000, static_cast<float>(round));
  return {round,
          "n",
          {{"w", Tensor::vector<float>(std::span<const float>(values)), round},
           {"b", Tensor::scalar(static_cast<float>(round)), round}}};
}

struct Fixture {
  Status save(uint64_t round, size_t keep = 2) {
    return test::save(*disk, folder, checkpoint_of(round), keep, 2);
  }
  /// Returns the round of the newest checkpoint, after checking its values; 0 if there is none.
  uint64_t newest() {
    std::vector<std::string> skipped;
    const auto loaded = test::load_newest(*disk, folder, skipped);
    BOOST_TEST_REQUIRE(skipped.empty());
    if (loaded.status().code() == Code::NotFound) return 0;
    BOOST_TEST_REQUIRE(loaded.ok(), loaded.status().message());
    const auto expected = checkpoint_of(loaded->round);
    for (size_t i = 0; i < expected.tensors.size(); ++i)
      BOOST_TEST_REQUIRE(identical(loaded->tensors[i].value, expected.tensors[i].value));
    return loaded->round;
  }

  test::S3Server server;
  std::unique_ptr<ObjectDisk> disk = value_or_throw(make_s3_disk(server.options()));
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(stored_checkpoint, Fixture)

BOOST_AUTO_TEST_CASE(the_newest_is_loaded_and_old_ones_go) {
  BOOST_TEST(newest() == 0u);
  for (uint64_t round = 1; round <= 4; ++round) {
    throw_if_failed(save(round));
    BOOST_TEST(newest() == round);
  }
  BOOST_TEST(value_or_throw(CheckpointFiles(*disk, folder).names()) ==
                 (std::vector<std::string>{"000003-round-3", "000004-round-4"}),
             boost::test_tools::per_element());
  BOOST_TEST(server.objects().size() == 6u);
}

BOOST_AUTO_TEST_CASE(when_the_store_goes_at_any_request_the_last_complete_one_is_there) {
  throw_if_failed(save(1));
  const size_t before = server.requests();
  throw_if_failed(save(2));
  const size_t requests = server.requests() - before;
  for (const Failure failure : {Failure::Unavailable, Failure::AnswerLost})
    for (size_t first = 0; first < requests; ++first) {
      size_t seen = 0;
      const uint64_t last = newest();
      server.fail_where(failure, [&, first](auto, auto) { return seen++ >= first; });
      const Status failed = save(last + 1);
      BOOST_TEST_REQUIRE((failed.code() == Code::Unavailable), failed.message());
      server.fail_where(failure, [](auto, auto) { return false; });
      const uint64_t found = newest();
      BOOST_TEST_REQUIRE((found == last || found == last + 1), found << " was found after " << last);
    }
  throw_if_failed(save(100, 1));
  BOOST_TEST(newest() == 100u);
  BOOST_TEST(server.objects().size() == 3u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::stored_checkpoint_test
