// The data formats: the records that each reader yields for valid files, and the errors for damaged ones.
#include "apps/data/format.h"

#include <boost/test/unit_test.hpp>
#include <cfloat>

#include "apps/data/arrays/npy.h"
#include "apps/data/arrays/npz.h"
#include "tests/support/memory_disk.h"
#include "tests/support/ops/run_op.h"
#include "tests/support/project_files.h"

namespace troupe::data::formats_test {
namespace {

constexpr int64_t all = 1000;

std::string failure(const Status& status) { return std::string(name(status.code())) + ": " + status.text(); }

template <class T>
std::vector<T> elements(const Tensor& tensor) {
  const auto values = tensor.as<T>();
  return {values.begin(), values.end()};
}

/// Returns all records of a file. `labels` are the bytes of its label file, for formats with label files.
Result<Dataset> read(const char* format, const std::string& bytes, const std::string& labels = {},
                     const FormatOptions& options = {}, DType label_type = DType::Int32) {
  test::MemoryDisk disk;
  disk.write("f", bytes);
  disk.write("l", labels);
  const std::string label_file = labels.empty() ? "" : "l";
  TROUPE_ASSIGN(const auto reader, find_format(format)->open(disk, {"f", label_file, label_type, options}));
  return reader->next(all);
}

/// Returns the samples of lines of JSON.
Result<Dataset> json(const std::string& text, const FormatOptions& options,
                     const std::vector<TableColumn>& columns = {}) {
  test::MemoryDisk disk;
  disk.write("f.jsonl", text);
  SourceFile file{.path = "f.jsonl", .options = options, .columns = columns};
  TROUPE_ASSIGN(const auto reader, find_format("csv")->open(disk, file));
  return reader->next(all);
}

Result<Dataset> csv(const std::string& text, const FormatOptions& options = {},
                    DType label_type = DType::Int32) {
  return read("csv", text, {}, options, label_type);
}
std::string csv_failure(const std::string& text, const FormatOptions& options = {}) {
  return failure(csv(text, options).status());
}

/// Returns the bytes of an IDX file: magic number, element type, rank, dimensions, elements.
std::string idx(char element, std::vector<uint32_t> sizes, std::string elements) {
  std::string bytes{'\0', '\0', element, static_cast<char>(sizes.size())};
  for (const uint32_t size : sizes)
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(size >> shift);
  return bytes + elements;
}

BOOST_AUTO_TEST_SUITE(csv_files)

BOOST_AUTO_TEST_CASE(the_last_column_is_the_label) {
  const auto samples = csv("0,16,3\n8,-2.5,7\n");
  BOOST_REQUIRE(samples.ok());
  BOOST_TEST(samples->find("image")->signature() == "float[2,2]");
  BOOST_TEST(elements<float>(*samples->find("image")) == std::vector<float>({0, 16, 8, -2.5f}),
             boost::test_tools::per_element());
  BOOST_TEST(elements<int32_t>(*samples->find("label")) == std::vector<int32_t>({3, 7}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_label_can_stand_anywhere) {
  const auto label_of = [](const std::string& text, const FormatOptions& options) {
    const auto samples = csv(text, options);
    return samples ? elements<int32_t>(*samples->find("label")).front() : -1;
  };
  BOOST_TEST(label_of("1,2,3\n", {{"label", "first"}}) == 1);
  BOOST_TEST(label_of("1,2,3\n", {{"label", int64_t{1}}}) == 2);
  BOOST_TEST(label_of("a, \"the, label\" ,c\n1,2,3\n", {{"label", "the, label"}, {"header", true}}) == 2);
  const auto unlabelled = csv("1,2,3\n", {{"label", "none"}});
  BOOST_REQUIRE(unlabelled.ok());
  BOOST_TEST(unlabelled->find("image")->signature() == "float[1,3]");
  BOOST_TEST(!unlabelled->find("label"));
}

BOOST_AUTO_TEST_CASE(layout_does_not_matter) {
  for (const char* text : {"1,2,3\r\n\r\n4,5,6\r\n", "\n 1 ,\t2, 3\n  \n4,5,6", "\"1\",2,\" 3\"\n+4,5e0,6\n",
                           "\xef\xbb\xbf"
                           "1,2,3\n4,5,6\n\n"}) {
    const auto samples = csv(text);
    BOOST_REQUIRE(samples.ok());
    BOOST_TEST(elements<float>(*samples->find("image")) == std::vector<float>({1, 2, 4, 5}),
               boost::test_tools::per_element());
  }
  const auto tabs = csv("1\t2\n3\t4\n", {{"delimiter", "\t"}});
  BOOST_REQUIRE(tabs.ok());
  BOOST_TEST(elements<int32_t>(*tabs->find("label")) == std::vector<int32_t>({2, 4}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(lines_may_be_json_objects) {
  const FormatOptions named = {{"header", true}, {"label", "y"}, {"missing", -1.0}};
  const auto samples = json(
      "{\"a\": 1.5, \"y\": 7, \"b\": 2}\n\n{\"b\": null, \"a\": \"3\"}\n"
      "{\"y\": 9, \"b\": true}\n",
      {{"header", true}, {"label", "y"}, {"missing", -1.0}});
  BOOST_TEST(failure(samples.status())
                 .starts_with("DataLoss: f.jsonl: row 3, column 2 ('y'): the label is missing"));
  const auto whole =
      json("{\"a\": 1.5, \"y\": 7, \"b\": 2}\n\n{\"y\": 8, \"b\": null, \"a\": \"3\"}\n{\"y\": 9}", named);
  BOOST_REQUIRE_MESSAGE(whole.ok(), whole.status().message());
  BOOST_TEST(elements<float>(*whole->find("image")) == std::vector<float>({1.5f, 2, 3, -1, -1, -1}),
             boost::test_tools::per_element());
  BOOST_TEST(elements<int32_t>(*whole->find("label")) == std::vector<int32_t>({7, 8, 9}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(values_of_json_are_fields) {
  const auto texts = json(R"({"text": "a \"b\", c"})"
                          "\n"
                          R"({"text": ["lazy", 3, true, 2.5]})",
                          {{"label", "none"}, {"text", "last"}});
  BOOST_REQUIRE_MESSAGE(texts.ok(), texts.status().message());
  BOOST_TEST(elements<std::string>(*texts->find("text")) ==
                 std::vector<std::string>({"a \"b\", c", "lazy 3 true 2.5"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(mistakes_in_json_name_their_row) {
  const auto says = [](const std::string& text) { return failure(json(text, {{"header", true}}).status()); };
  BOOST_TEST(says("{\"a\": 1, \"b\": 2}\n{\"a\": 1, \"c\": 2}\n") ==
             "DataLoss: f.jsonl: row 2: the member 'c' is no column; the columns are a, b");
  BOOST_TEST(
      says("{\"a\": 1, \"b\": 2}\n{\"a\": {}}\n") ==
      "DataLoss: f.jsonl: row 2: the member 'a' is no number, text, truth value, null or list of these: {}");
  BOOST_TEST(says("[1, 2]\n") == "DataLoss: f.jsonl: row 1: the line is no JSON object");
  BOOST_TEST(says("{}\n") == "DataLoss: f.jsonl: row 1: the first object has no members");
  BOOST_TEST(says("{\"a\": 1").starts_with("DataLoss: f.jsonl: row 1: the line is not JSON: "));
}

BOOST_AUTO_TEST_CASE(labels_can_be_fractions) {
  const auto samples = csv("1,2.5\n", {}, DType::Float);
  BOOST_REQUIRE(samples.ok());
  BOOST_TEST(elements<float>(*samples->find("label")).front() == 2.5f);
}

BOOST_AUTO_TEST_CASE(labels_may_be_words) {
  const FormatOptions options = {{"label_names", std::vector<std::string>{"cat", "dog", "1"}}};
  const auto samples = csv("1,2,dog\n3,4,\"cat\"\n5,6, 1\n", options);
  BOOST_REQUIRE_MESSAGE(samples.ok(), samples.status().message());
  const auto labels = samples->find("label")->as<int32_t>();
  BOOST_TEST(std::vector<int32_t>(labels.begin(), labels.end()) == std::vector<int32_t>({1, 0, 2}),
             boost::test_tools::per_element());
  BOOST_TEST(csv_failure("1,2,dgo\n", options) ==
             "DataLoss: f: row 1, column 3: the label 'dgo' is not in label_names, 'cat', 'dog', '1'; the "
             "nearest is 'dog'");
}

BOOST_AUTO_TEST_CASE(empty_fields_may_stand_for_a_number) {
  const auto samples = csv("1,,0\n,4,1\n", {{"missing", -1.0}});
  BOOST_REQUIRE_MESSAGE(samples.ok(), samples.status().message());
  const auto features = samples->find("image")->as<float>();
  BOOST_TEST(std::vector<float>(features.begin(), features.end()) == std::vector<float>({1, -1, -1, 4}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(numbers_that_are_too_large_for_a_float_are_refused) {
  const auto largest = csv("3.4028235e38,-3.4028235e38,1\n");
  BOOST_REQUIRE_MESSAGE(largest.ok(), largest.status().message());
  BOOST_TEST(elements<float>(*largest->find("image")) == std::vector<float>({FLT_MAX, -FLT_MAX}),
             boost::test_tools::per_element());
  const std::string advice =
      " is too large for a float, which is at most 3.4e38; cast = \"double\" in data.inputs takes it";
  BOOST_TEST(csv_failure("1,2,3\n4,-1e39,6\n") == "DataLoss: f: row 2, column 2: '-1e39'" + advice);
  BOOST_TEST(csv_failure("1,\" 1e39 \",3\n") == "DataLoss: f: row 1, column 2: '1e39'" + advice);
  BOOST_TEST(failure(csv("1,1e39\n", {}, DType::Float).status()) ==
             "DataLoss: f: row 1, column 2: the label '1e39'" + advice);
  BOOST_TEST(elements<double>(*csv("1,1e39\n", {}, DType::Double)->find("label")).front() == 1e39);
}

BOOST_AUTO_TEST_CASE(mistakes_name_file_row_and_column) {
  BOOST_TEST(csv_failure("1,2,3\n\n4,abc,6\n") ==
             "DataLoss: f: row 3, column 2: 'abc' is not a finite number");
  BOOST_TEST(
      csv_failure("1,2,3\n4,,6\n") ==
      "DataLoss: f: row 2, column 2: the field is empty; data.missing can say which number it stands for");
  BOOST_TEST(csv_failure("1,2,3\n4,5\n") ==
             "DataLoss: f: row 2: the row has 2 columns, but the first row has 3");
  BOOST_TEST(csv_failure("1,2,3\n4,5,6,7,8\n") ==
             "DataLoss: f: row 2: the row has 5 columns, but the first row has 3");
  BOOST_TEST(csv_failure("1,2,3.5\n") ==
             "DataLoss: f: row 1, column 3: the label '3.5' is no class, a whole number of 32 bits; to "
             "predict numbers, write cast = \"float\" in [data.inputs.label], and a loss of numbers, such as "
             "train.loss = \"mean_squared_error\"");
  BOOST_TEST(csv_failure("1,2,3000000000\n").find("'3000000000' is no class") != std::string::npos);
  BOOST_TEST(csv_failure("x,y,z\n1,2,3\n") ==
             "DataLoss: f: row 1, column 1: 'x' is not a finite number; if the first row has names, set "
             "header = true");
  for (const char* number : {"nan", "inf", "1e999", "0x10", "1 2", "1;2", "--1", "1.2.3"})
    BOOST_TEST(
        csv_failure("1,1\n" + std::string(number) + ",1\n").starts_with("DataLoss: f: row 2, column 1: '"),
        number);
  BOOST_TEST(csv_failure("") == "DataLoss: f: the file has no samples");
  BOOST_TEST(csv_failure("\n\r\n \n") == "DataLoss: f: the file has no samples");
  BOOST_TEST(csv("a,b\n", {{"header", true}})->samples() == 0);
  BOOST_TEST(csv_failure("1\n2\n") ==
             "DataLoss: f: there are no features, because the only column is the label");
  BOOST_TEST(csv_failure("heigth,width\n1,2\n", {{"label", "height"}, {"header", true}}) ==
             "InvalidArgument: f: there is no column 'height'; the nearest is 'heigth'");
  BOOST_TEST(csv_failure("1,2\n", {{"label", int64_t{2}}}) ==
             "InvalidArgument: f: data.label = 2, but the columns have the numbers 0 to 1");
  BOOST_TEST(csv_failure("1,2\n\x01\x02" + std::string(1, '\0') + std::string(100, 'x') + ",2\n") ==
             "DataLoss: f: row 2, column 1: '???" + std::string(37, 'x') + "...' is not a finite number");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(idx_files)

BOOST_AUTO_TEST_CASE(samples_and_labels_come_from_two_files) {
  const auto data =
      read("idx", idx(0x08, {2, 2, 2}, "\x01\x02\x03\x04\x05\x06\x07\xff"), idx(0x08, {2}, "\x01\x09"));
  BOOST_REQUIRE(data.ok());
  BOOST_TEST(data->find("image")->signature() == "uint8[2,2,2]");
  BOOST_TEST(elements<uint8_t>(*data->find("image")) == std::vector<uint8_t>({1, 2, 3, 4, 5, 6, 7, 255}),
             boost::test_tools::per_element());
  BOOST_TEST(elements<uint8_t>(*data->find("label")) == std::vector<uint8_t>({1, 9}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(every_element_type_is_big_endian) {
  const auto first = [](char element, std::string bytes) {
    return *value_or_throw(read("idx", idx(element, {1}, std::move(bytes)))).find("image");
  };
  BOOST_TEST(first(0x09, "\xff").item<int8_t>() == -1);
  BOOST_TEST(first(0x0b, "\xff\xfe").item<int16_t>() == -2);
  BOOST_TEST(first(0x0c, {'\0', '\1', '\0', '\0'}).item<int32_t>() == 65536);
  BOOST_TEST(first(0x0d, {'\x3f', '\x80', '\0', '\0'}).item<float>() == 1);
  BOOST_TEST(first(0x0e, {'\x40', '\0', '\0', '\0', '\0', '\0', '\0', '\0'}).item<double>() == 2);
}

BOOST_AUTO_TEST_CASE(anything_damaged_is_refused) {
  const std::string good = idx(0x08, {2, 3}, "abcdef");
  BOOST_TEST(!read("idx", good + "g").ok());
  for (size_t at = 0; at < 12; ++at) {
    std::string damaged = good;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    BOOST_TEST(!read("idx", damaged).ok(), "byte " << at);
  }
  const auto text = [](const std::string& bytes, const std::string& labels = {}) {
    return read("idx", bytes, labels).status().text();
  };
  BOOST_TEST(text("\x1f\x8b\x08") ==
             "f, compressed by its first bytes: the compressed bytes end too early, at byte 3 of the "
             "compressed file");
  BOOST_TEST(text(idx(0x08, {2, 3}, "abcde")) == "f: shape [2,3] needs 6 bytes, but 5 follow the header");
  BOOST_TEST(
      text(idx(0x08, {UINT32_MAX, UINT32_MAX, UINT32_MAX}, "abc")) ==
      "f: shape [4294967295,4294967295,4294967295] needs more than 2^64 bytes, but 3 follow the header");
  BOOST_TEST(text(idx(0x08, {}, "a")) ==
             "f: the array has rank 0; its first dimension must count the samples");
  BOOST_TEST(read("idx", idx(0x08, {0, 28, 28}, ""))->samples() == 0);
  const std::string one = idx(0x08, {1}, "a");
  BOOST_TEST(text(one, idx(0x08, {1, 2}, "ab")) ==
             "l: labels have shape [1,2]; expected rank 1, a number for each sample");
  BOOST_TEST(text(one, idx(0x0d, {1}, "abcd")) == "l: labels have type float; expected integers");
  BOOST_TEST(text(one, idx(0x08, {2}, "ab")) == "l: 2 labels for the 1 samples of f");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(numpy_files)

BOOST_AUTO_TEST_CASE(samples_are_the_rows_of_arrays) {
  const Tensor images = Tensor::of<double>(Shape{2, 1, 2}, {1, 2, 3, 4}),
               labels = Tensor::vector<int64_t>({5, 6});
  const auto files = read("npy", value_or_throw(write_npy(images)), value_or_throw(write_npy(labels)));
  const auto archive =
      read("npz", value_or_throw(write_npz({{"image", images}, {"label", labels}, {"z", images}})));
  for (const auto* data : {&files, &archive}) {
    BOOST_TEST_REQUIRE(data->ok());
    BOOST_TEST(identical(*(*data)->find("image"), images));
    BOOST_TEST(identical(*(*data)->find("label"), labels));
  }
  const auto compressed = read("npz", test::project_file("tests/golden/arrays.npz"));
  BOOST_TEST_REQUIRE(compressed.ok());
  BOOST_TEST(compressed->find("image")->as<float>()[599] == 599);
  BOOST_TEST(compressed->find("label")->as<int64_t>()[199] == 199 % 7);
  const auto unlabelled =
      read("npz", value_or_throw(write_npz({{"image", images}})), {}, {{"label", "none"}});
  BOOST_TEST_REQUIRE(unlabelled.ok());
  BOOST_TEST(identical(*unlabelled->find("image"), images));
}

// Labels as Keras has them, and numbers as other machines write them.
BOOST_AUTO_TEST_CASE(labels_may_be_a_column_and_numbers_big_endian) {
  const Tensor images = Tensor::of<float>(Shape{2, 2}, {1, 2, 3, 4}),
               labels = Tensor::vector<int64_t>({5, 6});
  const auto columns =
      read("npz", value_or_throw(write_npz({{"image", images}, {"label", labels.reshaped(Shape{2, 1})}})));
  BOOST_TEST_REQUIRE(columns.ok());
  BOOST_TEST(identical(*columns->find("label"), labels));
  std::string big = value_or_throw(write_npy(images));
  big.replace(big.find("<f4"), 1, ">");
  for (size_t i = big.size() - images.bytes(); i < big.size(); i += 4) std::reverse(&big[i], &big[i] + 4);
  const auto read_big = read("npy", big, value_or_throw(write_npy(labels)));
  BOOST_TEST_REQUIRE(read_big.ok());
  BOOST_TEST(identical(*read_big->find("image"), images));
  BOOST_TEST(identical(value_or_throw(read_npy(big, "f")), images));
}

BOOST_AUTO_TEST_CASE(an_archive_has_arrays_of_any_name_and_shape) {
  const Tensor images = Tensor::of<float>(Shape{2, 1, 2, 1}, {1, 2, 3, 4}),
               masks = Tensor::of<float>(Shape{2, 2}, {0, 1, 1, 0}), y = Tensor::vector<int64_t>({5, 6});
  const std::string archive = value_or_throw(write_npz({{"x", images}, {"mask", masks}, {"y", y}}));
  const auto arrays =
      read("npz", archive, {}, {{"arrays", std::vector<std::string>{"mask", "x"}}, {"label", "y"}});
  BOOST_TEST_REQUIRE(arrays.ok());
  BOOST_TEST(arrays->columns().size() == 3u);
  BOOST_TEST(identical(*arrays->find("x"), images));
  BOOST_TEST(identical(*arrays->find("mask"), masks));
  BOOST_TEST(identical(*arrays->find("label"), y));
  const auto failure = [&](const FormatOptions& options) {
    return read("npz", archive, {}, options).status().text();
  };
  BOOST_TEST(failure({{"arrays", std::vector<std::string>{"z"}}}) ==
             "f: the archive has no array 'z'; its arrays: mask, x, y; data.arrays names others");
  BOOST_TEST(
      failure({{"arrays", std::vector<std::string>{"x"}}, {"label", "mask"}}) ==
      "f:mask: labels have shape [2,2]; expected rank 1, a number for each sample; an array with several "
      "numbers for each sample is listed in data.arrays, as features are, and the loss names it; then "
      "data.label is \"none\" or names another array. data.inputs.label.shape does not make it a label");
  // Which is what works.
  const auto several =
      read("npz", archive, {}, {{"arrays", std::vector<std::string>{"x", "mask"}}, {"label", "none"}});
  BOOST_TEST_REQUIRE(several.ok());
  BOOST_TEST(identical(*several->find("mask"), masks));
  BOOST_TEST(
      read("npy", value_or_throw(write_npy(masks)), value_or_throw(write_npy(masks))).status().text() ==
      "l: labels have shape [2,2]; expected rank 1, a number for each sample; format npz takes several "
      "arrays of any shape: data.arrays");
  const auto refused = [](const FormatOptions& options) {
    return find_format("npz")->check(options).has_value();
  };
  BOOST_TEST(refused({{"arrays", std::vector<std::string>{"x", "label"}}}));
  BOOST_TEST(refused({{"arrays", std::vector<std::string>{"x", "x"}}}));
  BOOST_TEST(!refused({{"arrays", std::vector<std::string>{"x", "y"}}, {"label", "none"}}));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_told) {
  const auto text = [](const char* format, const std::string& bytes) {
    return read(format, bytes).status().text();
  };
  std::string columns = value_or_throw(write_npy(Tensor::of<float>(Shape{2, 2}, {1, 2, 3, 4})));
  columns.replace(columns.find("False"), 5, "True ");
  BOOST_TEST(
      text("npy", columns) ==
      "f: the array is in column-major order, which is not supported; save numpy.ascontiguousarray(array)");
  BOOST_TEST(text("npy", value_or_throw(write_npy(Tensor::scalar(1.0f)))) ==
             "f: the array has rank 0; its first dimension must count the samples");
  BOOST_TEST(text("npy", value_or_throw(write_npy(Tensor::vector<std::complex<float>>({{1, 2}})))) ==
             "f: samples have type complex64; expected bools, integers or floats");
  BOOST_TEST(
      text("npz",
           value_or_throw(write_npz({{"image", Tensor::vector<float>({1})}, {"y", Tensor::scalar(1)}}))) ==
      "f: the archive has no array 'label'; its arrays: image, y; data.label names another, or is \"none\"");
  std::string bools = value_or_throw(write_npy(Tensor::vector<bool>({true, false})));
  bools.back() = '\2';
  BOOST_TEST(text("npy", bools) ==
             "f: the bool at byte " + std::to_string(bools.size() - 1) + " is neither 0 nor 1");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::data::formats_test
