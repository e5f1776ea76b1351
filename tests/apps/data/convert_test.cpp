// Conversions between formats: what is written is read as the same samples, by Troupe; damaged and impossible input is refused.
#include "apps/data/convert/convert.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "apps/data/arrays/npz.h"
#include "apps/data/convert/examples.h"
#include "messages/env/real_disk.h"
#include "tests/apps/commands/troupe_program.h"
#include "tests/support/program.h"
#include "tests/support/project_files.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tf_record.h"

namespace troupe::data::convert_test {
namespace {

struct Files {
  std::string path(const std::string& name) const { return folder.path() + '/' + name; }
  Result<std::unique_ptr<SampleStream>> open(const std::string& name, const std::string& labels = {}) {
    Options options;
    options.format = format_of_name(name);
    options.train = {path(name)};
    if (!labels.empty()) options.train_labels = {path(labels)};
    return samples_of(disk, options);
  }
  Status convert_file(const std::string& from, const std::string& to, const std::string& labels = {}) {
    TROUPE_ASSIGN(const auto samples, open(from, labels));
    return convert(disk, *samples, path(to), {});
  }
  std::string bytes(const std::string& name) { return value_or_throw(read_file(disk, path(name), 1 << 20)); }

  const test::TemporaryFolder folder;
  RealDisk disk;
};

/// Returns the elements of a column of all samples as text.
std::string elements(SampleStream& samples, const std::string& column) {
  std::string text;
  BOOST_TEST_REQUIRE(samples.restart().ok());
  for (;;) {
    const Dataset batch = value_or_throw(samples.next());
    if (batch.samples() == 0) return text;
    const Tensor& values = *batch.find(column);
    text += std::string(name(values.dtype())) + ' ';
    text.append(reinterpret_cast<const char*>(values.data()), values.bytes());
  }
}

BOOST_FIXTURE_TEST_SUITE(conversions, Files)

BOOST_AUTO_TEST_CASE(numbers_go_round_all_formats_and_stay_the_same) {
  const std::string csv = "0.1,-2,7\n3e-30,16777216,-1\n1.5,0.33333334,2147483647\n";
  folder.write("a.csv", csv);
  BOOST_TEST_REQUIRE(convert_file("a.csv", "a.tfrecord").ok());
  BOOST_TEST_REQUIRE(convert_file("a.csv", "a.npz").ok());
  BOOST_TEST_REQUIRE(convert_file("a.npz", "a.npy").ok());
  BOOST_TEST_REQUIRE(convert_file("a.npy", "a.idx", "a_labels.npy").ok());
  BOOST_TEST_REQUIRE(convert_file("a.idx", "b.csv", "a_labels.idx").ok());
  BOOST_TEST(bytes("b.csv") == csv);
  BOOST_TEST_REQUIRE(convert_file("a.tfrecord", "c.csv").ok());
  BOOST_TEST(bytes("c.csv") == csv);
  const auto first = value_or_throw(open("a.csv")), archive = value_or_throw(open("a.npz")),
             arrays = value_or_throw(open("a.idx", "a_labels.idx"));
  BOOST_TEST(first->samples() == 3);
  for (const char* const column : {"image", "label"}) {
    BOOST_TEST(elements(*archive, column) == elements(*first, column));
    BOOST_TEST(elements(*arrays, column) == elements(*first, column));
  }
}

BOOST_AUTO_TEST_CASE(types_of_arrays_are_kept) {
  folder.write("a.idx", std::string("\0\0\x08\2\0\0\0\2\0\0\0\3", 12) + "abcdef");
  BOOST_TEST_REQUIRE(convert_file("a.idx", "a.npy").ok());
  BOOST_TEST(value_or_throw(open("a.npy"))->columns().find("image")->signature() == "uint8[0,3]");
  BOOST_TEST_REQUIRE(convert_file("a.npy", "b.idx").ok());
  BOOST_TEST(bytes("b.idx") == bytes("a.idx"));
}

BOOST_AUTO_TEST_CASE(examples_are_columns) {
  const std::string record =
      value_or_throw(to_example(Dataset({{"word", Tensor::vector<std::string>({"a b", ""})},
                                         {"x", Tensor::of<float>(Shape{2, 2}, {1, 2, 3, 4})},
                                         {"n", Tensor::vector<int64_t>({-5, 6})}}),
                                1));
  const Dataset columns = value_or_throw(columns_of_example(record));
  BOOST_TEST(columns.find("word")->signature() == "string[0]");
  BOOST_TEST(columns.find("x")->signature() == "float[0,2]");
  BOOST_TEST(columns.find("n")->signature() == "int64[0]");
  const std::vector<std::string> records = {record};
  const Dataset samples = value_or_throw(parse_examples(records, columns));
  BOOST_TEST(samples.find("x")->as<float>()[1] == 4);
  BOOST_TEST(samples.find("n")->as<int64_t>()[0] == 6);
  BOOST_TEST(samples.find("word")->as<std::string>()[0].empty());
}

// What TensorFlow 2.21 writes for this Example with tf.io.TFRecordWriter and SerializeToString(deterministic=True).
BOOST_AUTO_TEST_CASE(records_have_the_bytes_that_tensorflow_writes) {
  constexpr std::string_view written =
      "4500000000000000ebe668b00a430a150a05696d616765120c120a0a080000003f000000c00a170a056c6162656c120e1a0c0a"
      "0afdffffff"
      "ffffffffff010a110a04776f726412090a070a036120620a003abf64de";
  const Dataset samples({{"image", Tensor::of<float>(Shape{1, 2}, {0.5, -2})},
                         {"label", Tensor::vector<int64_t>({-3})},
                         {"word", Tensor::of<std::string>(Shape{1, 2}, {"a b", ""})}});
  const auto stream = value_or_throw(samples_of(in_memory(samples)));
  BOOST_TEST_REQUIRE(convert(disk, *stream, path("a.tfrecord"), {}).ok());
  std::string hex;
  for (const char byte : bytes("a.tfrecord")) {
    constexpr std::string_view digits = "0123456789abcdef";
    hex += digits[static_cast<uint8_t>(byte) >> 4];
    hex += digits[static_cast<uint8_t>(byte) & 15];
  }
  BOOST_TEST(hex == written);
}

BOOST_AUTO_TEST_CASE(records_that_are_no_such_examples_are_named) {
  const std::string good = test::example({{"a", {1, 2}}});
  const auto failure_of = [&](const std::string& second) {
    folder.write("a.tfrecord", test::tf_record(good) + test::tf_record(second));
    return convert_file("a.tfrecord", "a.npz").text();
  };
  const std::string place = path("a.tfrecord") + ", from record 0 on: Example 1: ";
  BOOST_TEST(failure_of("x") == place + "the record is not an Example of TensorFlow");
  BOOST_TEST(failure_of(test::example({{"b", {1}}})) == place + "the feature 'a' is missing");
  BOOST_TEST(failure_of(test::example({{"a", {1}}})).starts_with(place + "the feature 'a' has 1 values"));
  BOOST_TEST(failure_of(good) == "");
  for (size_t size = 0; size < good.size(); ++size) {
    const std::vector<std::string> cut = {good.substr(0, size)};
    const auto columns = columns_of_example(cut[0]);
    if (columns) BOOST_TEST(parse_examples(cut, *columns).ok());
  }
}

BOOST_AUTO_TEST_CASE(what_a_format_cannot_have_is_refused) {
  const auto write = [&](const Dataset& samples, const std::string& to) {
    const auto stream = value_or_throw(samples_of(in_memory(samples)));
    return convert(disk, *stream, path(to), {});
  };
  const Dataset words({{"text", Tensor::vector<std::string>({"ok, \"so\"", "a "})}});
  BOOST_TEST(write(words, "w.csv").text() ==
             "sample 1: column text: csv has no text with blanks at its ends");
  BOOST_TEST((write(words, "w.npz").code() == Code::InvalidArgument));
  BOOST_TEST((write(words, "w.npy").code() == Code::InvalidArgument));
  BOOST_TEST((write(words, "w.json").code() == Code::InvalidArgument));
  BOOST_TEST(
      (write(Dataset({{"x", Tensor::vector<float>({INFINITY})}}), "x.csv").code() == Code::InvalidArgument));
  BOOST_TEST(
      (write(Dataset({{"image", Tensor::vector<int64_t>({1})}}), "x.idx").code() == Code::InvalidArgument));
  BOOST_TEST(!std::filesystem::exists(path("w.csv")));  // nothing is left of what failed
  BOOST_TEST(!std::filesystem::exists(path("w.csv.new")));
  BOOST_TEST(write(words, "w.tfrecord").ok());
}

BOOST_AUTO_TEST_CASE(the_program_converts_and_replaces_nothing_unasked) {
  folder.write("a.csv", "1,0\n2,1\n");
  const auto run = [&](std::vector<std::string> arguments, int code) {
    arguments.insert(arguments.begin(), "data");
    test::Program program(test::troupe_program(), arguments);
    BOOST_TEST(program.end() == code, program.output());
    return program.output();
  };
  BOOST_TEST(run({path("a.csv"), "--to", path("a.npz")}, 0) == path("a.npz") + '\n');
  BOOST_TEST(run({path("a.csv"), "--to", path("a.npz")}, 2).find("--force") != std::string::npos);
  run({path("a.csv"), "--to", path("a.npz"), "--force"}, 0);
  BOOST_TEST(run({path("a.csv"), "--to", path("./a.csv"), "--force"}, 2).find("is read, too") !=
             std::string::npos);
  run({path("a.csv"), "--to", path("b.npz"), "--set", "data.label=none"}, 0);
  BOOST_TEST(value_or_throw(npz_members(value_or_throw(InputFile::open(disk, path("b.npz"))))).size() == 1u);
  run({path("a.csv"), "--to", path("a.tfrecord")}, 0);
  run({path("a.tfrecord"), "--to", path("d.npz")}, 0);
  BOOST_TEST(elements(*value_or_throw(open("d.npz")), "image") ==
             elements(*value_or_throw(open("a.csv")), "image"));
  run({path("none.csv"), "--to", path("c.npz")}, 3);
  run({path("a.csv"), "--to", path("c.txt")}, 2);
  // The columns may have other names, and be words.
  folder.write("words.csv", "city,size\nRome,1.5\nOslo,2\n");
  run({path("words.csv"), "--to", path("cities.csv"), "--set", "data.header=true", "--set", "data.label=none",
       "--set", "data.columns={city=\"text\",size=\"number\"}"},
      0);
  BOOST_TEST(bytes("cities.csv") == "Rome,1.5\nOslo,2\n");
  run({path("words.csv"), "--to", path("text.tfrecord"), "--set", "data.header=true", "--set",
       "data.label=none", "--set", "data.text=city"},
      0);
  BOOST_TEST(bytes("text.tfrecord").find("Oslo") != std::string::npos);
  // The samples of a run file are those that its model gets.
  run({test::project_path("examples/digits.toml"), "--to", path("digits.tfrecord")}, 0);
  BOOST_TEST(value_or_throw(open("digits.tfrecord"))->columns().find("image")->signature() == "float[0,64]");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::data::convert_test
