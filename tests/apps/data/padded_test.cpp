// Columns of lists of different lengths: padded to the longest of a batch, and batches of samples of like length.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "apps/train/data/train_data.h"
#include "messages/env/real_disk.h"
#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/config/run_file.h"
#include "tests/support/program.h"
#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tf_record.h"
#include "tests/support/whole_checkpoint.h"

namespace troupe::train::padded_test {
namespace {

using test::Program;
using Numbers = std::vector<int64_t>;

constexpr int samples = 100;
constexpr const char* model = R"toml(
[data.ragged]
x = { feature = "words", dtype = "int64", pad = -1 }
label = { feature = "id", pad = 0 }
[model.variables]
weights = { shape = [10], init = "normal" }
[model.graph]
values = "reshape(gather(weights, reshape(maximum(x, 0), [-1])), shape(x)) * cast(greater_equal(x, 0), 'float')"
loss = "mean(square(sum(values, 1) - cast(x_lengths, 'float')))"
[train]
loss = "loss"
optimizer = { type = "sgd", lr = 0.001 }
max_steps = 60
)toml";

/// Files of Examples: sample i has (7 i modulo 23) words.
struct Setting {
  Setting() {
    for (int shard = 0; shard < 2; ++shard) {
      std::string bytes;
      for (int id = shard * samples / 2; id < (shard + 1) * samples / 2; ++id)
        bytes += test::tf_record(test::example({{"id", {id}}, {"words", words(id)}}));
      folder.write("shard" + std::to_string(shard), bytes);
    }
  }
  static Numbers words(int64_t id) {
    Numbers all;
    for (int64_t i = 0; i < 7 * id % 23; ++i) all.push_back((id + i) % 10);
    return all;
  }

  std::string text(const std::string& more = "", const std::string& rest = model) const {
    return "run = { name = \"run\", seed = 3, threads = 2 }\n[data]\nformat = \"tfrecord\"\ntrain = [\"" +
           folder.path() + "/shard0\", \"" + folder.path() + "/shard1\"]\nbatch = 8\n" + more + rest;
  }
  data::TrainAndValid load(const std::string& more, const std::vector<std::string>& set = {}) {
    const auto config = value_or_throw(config::parse(text(more), set));
    return value_or_throw(load_data(disk, config));
  }

  const test::TemporaryFolder folder;
  RealDisk disk;
};

/// Returns the ids of a batch, and checks that its rows are the words of its samples.
Numbers checked_ids(const data::Dataset& batch) {
  const Tensor &x = *batch.find("x"), &label = *batch.find("label");
  const auto lengths = batch.find("x_lengths")->as<int32_t>();
  BOOST_TEST(label.shape()[1] == 1);
  BOOST_TEST(x.shape()[1] == std::ranges::max(lengths));
  Numbers ids;
  for (int64_t i = 0; i < batch.samples(); ++i) {
    ids.push_back(label.as<int32_t>()[static_cast<size_t>(i)]);
    Numbers expected = Setting::words(ids.back());
    BOOST_TEST(lengths[static_cast<size_t>(i)] == static_cast<int32_t>(expected.size()));
    expected.resize(static_cast<size_t>(x.shape()[1]), -1);
    const auto row = x.as<int64_t>().subspan(static_cast<size_t>(i) * expected.size(), expected.size());
    BOOST_TEST(Numbers(row.begin(), row.end()) == expected, boost::test_tools::per_element());
  }
  return ids;
}

const std::string bucket = "bucket = { by = \"x\", bounds = [4, 9, 15] }\n";

size_t bucket_of(int64_t id) {
  const auto length = static_cast<int64_t>(Setting::words(id).size());
  return length <= 4 ? 0 : length <= 9 ? 1 : length <= 15 ? 2 : 3;
}

BOOST_FIXTURE_TEST_SUITE(padded_columns, Setting)

BOOST_AUTO_TEST_CASE(lists_are_filled_up_to_the_longest_of_their_batch) {
  for (const std::string read : {"whole", "stream"}) {
    const auto set = load("", {"data.read=" + read}).train;
    Numbers all;
    const auto batches = set->batches(8, 5, true);
    for (uint64_t step = 0; step < 13; ++step)
      for (const int64_t id : checked_ids(value_or_throw(batches->at(step)))) all.push_back(id);
    std::ranges::sort(all);
    BOOST_TEST(all.size() == 100u);
    BOOST_TEST((std::ranges::adjacent_find(all) == all.end()));
  }
}

BOOST_AUTO_TEST_CASE(batches_of_buckets_have_samples_of_like_length) {
  for (const std::string read : {"read = \"whole\"\n", "read = \"stream\"\nbuffer = 20\n"}) {
    const auto set = load(read + bucket).train;
    const auto batches = set->batches(8, 5, true);
    const auto per_epoch = static_cast<uint64_t>(batches->per_epoch());
    std::vector<Numbers> by_step;
    for (uint64_t epoch = 0; epoch < 3; ++epoch) {
      Numbers all;
      for (uint64_t i = 0; i < per_epoch; ++i) {
        by_step.push_back(checked_ids(value_or_throw(batches->at(epoch * per_epoch + i))));
        for (const int64_t id : by_step.back()) {
          BOOST_TEST(bucket_of(id) == bucket_of(by_step.back()[0]));
          all.push_back(id);
        }
      }
      std::ranges::sort(all);
      BOOST_TEST(all.size() == 100u);
      BOOST_TEST((std::ranges::adjacent_find(all) == all.end()));
    }
    BOOST_TEST((by_step[0] != by_step[per_epoch]));
    const auto again = set->batches(8, 5, true);
    for (const uint64_t step : {per_epoch + 5, per_epoch + 2, per_epoch + 3, uint64_t{0}, 3 * per_epoch - 1})
      BOOST_TEST(checked_ids(value_or_throw(again->at(step))) == by_step[step],
                 boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(runs_with_buckets_are_resumed) {
  folder.write("run.toml", text("read = \"stream\"\nbuffer = 20\n" + bucket));
  const auto run = [&](const std::string& name, int steps, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"train", folder.path() + "/run.toml",
                                          "--set", "run.directory=" + folder.path() + '/' + name,
                                          "--set", "train.max_steps=" + std::to_string(steps)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Program program(test::troupe_program(), arguments);
    BOOST_TEST_REQUIRE(program.end() == 0, program.output());
    std::vector<std::string> skipped;
    return value_or_throw(
        test::load_newest(disk, folder.path() + '/' + name + "/run/001/checkpoints", skipped));
  };
  const auto undisturbed = run("undisturbed", 37);
  run("resumed", 19);
  const auto resumed = run("resumed", 37, {"--resume", "auto"});
  BOOST_TEST_REQUIRE(resumed.tensors.size() == undisturbed.tensors.size());
  for (size_t i = 0; i < resumed.tensors.size(); ++i)
    BOOST_TEST(identical(resumed.tensors[i].value, undisturbed.tensors[i].value));
}

BOOST_AUTO_TEST_CASE(lines_are_lists_of_numbers) {
  const std::string file = folder.write("lists", "1, 2;3\n\n-4 5\n");
  const std::string rest =
      "[data.ragged]\nx = { dtype = \"double\", pad = 0.5 }\n[model.graph]\nloss = \"mean(x)\"\n"
      "[model.variables]\nw = { shape = [1], init = \"zeros\" }\n"
      "[train]\nloss = \"loss + mean(cast(w, 'double'))\"\noptimizer = { type = \"sgd\", lr = 0.1 }\n"
      "max_steps = 1\n";
  const auto config =
      value_or_throw(config::parse(text("", rest), {"data.format=lines", "data.train=[\"" + file + "\"]"}));
  const auto batch = test::all_samples(*value_or_throw(load_data(disk, config)).train);
  BOOST_TEST(batch.find("x")->signature() == "double[3,3]");
  const auto x = batch.find("x")->as<double>();
  BOOST_TEST(
      std::vector<double>(x.begin(), x.end()) == (std::vector<double>{1, 2, 3, 0.5, 0.5, 0.5, -4, 5, 0.5}),
      boost::test_tools::per_element());
  folder.write("lists", "1 2\nx 4\n");
  const auto damaged = load_data(disk, config).status();
  BOOST_TEST((damaged.code() == Code::DataLoss));
  BOOST_TEST(damaged.text().starts_with(
      "data.ragged.x: in \"x 4\": \"x\" is not a number of type double; words need a list of those that are "
      "known: vocabulary = \"words.txt\", or most_words = 1000, which takes those of the samples; "
      "data.ragged.x at run.toml:"));
}

BOOST_AUTO_TEST_CASE(mistakes_are_told) {
  folder.write("shard1", test::tf_record("no Example"));
  const auto set = load("", {"data.read=stream"}).train;
  BOOST_TEST((set->batches(samples, 0, false)->at(0).status().code() == Code::DataLoss));
  const auto refusal = [&](const std::vector<std::string>& change) {
    return config::mistakes(text(bucket), change);
  };
  BOOST_TEST(refusal({}) == "");
  for (const auto& [change, text] : std::vector<std::pair<std::string, std::string>>{
           {"data.bucket.by=y", "data.bucket.by: there is no ragged column 'y'"},
           {"data.bucket.bounds=[9, 4]", "data.bucket.bounds: each bound must be above the one before"},
           {"data.ragged.x.pad=0.5", "data.ragged.x.pad: expected an integer, as the elements are"},
           {"data.ragged.x.from=imag", "data.ragged.x: the data has no column 'imag'"},
           {"data.format=csv", "expected a string for each"}})
    BOOST_TEST(refusal({change}).find(text) != std::string::npos, refusal({change}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::train::padded_test
