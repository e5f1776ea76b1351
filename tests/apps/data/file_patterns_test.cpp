// Patterns of files in run files: which files they stand for, and what is said if there are none.
#include "apps/data/file_patterns.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "apps/data/load.h"
#include "messages/env/real_disk.h"
#include "tests/apps/config/run_file.h"
#include "tests/support/temporary_folder.h"

namespace troupe::data::file_patterns_test {
namespace {

struct Shards {
  Shards() {
    std::filesystem::create_directories(folder.path() + "/shards/train-9.csv");  // a folder, which is no file
    for (const int i : {2, 0, 10, 1})
      folder.write("shards/train-" + std::to_string(i) + ".csv", std::to_string(i) + ",0\n");
    folder.write("shards/.train-3.csv.new", "");
    folder.write("shards/valid.csv", "7,1\n");
    folder.write("shards/odd[1].csv", "8,1\n");
  }
  std::string path(const std::string& name) const { return folder.path() + "/shards/" + name; }
  Result<std::vector<std::string>> matching(const std::string& pattern) {
    Options options;
    options.train = {path(pattern)};
    TROUPE_ASSIGN(options, with_matching_files(disk, std::move(options)));
    for (std::string& one : options.train) one = one.substr(path("").size());
    return options.train;
  }
  void check(const std::string& pattern, const std::vector<std::string>& files) {
    BOOST_TEST(value_or_throw(matching(pattern)) == files, boost::test_tools::per_element());
  }

  const test::TemporaryFolder folder;
  RealDisk disk;
};

BOOST_FIXTURE_TEST_SUITE(file_patterns, Shards)

BOOST_AUTO_TEST_CASE(patterns_stand_for_files_in_the_order_of_their_paths) {
  check("train-*.csv", {"train-0.csv", "train-1.csv", "train-10.csv", "train-2.csv"});
  check("train-?.csv", {"train-0.csv", "train-1.csv", "train-2.csv"});
  check("train-[02].csv", {"train-0.csv", "train-2.csv"});
  check("train-[!02]*.csv", {"train-1.csv", "train-10.csv"});
}

BOOST_AUTO_TEST_CASE(a_path_that_exists_is_no_pattern) {
  check("odd[1].csv", {"odd[1].csv"});
  check("valid.csv", {"valid.csv"});
  check("missing.csv", {"missing.csv"});  // opening it fails
}

BOOST_AUTO_TEST_CASE(hidden_files_match_only_if_they_are_named) {
  check(".train*", {".train-3.csv.new"});
  check("*[v.]*", {"odd[1].csv", "train-0.csv", "train-1.csv", "train-10.csv", "train-2.csv", "valid.csv"});
}

BOOST_AUTO_TEST_CASE(a_pattern_without_files_is_named_with_its_folder) {
  BOOST_TEST((matching("test-*.csv").status().code() == Code::NotFound));
  BOOST_TEST(matching("test-*.csv").status().text() ==
             "data.train: no file matches 'test-*.csv' in the folder " + folder.path() + "/shards");
  BOOST_TEST(matching("none/*/a.csv").status().text() ==
             "data.train: no file matches '*/a.csv' in the folder " + folder.path() +
                 "/shards/none, which does not exist");
}

BOOST_AUTO_TEST_CASE(data_sets_are_loaded_from_patterns) {
  for (const bool stream : {false, true}) {
    Options options;
    options.train = {path("train-*.csv")};
    options.valid = {path("v*.csv")};
    options.stream = stream;
    options.inputs = {{"x", "image", std::vector<int64_t>{}, DType::Int32}};
    const auto data = value_or_throw(load(disk, options, 1));
    const Dataset samples = value_or_throw(data.train->batches(4, 0, false)->at(0));
    const auto x = samples.find("x")->as<int32_t>();
    BOOST_TEST(std::vector<int>(x.begin(), x.end()) == std::vector<int>({0, 1, 10, 2}),
               boost::test_tools::per_element());
    BOOST_TEST(data.valid->samples() == 1);
  }
}

BOOST_AUTO_TEST_CASE(label_files_are_counted_when_they_are_known) {
  Options options;
  options.format = "npy";
  options.train = {path("train-?.csv")};
  options.train_labels = {path("train-[01].csv")};
  BOOST_TEST(load(disk, options, 1).status().text() == "data.train_labels: 2 label files match for 3 files");
  const std::string text = config::good;
  BOOST_TEST(config::mistakes(text, {"data.format=npy", "data.train=x-*.npy",
                                     "data.train_labels=[\"a\", \"b\"]", "data.valid={split=0.5}"}) == "");
  BOOST_TEST(config::mistakes(text, {"data.format=npy", "data.train=x.npy",
                                     "data.train_labels=[\"a\", \"b\"]", "data.valid={split=0.5}"})
                 .find("2 label files for 1 files") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::data::file_patterns_test
