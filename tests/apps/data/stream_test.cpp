// Data sets that stay in their files: what is drawn in an epoch, how a batch follows from its step, and what is held out.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <set>

#include "apps/data/load.h"
#include "messages/env/real_disk.h"
#include "tests/support/memory_disk.h"
#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"

namespace troupe::data::stream_test {
namespace {

/// A disk with three files whose samples are numbers from 0 on, and whose labels are the numbers modulo 3.
struct Setting {
  Setting() {
    write("a", 0, 37);
    write("b", 37, 38);
    write("c", 38, 90);
    options.train = {"a", "b", "c"};
    options.stream = true;
    options.buffer = 20;
    options.inputs = {{"x", "image", std::vector<int64_t>{}, DType::Int32}};
  }
  void write(const std::string& file, int from, int to) {
    std::string text;
    for (int i = from; i < to; ++i) text += std::to_string(i) + ',' + std::to_string(i % 3) + '\n';
    disk.write(file, text);
  }
  TrainAndValid load(uint64_t seed = 1) { return value_or_throw(data::load(disk, options, seed)); }

  test::MemoryDisk disk;
  Options options;
};

/// Returns the samples of a batch, and checks their labels.
std::vector<int> numbers(Batches& batches, uint64_t step) {
  const Dataset batch = value_or_throw(batches.at(step));
  const auto x = batch.find("x")->as<int32_t>(), label = batch.find("label")->as<int32_t>();
  for (size_t i = 0; i < x.size(); ++i) BOOST_TEST(label[i] == x[i] % 3);
  return {x.begin(), x.end()};
}

std::vector<int> epoch(Batches& batches, uint64_t number) {
  std::vector<int> all;
  const auto per_epoch = static_cast<uint64_t>(batches.per_epoch());
  for (uint64_t i = 0; i < per_epoch; ++i)
    for (const int x : numbers(batches, number * per_epoch + i)) all.push_back(x);
  return all;
}

std::vector<int> counting(int n) {
  std::vector<int> all;
  for (int i = 0; i < n; ++i) all.push_back(i);
  return all;
}

BOOST_FIXTURE_TEST_SUITE(streams, Setting)

BOOST_AUTO_TEST_CASE(each_epoch_has_every_sample_once) {
  for (const int64_t buffer : {1, 7, 20, 90, 1000}) {
    options.buffer = buffer;
    const auto batches = load().train->batches(8, 5, true);
    BOOST_TEST(batches->per_epoch() == 12);
    std::set<std::vector<int>> orders;
    for (uint64_t i = 0; i < 3; ++i) {
      auto drawn = epoch(*batches, i);
      orders.insert(drawn);
      std::ranges::sort(drawn);
      BOOST_TEST(drawn == counting(90), boost::test_tools::per_element());
    }
    BOOST_TEST(orders.size() == 3u, "epochs have the same order with a buffer of " << buffer);
  }
}

BOOST_AUTO_TEST_CASE(samples_keep_the_order_of_the_files_unless_they_are_shuffled) {
  const auto batches = load().train->batches(8, 5, false);
  BOOST_TEST(epoch(*batches, 0) == counting(90), boost::test_tools::per_element());
  BOOST_TEST(epoch(*batches, 1) == counting(90), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_batch_follows_from_seed_and_step_alone) {
  const auto set = load().train;
  const auto in_turn = set->batches(8, 5, true), here_and_there = set->batches(8, 5, true),
             other = set->batches(8, 6, true);
  std::vector<std::vector<int>> by_step;
  for (uint64_t step = 0; step < 36; ++step) by_step.push_back(numbers(*in_turn, step));
  for (const uint64_t step : {7, 8, 9, 3, 35, 12, 11, 11, 0, 1})
    BOOST_TEST(numbers(*here_and_there, step) == by_step[step], boost::test_tools::per_element());
  BOOST_TEST((numbers(*other, 0) != by_step[0]));
}

// A buffer mixes samples of different places: a batch of the first epoch does not come from one place of a file.
BOOST_AUTO_TEST_CASE(a_buffer_mixes_samples_of_different_places) {
  options.buffer = 45;
  const auto batches = load().train->batches(30, 5, true);
  const auto drawn = numbers(*batches, 0);
  const auto [least, greatest] = std::ranges::minmax(drawn);
  BOOST_TEST(greatest - least > 45);
}

BOOST_AUTO_TEST_CASE(samples_that_are_held_out_are_never_trained_on) {
  options.valid_split = 0.25;
  const auto held_out = [&](uint64_t seed) {
    const auto data = load(seed);
    auto train = epoch(*data.train->batches(7, 5, true), 0),
         valid = epoch(*data.valid->batches(7, 5, false), 0);
    BOOST_TEST(static_cast<int64_t>(train.size()) == data.train->samples());
    BOOST_TEST(valid.size() > 10u);
    BOOST_TEST(valid.size() < 40u);
    train.insert(train.end(), valid.begin(), valid.end());
    std::ranges::sort(train);
    BOOST_TEST(train == counting(90), boost::test_tools::per_element());
    return valid;
  };
  BOOST_TEST((held_out(1) == held_out(1)));
  BOOST_TEST((held_out(1) != held_out(2)));
  options.valid_split = 1e-9;
  BOOST_TEST(data::load(disk, options, 1)
                 .status()
                 .text()
                 .find("leaves 90 samples for training and 0 for "
                       "validation") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(each_sample_is_held_out_in_one_fold) {
  options.valid_split = 1.0 / 3;
  std::vector<int> all;
  for (options.valid_fold = 0; options.valid_fold < 3; ++options.valid_fold) {
    const auto part = epoch(*load().valid->batches(7, 5, false), 0);
    all.insert(all.end(), part.begin(), part.end());
  }
  std::ranges::sort(all);
  BOOST_TEST(all == counting(90), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(files_for_validation_are_streams_too) {
  options.train = {"a", "b"};
  options.valid = {"c"};
  const auto data = load();
  BOOST_TEST(data.train->samples() == 38);
  BOOST_TEST(data.valid->samples() == 52);
  BOOST_TEST(epoch(*data.valid->batches(52, 0, false), 0).front() == 38);
}

BOOST_AUTO_TEST_CASE(streams_and_loaded_data_have_the_same_columns) {
  const auto stream = load();
  options.stream = false;
  const auto whole = load();
  BOOST_TEST(whole.train->samples() == stream.train->samples());
  BOOST_TEST(epoch(*whole.train->batches(9, 0, false), 0) == epoch(*stream.train->batches(9, 0, false), 0),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(damage_is_reported_when_a_batch_needs_the_row) {
  disk.write("c", "38,2\n39,0\nx,1\n");
  const auto data = load();
  const auto batches = data.train->batches(41, 0, false);
  const auto failure = batches->at(0).status();
  BOOST_TEST((failure.code() == Code::DataLoss));
  BOOST_TEST(failure.text() == "c: row 3, column 1: 'x' is not a finite number");
  BOOST_TEST((batches->at(0).status().code() == Code::DataLoss));
}

BOOST_AUTO_TEST_CASE(a_file_that_changes_after_it_was_indexed_is_refused) {
  const auto data = load();
  write("c", 38, 60);
  const auto failure = data.train->batches(90, 0, false)->at(0).status();
  BOOST_TEST((failure.code() == Code::FailedPrecondition), failure.message());
}

// The rows have 8 bytes, and the file loses its end between two of them, behind what the reader has in its buffer.
BOOST_AUTO_TEST_CASE(a_file_that_is_truncated_while_it_is_read_is_named) {
  std::string rows;
  for (int i = 10'000; i < 100'000; ++i) rows += std::to_string(i) + ',' + std::to_string(i % 3) + '\n';
  const test::TemporaryFolder folder;
  const std::string file = folder.write("x.csv", rows);
  RealDisk real;
  options.train = {file};
  const auto data = value_or_throw(data::load(real, options, 1));
  const auto batches = data.train->batches(1000, 0, false);
  BOOST_TEST(numbers(*batches, 0).front() == 10'000);
  std::filesystem::resize_file(file, uint64_t{8} * 50'000);
  Status failure;
  for (uint64_t step = 1; step < 90 && failure.ok(); ++step) failure = batches->at(step).status();
  BOOST_TEST((failure.code() == Code::DataLoss));
  BOOST_TEST(failure.text() == file +
                                   ": the file was truncated while it was read: record 50001 is missing, but "
                                   "there were 90000 records at the start");
}

BOOST_AUTO_TEST_CASE(files_without_samples_are_refused) {
  disk.write("b", "\n\n");
  BOOST_TEST((data::load(disk, options, 1).status().code() == Code::DataLoss));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::data::stream_test
