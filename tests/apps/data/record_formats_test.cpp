// Files of records as formats of samples: TensorFlow's, records of fixed length, and lines.
#include <boost/test/unit_test.hpp>

#include "apps/data/format.h"
#include "tests/support/memory_disk.h"
#include "tests/support/tf_record.h"

namespace troupe::data::record_formats_test {
namespace {

/// A file with five records in a format.
struct Sample {
  Format format;
  FormatOptions options;
  std::string bytes;
  std::vector<std::string> records;
};

std::vector<Sample> samples() {
  const std::vector<std::string> records = {"one", "", "three", std::string(3000, 'x'), "five"},
                                 fixed = {"abc", "def", "ghi", "jkl", "mno"};
  std::string tf;
  for (const std::string& record : records) tf += test::tf_record(record);
  return {{*find_format("tfrecord"), {}, tf, records},
          {*find_format("fixed"),
           {{"record_bytes", int64_t{3}}, {"header_bytes", int64_t{2}}},
           "##abcdefghijklmno",
           fixed},
          {*find_format("lines"), {}, "a b\r\n\nc,d\n1 2 3\nlast", {"a b", "", "c,d", "1 2 3", "last"}}};
}

struct Fixture {
  Result<std::unique_ptr<RecordReader>> open(const Sample& sample) {
    disk.write("file", sample.bytes);
    return sample.format.open(disk, {.path = "file", .options = sample.options});
  }
  static std::vector<std::string> rest(RecordReader& reader, int64_t batch) {
    std::vector<std::string> all;
    for (;;) {
      const Dataset records = value_or_throw(reader.next(batch));
      if (records.samples() == 0) return all;
      for (const std::string& record : records.columns()[0].values.as<std::string>()) all.push_back(record);
    }
  }
  test::MemoryDisk disk;
};

BOOST_FIXTURE_TEST_SUITE(record_formats, Fixture)

BOOST_AUTO_TEST_CASE(records_are_samples_without_labels) {
  for (const Sample& sample : samples()) {
    const auto reader = value_or_throw(open(sample));
    BOOST_TEST_REQUIRE(reader->schema().size() == 1u);
    BOOST_TEST((reader->schema()[0].dtype == DType::String));
    BOOST_TEST(!sample.format.labelled(sample.options));
    BOOST_TEST(rest(*reader, 2) == sample.records, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(reading_goes_on_from_any_position_and_after_skipped_records) {
  for (const Sample& sample : samples())
    for (size_t first = 0; first <= sample.records.size(); ++first) {
      const std::vector<std::string> expected(sample.records.begin() + static_cast<std::ptrdiff_t>(first),
                                              sample.records.end());
      const auto reader = value_or_throw(open(sample)), other = value_or_throw(open(sample));
      BOOST_TEST(value_or_throw(reader->skip(static_cast<int64_t>(first))) == static_cast<int64_t>(first));
      const auto position = value_or_throw(reader->position());
      BOOST_TEST(rest(*reader, 3) == expected, boost::test_tools::per_element());
      rest(*other, 1);
      BOOST_TEST(other->restore(position).ok());
      BOOST_TEST(rest(*other, 1) == expected, boost::test_tools::per_element());
    }
}

BOOST_AUTO_TEST_CASE(damaged_records_are_named) {
  Sample tf = samples()[0];
  tf.bytes[tf.bytes.size() - 6] ^= 1;
  const auto reader = value_or_throw(open(tf));
  value_or_throw(reader->skip(4));
  const Status failure = reader->next(1).status();
  BOOST_TEST((failure.code() == Code::DataLoss));
  BOOST_TEST(failure.text().starts_with("file, from record 0 at byte 0 on: "), failure.text());
  Sample fixed = samples()[1];
  fixed.bytes += '!';
  BOOST_TEST(open(fixed).status().text() ==
             "file: its 18 bytes are not a header of 2 bytes and records of 3");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::data::record_formats_test
