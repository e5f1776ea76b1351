// Objects of the library that were moved to others: every call on one is refused, and the other has what it had.
#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <functional>
#include <utility>

#include "apps/event_writer.h"
#include "apps/samples.h"
#include "apps/training.h"
#include "tests/support/failure_of.h"
#include "tests/support/project_files.h"
#include "tests/support/temporary_folder.h"

namespace troupe::moved_objects_test {
namespace {

void check_refused(const std::string& object, const std::vector<std::function<void()>>& calls) {
  for (const auto& call : calls) {
    const Status status = test::failure_of(call);
    BOOST_TEST((status.code() == Code::FailedPrecondition));
    BOOST_TEST(status.text() == "the " + object + " has been moved to another object");
  }
}

const std::string digits = test::project_path("examples/digits.toml");

// NOLINTBEGIN(bugprone-use-after-move): that is what is tested

BOOST_AUTO_TEST_SUITE(moved_objects)

BOOST_AUTO_TEST_CASE(run_files) {
  RunFile first = RunFile::read(digits);
  const RunFile second = std::move(first);
  check_refused("run file", {[&] { (void)first.effective(); }, [&] { (void)first.train(); }});
  BOOST_TEST(!second.effective().empty());
  first = second;
  BOOST_TEST(first.effective() == second.effective());
}

BOOST_AUTO_TEST_CASE(samples_and_their_batches) {
  Samples first = Samples::read(digits, "valid");
  const Samples second = std::move(first);
  check_refused("set of samples", {[&] { (void)first.size(); }, [&] { (void)first.columns(); },
                                   [&] { (void)first.batches(); }});
  SampleBatches batches = second.batches({.size = 7});
  SampleBatches others = std::move(batches);
  check_refused("sequence of batches", {[&] { (void)batches.per_epoch(); }, [&] { (void)batches.at(0); }});
  BOOST_TEST(others.at(0)[0].second.shape()[0] == 7);
}

BOOST_AUTO_TEST_CASE(event_writers) {
  const test::TemporaryFolder folder;
  EventWriter first(folder.path());
  const std::string path = first.path();
  EventWriter second = std::move(first);
  check_refused("event writer", {[&] { (void)first.path(); },
                                 [&] {
                                   first.add_scalars(1, {{"loss", 0.5}});
                                 },
                                 [&] { first.add_summary(1, ""); },
                                 [&] {
                                   first.add_histograms(1, {{"weights", Tensor::vector<float>({1, 2})}});
                                 },
                                 [&] { first.add_profile(1, "step", {}); }, [&] { first.add_start(1); }});
  const auto bytes = std::filesystem::file_size(path);
  second.add_scalars(1, {{"loss", 0.5}});
  BOOST_TEST(second.path() == path);
  BOOST_TEST(std::filesystem::file_size(path) > bytes);
}

BOOST_AUTO_TEST_SUITE_END()

// NOLINTEND(bugprone-use-after-move)

}  // namespace
}  // namespace troupe::moved_objects_test
