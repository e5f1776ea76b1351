#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "apps/data/arrays/npy.h"
#include "apps/data/load.h"
#include "apps/data/random.h"
#include "messages/env/real_disk.h"
#include "tests/support/samples.h"

namespace troupe::data::data_test {
namespace {

std::string failure(const Status& status) { return std::string(name(status.code())) + ": " + status.text(); }

template <class T>
std::vector<T> elements(const Tensor& tensor) {
  const auto values = tensor.as<T>();
  return {values.begin(), values.end()};
}

/// Returns the bytes of an IDX file: magic number, element type, rank, dimensions, elements.
std::string idx(char element, std::vector<uint32_t> sizes, std::string elements) {
  std::string bytes{'\0', '\0', element, static_cast<char>(sizes.size())};
  for (const uint32_t size : sizes)
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(size >> shift);
  return bytes + elements;
}

/// A temporary folder, which is removed at the end of the test.
struct Folder {
  Folder() : path(std::filesystem::temp_directory_path() / ("troupe_data_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path / name, std::ios::binary) << bytes;
    return (path / name).string();
  }
  std::filesystem::path path;
};

std::string numbers(int64_t from, int64_t to) {
  std::string text;
  for (int64_t i = from; i < to; ++i) text += std::to_string(i) + ",0.5," + std::to_string(i % 3) + "\n";
  return text;
}

/// Returns a data set with the numbers 0 to n-1 in both columns.
Dataset counting(int64_t n) {
  std::vector<float> x(static_cast<size_t>(n));
  std::iota(x.begin(), x.end(), 0.0f);
  const Tensor values = Tensor::vector<float>(std::span<const float>(x));
  return Dataset({{"x", values.reshaped(Shape{n, 1})}, {"y", values}});
}

BOOST_AUTO_TEST_SUITE(datasets)

struct Loaded {
  Dataset train;
  std::optional<Dataset> valid;
};

Result<Loaded> load_here(const Options& options, uint64_t seed) {
  RealDisk disk;
  TROUPE_ASSIGN(const TrainAndValid data, load(disk, options, seed));
  Loaded loaded{test::all_samples(*data.train), {}};
  if (data.valid) loaded.valid = test::all_samples(*data.valid);
  return loaded;
}

BOOST_AUTO_TEST_CASE(each_sample_is_held_out_in_one_fold) {
  const Folder folder;
  Options options{.train = {folder.write("a.csv", numbers(0, 20))}, .valid_split = 1.0 / 3};
  std::vector<float> all;
  for (options.valid_fold = 0; options.valid_fold < 3; ++options.valid_fold) {
    const auto data = load_here(options, 7);
    BOOST_REQUIRE_MESSAGE(data.ok(), data.status().message());
    BOOST_TEST(data->train.samples() + data->valid->samples() == 20);
    const auto images = data->valid->find("image")->as<float>();
    for (int64_t i = 0; i < data->valid->samples(); ++i)
      all.push_back(
          images[static_cast<size_t>(i) * (images.size() / static_cast<size_t>(data->valid->samples()))]);
  }
  std::ranges::sort(all);
  BOOST_TEST(all.size() == 20u);
  for (size_t i = 1; i < all.size(); ++i) BOOST_TEST(all[i - 1] < all[i]);
}

BOOST_AUTO_TEST_CASE(files_are_joined_split_and_shaped) {
  const Folder folder;
  Options options{.train = {folder.write("a.csv", numbers(0, 60)), folder.write("b.csv", numbers(60, 100))},
                  .valid_split = 0.2};
  options.inputs = {{"x", "image", std::vector<int64_t>{2, 1}, DType::Double},
                    {"y", "label", std::vector<int64_t>{1}, DType::Float}};
  const auto data = load_here(options, 7);
  BOOST_REQUIRE_MESSAGE(data.ok(), data.status().message());
  BOOST_TEST(data->train.samples() == 80);
  BOOST_REQUIRE(data->valid.has_value());
  BOOST_TEST(data->valid->samples() == 20);
  BOOST_TEST(data->train.find("x")->signature() == "double[80,2,1]");
  BOOST_TEST(data->train.find("y")->signature() == "float[80,1]");
  BOOST_TEST(!data->train.find("image"));

  std::vector<double> seen;
  for (const Dataset* part : {&data->train, &*data->valid})
    for (int64_t i = 0; i < part->samples(); ++i) {
      seen.push_back(part->find("x")->as<double>()[static_cast<size_t>(2 * i)]);
      BOOST_TEST(part->find("y")->as<float>()[static_cast<size_t>(i)] ==
                 static_cast<float>(static_cast<int64_t>(seen.back()) % 3));
    }
  std::sort(seen.begin(), seen.end());
  for (size_t i = 0; i < seen.size(); ++i) BOOST_TEST(seen[i] == static_cast<double>(i));

  const auto same = load_here(options, 7), other = load_here(options, 8);
  BOOST_TEST(identical(*same->valid->find("x"), *data->valid->find("x")));
  BOOST_TEST(!identical(*other->valid->find("x"), *data->valid->find("x")));
}

/// Checks that the files have this column, whether they are read into memory or as a stream.
void check_column(Options options, const std::string& column, const Tensor& expected) {
  for (const bool stream : {false, true}) {
    options.stream = stream;
    const auto data = load_here(options, 7);
    BOOST_REQUIRE_MESSAGE(data.ok(), data.status().message());
    BOOST_TEST(identical(*data->train.find(column), expected), data->train.find(column)->signature()
                                                                   << (stream ? ", stream" : ", memory"));
  }
}

BOOST_AUTO_TEST_CASE(numbers_of_arrays_are_cast_without_loss) {
  const Folder folder;
  const auto check = [&](const Tensor& stored, double scale, DType cast, const Tensor& expected) {
    Options options{.format = "npy",
                    .train = {folder.write("a.npy", value_or_throw(write_npy(stored)))},
                    .scale = scale,
                    .inputs = {{"x", "image", {}, cast}}};
    check_column(options, "x", expected);
  };
  const Tensor large = Tensor::of<int64_t>(Shape{2, 2}, {16777217, INT64_MAX, INT64_MIN, 123456789});
  check(large, 1, DType::Int64, large);
  const Tensor wide = Tensor::of<int32_t>(Shape{1, 3}, {INT32_MAX, INT32_MIN, 16777217});
  check(wide, 1, DType::Int32, wide);
  check(Tensor::of<double>(Shape{1, 3}, {INT32_MAX, INT32_MIN, 16777217}), 1, DType::Int32, wide);
  const Tensor doubles = Tensor::of<double>(Shape{1, 2}, {0.1, 1e300});
  check(doubles, 1, DType::Double, doubles);
  check(doubles, 0.3, DType::Double, Tensor::of<double>(Shape{1, 2}, {0.1 * 0.3, 1e300 * 0.3}));
  check(Tensor::of<int32_t>(Shape{1, 1}, {7}), 0.1, DType::Float,
        Tensor::of<float>(Shape{1, 1}, {7.0f * 0.1f}));
  const Tensor infinite = Tensor::of<double>(Shape{1, 1}, {std::numeric_limits<double>::infinity()});
  check(infinite, 1, DType::Float, Tensor::of<float>(Shape{1, 1}, {std::numeric_limits<float>::infinity()}));
  check(wide, 2, DType::Int64, Tensor::of<int64_t>(Shape{1, 3}, {4294967294, -4294967296, 33554434}));
}

BOOST_AUTO_TEST_CASE(a_double_too_large_for_a_float_is_refused) {
  const Folder folder;
  Options options{.format = "npy",
                  .train = {folder.write(
                      "a.npy", value_or_throw(write_npy(Tensor::of<double>(Shape{1, 2}, {1, -1e300}))))},
                  .inputs = {{"x", "image", {}, DType::Float}}};
  BOOST_TEST(
      load_here(options, 7).status().message().find("element 1 is -1e+300, which cannot be cast to float") !=
      std::string::npos);
}

BOOST_AUTO_TEST_CASE(numbers_of_text_are_read_as_the_type_of_their_input) {
  const Folder folder;
  const std::string large = folder.write("a.csv",
                                         "16777217, \"9007199254740993\",-9223372036854775808\n"
                                         "5.0,1e3,+9223372036854775807\n");
  const auto both = [](DType features, DType labels) {
    return std::vector<Input>{{"x", "image", {}, features}, {"y", "label", {}, labels}};
  };
  Options options{.train = {large}, .inputs = both(DType::Int64, DType::Int64)};
  check_column(options, "x", Tensor::of<int64_t>(Shape{2, 2}, {16777217, 9007199254740993, 5, 1000}));
  check_column(options, "y", Tensor::vector<int64_t>({INT64_MIN, INT64_MAX}));

  options.train = {folder.write("b.csv", "0.1,1e300,0.7\n")};
  options.inputs = both(DType::Double, DType::Double);
  check_column(options, "x", Tensor::of<double>(Shape{1, 2}, {0.1, 1e300}));
  check_column(options, "y", Tensor::vector<double>({0.7}));
  options.inputs.push_back({"z", "label", {}, DType::Float});
  check_column(options, "y", Tensor::vector<double>({0.7}));
  check_column(options, "z", Tensor::vector<float>({0.7f}));

  options.train = {folder.write("c.csv", "1,2147483648,7\n")};
  options.inputs = both(DType::Int32, DType::Int32);
  BOOST_TEST(load_here(options, 7).status().text() ==
             options.train[0] +
                 ": row 1, column 2: '2147483648' is not a whole number of 32 bits, which "
                 "data.inputs asks for");
}

BOOST_AUTO_TEST_CASE(a_stratified_part_has_the_shares_of_the_classes) {
  const Folder folder;
  std::string rows;
  for (int i = 0; i < 100; ++i)
    rows += std::to_string(i) + ',' + (i < 10 ? "0" : i < 40 ? "1" : "2") + '\n';  // 10, 30 and 60 samples
  Options options{.train = {folder.write("a.csv", rows)}, .valid_split = 0.2, .stratify = true};
  std::vector<float> held_out;
  for (options.valid_fold = 0; options.valid_fold < 5; ++options.valid_fold) {
    const auto data = value_or_throw(load_here(options, 7));
    const auto labels = elements<int32_t>(*data.valid->find("label"));
    for (const int one : {0, 1, 2}) BOOST_TEST(std::ranges::count(labels, one) == (one == 0 ? 2 : 6 * one));
    const auto images = elements<float>(*data.valid->find("image"));
    held_out.insert(held_out.end(), images.begin(), images.end());
  }
  std::ranges::sort(held_out);
  BOOST_TEST_REQUIRE(held_out.size() == 100u);
  for (size_t i = 0; i < held_out.size(); ++i) BOOST_TEST(held_out[i] == static_cast<float>(i));

  options.valid_fold = 0;
  options.inputs = {{"label", "label", {}, DType::Float}};
  BOOST_TEST(
      failure(load_here(options, 7).status()) ==
      "InvalidArgument: data.valid.stratify: label is float[100]; expected one integer for each sample, "
      "its class");
}

BOOST_AUTO_TEST_CASE(images_and_labels_come_from_two_files) {
  const Folder folder;
  const std::string images = folder.write("images", idx(0x08, {2, 1, 2}, "abcd")),
                    labels = folder.write("labels", idx(0x08, {2}, "\x01\x02"));
  const Options options{.format = "idx",
                        .train = {images},
                        .train_labels = {labels},
                        .valid = {images},
                        .valid_labels = {labels}};
  const auto data = load_here(options, 0);
  BOOST_REQUIRE_MESSAGE(data.ok(), data.status().message());
  BOOST_TEST(data->train.find("image")->signature() == "float[2,2]");
  BOOST_TEST(data->train.find("label")->signature() == "int32[2]");
  BOOST_TEST(identical(*data->train.find("image"), *data->valid->find("image")));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const Folder folder;
  const std::string a = folder.write("a.csv", "1,2,3\n"), wide = folder.write("wide.csv", "1,2,3,4\n");
  const auto text = [](const Options& options) { return failure(load_here(options, 0).status()); };
  const std::string missing = (folder.path / "missing.csv").string();
  BOOST_TEST(text({.train = {missing}}) ==
             "NotFound: cannot open '" + missing + "': No such file or directory");
  BOOST_TEST(text({.train = {folder.path.string()}}).starts_with("FailedPrecondition: "));
  BOOST_TEST(text({.train = {a, wide}}) ==
             "DataLoss: " + wide + ": 3 features per sample, but " + a + " has 2");
  BOOST_TEST(text({.train = {a}, .valid = {wide}}) ==
             "DataLoss: " + wide +
                 ": validation samples are float[1,3], but training samples are float[1,2]");
  BOOST_TEST(text({.train = {a}, .valid_split = 0.5}) ==
             "InvalidArgument: data.valid.split needs at least two samples, found 1");
  Options shaped{.train = {a}};
  shaped.inputs = {{"x", "image", std::vector<int64_t>{3}, DType::Invalid}};
  BOOST_TEST(text(shaped) == "InvalidArgument: input x: shape [3] does not hold the 2 values of a sample");
  const std::string images = folder.write("images", idx(0x08, {2, 1}, "ab")),
                    labels = folder.write("labels", idx(0x08, {1}, "\x01"));
  BOOST_TEST(text({.format = "idx", .train = {images}, .train_labels = {labels}}) ==
             "DataLoss: " + labels + ": 1 labels for the 2 samples of " + images);
}

BOOST_AUTO_TEST_CASE(batches_follow_from_seed_and_step_alone) {
  MemoryBatches batches(counting(10), 4, 3, true), again(counting(10), 4, 3, true),
      other(counting(10), 4, 4, true);
  BOOST_TEST(batches.per_epoch() == 3);
  std::vector<std::vector<float>> epochs;
  for (uint64_t step = 0; step < 6; ++step) {
    const auto batch = batches.at(step);
    BOOST_REQUIRE(batch.ok());
    BOOST_TEST(batch->samples() == (step % 3 == 2 ? 2 : 4));
    BOOST_TEST(elements<float>(*batch->find("x")) == elements<float>(*batch->find("y")),
               boost::test_tools::per_element());
    if (step % 3 == 0) epochs.emplace_back();
    for (const float x : batch->find("y")->as<float>()) epochs.back().push_back(x);
  }
  BOOST_TEST((epochs[0] != epochs[1]));
  for (auto epoch : epochs) {
    std::sort(epoch.begin(), epoch.end());
    BOOST_TEST(epoch == elements<float>(*counting(10).find("y")), boost::test_tools::per_element());
  }
  for (const uint64_t step : {5, 0, 4})
    BOOST_TEST(identical(*again.at(step)->find("y"), *batches.at(step)->find("y")));
  BOOST_TEST(!identical(*other.at(0)->find("y"), *batches.at(0)->find("y")));
  MemoryBatches in_order(counting(10), 4, 3, false);
  BOOST_TEST(elements<float>(*in_order.at(5)->find("y")) == std::vector<float>({8, 9}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_batch_may_be_larger_than_the_data_set) {
  MemoryBatches batches(counting(10), INT64_MAX, 3, false);
  BOOST_TEST(batches.per_epoch() == 1);
  BOOST_TEST(batches.at(7)->samples() == 10);
}

BOOST_AUTO_TEST_CASE(the_order_is_the_same_on_every_machine) {
  BOOST_TEST(permutation(8, 7, RandomStream::Epoch, 0) == std::vector<int64_t>({7, 1, 3, 6, 5, 2, 0, 4}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(shards_cover_the_batch) {
  const auto sizes = [](int64_t samples, int64_t n) {
    std::vector<int64_t> out;
    int64_t next = 0;
    double weight = 0;
    for (const auto& shard : shards(counting(samples), n)) {
      out.push_back(shard.data.samples());
      for (const float x : shard.data.find("y")->as<float>()) BOOST_TEST(x == static_cast<float>(next++));
      BOOST_TEST(shard.weight == static_cast<double>(out.back()) / static_cast<double>(samples));
      weight += shard.weight;
    }
    BOOST_TEST(next == samples);
    BOOST_TEST(weight == 1.0, boost::test_tools::tolerance(1e-12));
    return out;
  };
  BOOST_TEST(sizes(64, 2) == std::vector<int64_t>({32, 32}), boost::test_tools::per_element());
  BOOST_TEST(sizes(7, 3) == std::vector<int64_t>({2, 2, 3}), boost::test_tools::per_element());
  BOOST_TEST(sizes(2, 3) == std::vector<int64_t>({0, 1, 1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::data::data_test
