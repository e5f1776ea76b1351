// The readers of all formats: batches, positions, damaged files, and files that are larger than memory.
#include "apps/data/record_reader.h"

#include <boost/test/unit_test.hpp>

#include "apps/data/arrays/npy.h"
#include "apps/data/arrays/npz.h"
#include "apps/data/format.h"
#include "tests/support/memory_disk.h"

namespace troupe::data::reader_test {
namespace {

constexpr int64_t samples = 7;

/// A file with seven samples in a format, and the file of its labels.
struct Sample {
  Format format;
  std::string bytes, labels;
};

std::string idx(char element, std::vector<uint8_t> sizes, const std::string& elements) {
  std::string bytes{'\0', '\0', element, static_cast<char>(sizes.size())};
  for (const uint8_t size : sizes) bytes += std::string(3, '\0') + static_cast<char>(size);
  return bytes + elements;
}

/// Returns the sample files of all formats. A format without one fails the test.
std::vector<Sample> every_format() {
  const Tensor images = Tensor::of<float>(Shape{samples, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13});
  const Tensor labels = Tensor::vector<int32_t>({6, 5, 4, 3, 2, 1, 0});
  std::vector<Sample> result;
  for (const Format& format : all_formats()) {
    if (format.features == DType::String || format.has_text({}))
      continue;  // tests/apps/data/record_formats_test.cpp
    if (format.name == "csv")
      result.push_back({format, "0,1,6\n2,3,5\r\n\n4,5,4\n 6,\"7\",3\n8,9,2\n10,11,1\n12,13,0", ""});
    else if (format.name == "idx")
      result.push_back({format,
                        idx(0x08, {samples, 2}, std::string("\0\1\2\3\4\5\6\7\x8\x9\xa\xb\xc\xd", 14)),
                        idx(0x08, {samples}, std::string("\6\5\4\3\2\1\0", 7))});
    else if (format.name == "npy")
      result.push_back({format, value_or_throw(write_npy(images)), value_or_throw(write_npy(labels))});
    else if (format.name == "npz")
      result.push_back({format, value_or_throw(write_npz({{"image", images}, {"label", labels}})), ""});
    else
      BOOST_ERROR("no sample file of format " << format.name);
  }
  return result;
}

Result<std::unique_ptr<RecordReader>> open(const Sample& sample) {
  test::MemoryDisk disk;
  disk.write("file", sample.bytes);
  disk.write("labels", sample.labels);
  return sample.format.open(disk, {"file", sample.labels.empty() ? "" : "labels"});
}

std::vector<std::string> texts(const Dataset& records) {
  std::vector<std::string> result;
  for (int64_t i = 0; i < records.samples(); ++i) {
    const Dataset one = records.slice(i, i + 1);
    std::string text;
    for (const Column& column : one.columns())
      text.append(reinterpret_cast<const char*>(column.values.data()), column.values.bytes());
    result.push_back(std::move(text));
  }
  return result;
}

/// Returns the remaining records of the file, which it reads in batches of the given size.
Result<std::vector<std::string>> rest(RecordReader& reader, int64_t batch) {
  std::vector<std::string> result;
  for (;;) {
    TROUPE_ASSIGN(const Dataset records, reader.next(batch));
    if (records.samples() == 0) return result;
    BOOST_TEST(records.samples() <= batch);
    for (auto& text : texts(records)) result.push_back(std::move(text));
  }
}

std::vector<std::string> from(const std::vector<std::string>& records, int64_t first) {
  return {records.begin() + first, records.end()};
}

BOOST_AUTO_TEST_SUITE(readers)

BOOST_AUTO_TEST_CASE(batches_of_any_size_are_the_same_records) {
  for (const Sample& sample : every_format()) {
    const auto whole = value_or_throw(rest(*value_or_throw(open(sample)), 100));
    BOOST_TEST(whole.size() == static_cast<size_t>(samples), sample.format.name);
    for (int64_t batch = 1; batch <= samples; ++batch)
      BOOST_TEST((value_or_throw(rest(*value_or_throw(open(sample)), batch)) == whole), sample.format.name);
    const auto reader = value_or_throw(open(sample));
    BOOST_TEST(reader->schema().size() == 2u);
    BOOST_TEST(reader->schema()[0].name == "image");
    BOOST_TEST(reader->schema()[0].shape == std::vector<int64_t>{2}, boost::test_tools::per_element());
    BOOST_TEST(reader->schema()[1].name == "label");
    const Dataset first = value_or_throw(reader->next(1));
    for (size_t i = 0; i < 2; ++i) {
      BOOST_TEST(first.columns()[i].name == reader->schema()[i].name);
      BOOST_TEST((first.columns()[i].values.dtype() == reader->schema()[i].dtype));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_position_saved_at_any_record_is_restored_in_another_reader) {
  for (const Sample& sample : every_format()) {
    const auto whole = value_or_throw(rest(*value_or_throw(open(sample)), 100));
    const auto reader = value_or_throw(open(sample));
    for (int64_t record = 0; record <= samples; ++record) {
      const std::string saved = to_text(value_or_throw(reader->position()));
      const auto other = value_or_throw(open(sample));
      value_or_throw(other->next(record / 2));
      BOOST_TEST(other->restore(value_or_throw(parse_position(saved))).ok());
      BOOST_TEST((value_or_throw(rest(*other, 2)) == from(whole, record)),
                 sample.format.name << " at " << record);
      value_or_throw(reader->next(1));
    }
  }
}

BOOST_AUTO_TEST_CASE(skipped_records_count_as_read_ones) {
  for (const Sample& sample : every_format()) {
    const auto whole = value_or_throw(rest(*value_or_throw(open(sample)), 100));
    for (int64_t records = 0; records <= samples; ++records) {
      const auto reading = value_or_throw(open(sample)), skipping = value_or_throw(open(sample));
      value_or_throw(reading->next(records));
      BOOST_TEST(value_or_throw(skipping->skip(records)) == records);
      BOOST_TEST((value_or_throw(skipping->position()) == value_or_throw(reading->position())),
                 sample.format.name << " at " << records);
      BOOST_TEST((value_or_throw(rest(*skipping, 2)) == from(whole, records)));
      BOOST_TEST(value_or_throw(skipping->skip(1)) == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(errors_after_a_restored_position_name_the_same_row) {
  const Sample sample{*find_format("csv"), "1,2,3\n\n4,5,6\n7,x,9\n", ""};
  const auto reader = value_or_throw(open(sample)), other = value_or_throw(open(sample));
  value_or_throw(reader->next(2));
  BOOST_TEST(other->restore(value_or_throw(reader->position())).ok());
  BOOST_TEST(other->next(1).status().text() == "file: row 4, column 2: 'x' is not a finite number");
}

BOOST_AUTO_TEST_CASE(a_position_of_anything_else_is_refused) {
  const auto every = every_format();
  for (size_t i = 0; i < every.size(); ++i) {
    const auto position = value_or_throw(value_or_throw(open(every[i]))->position());
    const auto code_of = [&](const Sample& sample, ReaderPosition there) {
      return value_or_throw(open(sample))->restore(there).code();
    };
    BOOST_TEST((code_of(every[(i + 1) % every.size()], position) == Code::FailedPrecondition));
    Sample changed = every[i];
    const bool archive = changed.format.name == "npz";  // the checksums of an archive would no longer match
    if (archive)
      changed.bytes =
          value_or_throw(write_npz({{"image", Tensor::of<float>(Shape{samples, 2}, std::vector<float>(14))},
                                    {"label", Tensor::vector<int32_t>({6, 5, 4, 3, 2, 1, 0})}}));
    else
      changed.bytes.back() = static_cast<char>(changed.bytes.back() ^ 1);
    BOOST_TEST(changed.bytes.size() == every[i].bytes.size());
    BOOST_TEST((code_of(changed, position) == Code::FailedPrecondition), every[i].format.name);
    ReaderPosition beyond = position;
    beyond.record = beyond.offset = 1'000'000;
    BOOST_TEST((code_of(every[i], beyond) == Code::InvalidArgument), every[i].format.name);
  }
  for (const char* text : {"", "1", "1 2 3", "1 2 3 4 ", "1 2 3 4 5", "a b c d", "1 2 3 -4", "1,2,3,4"})
    BOOST_TEST((parse_position(text).status().code() == Code::InvalidArgument), text);
}

BOOST_AUTO_TEST_CASE(a_file_cut_short_anywhere_is_refused_or_yields_what_is_whole) {
  for (const Sample& sample : every_format()) {
    const auto whole = value_or_throw(rest(*value_or_throw(open(sample)), 100));
    for (size_t size = 0; size < sample.bytes.size(); ++size) {
      const auto reader = open({sample.format, sample.bytes.substr(0, size), sample.labels});
      if (!reader) continue;
      BOOST_TEST_REQUIRE(sample.format.name == "csv", sample.format.name << " cut to " << size);
      const auto records = rest(**reader, 1);
      for (size_t i = 0; records && i + 1 < records->size(); ++i) BOOST_TEST(((*records)[i] == whole[i]));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_damaged_file_yields_records_or_an_error) {
  for (const Sample& sample : every_format())
    for (size_t at = 0; at < sample.bytes.size(); ++at)
      for (const int flip : {0x01, 0x80, 0xff}) {
        Sample damaged = sample;
        damaged.bytes[at] = static_cast<char>(damaged.bytes[at] ^ flip);
        const auto reader = open(damaged);
        const auto records = reader ? rest(**reader, 3) : Result<std::vector<std::string>>(reader.status());
        if (records && sample.format.name != "csv") BOOST_TEST_REQUIRE(records->size() == size_t{samples});
        if (!records)
          BOOST_TEST_REQUIRE(records.status().text().starts_with("file"), records.status().text());
      }
}

// The file has a terabyte, so a reader that keeps more than a batch in memory fails.
BOOST_AUTO_TEST_CASE(memory_is_bounded_by_a_batch) {
  constexpr uint64_t terabyte = uint64_t{1} << 40, rows = terabyte / 8;
  test::MemoryDisk disk;
  disk.write("csv", terabyte, [](uint64_t offset) { return "1,2,345\n"[offset % 8]; });
  std::string header = value_or_throw(write_npy(Tensor::of<uint8_t>(Shape{0, 8}, {})));
  const size_t shape = header.find("(0, 8)");
  header.replace(shape, 6 + 11, "(137438953472, 8)");
  BOOST_TEST_REQUIRE(header.size() == 128u);
  disk.write("npy", header.size() + terabyte, [header](uint64_t offset) {
    return offset < header.size() ? header[offset] : static_cast<char>(offset % 8);
  });
  for (const char* format : {"csv", "npy"}) {
    const auto reader = value_or_throw(find_format(format)->open(disk, {format}));
    const auto first = texts(value_or_throw(reader->next(3)));
    ReaderPosition position = value_or_throw(reader->position());
    const uint64_t record = position.record;
    position.record = rows - 2;
    if (position.offset != 0) position.offset = terabyte - 2 * position.offset / record;
    BOOST_TEST(reader->restore(position).ok());
    const auto last = texts(value_or_throw(reader->next(3)));
    BOOST_TEST_REQUIRE(last.size() == 2u);
    BOOST_TEST((last[1] == first[0]));
  }
}

// Reading half a billion records without bytes would take minutes.
BOOST_AUTO_TEST_CASE(samples_without_numbers_are_refused) {
  const Tensor no_columns = Tensor::of<float>(Shape{samples, 0}, {});
  for (const auto& [format, bytes] : {std::pair("idx", idx(0x08, {0x20, 0}, "")),
                                      std::pair("npy", value_or_throw(write_npy(no_columns)))}) {
    const Status status = open({*find_format(format), bytes, ""}).status();
    BOOST_TEST(status.text().ends_with("0]: a sample has no elements"), status.text());
  }
}

BOOST_AUTO_TEST_CASE(a_line_without_an_end_is_refused) {
  test::MemoryDisk disk;
  disk.write("long", uint64_t{1} << 40, [](uint64_t) { return '1'; });
  BOOST_TEST(find_format("csv")->open(disk, {"long"}).status().text() ==
             "long: row 1: the row is longer than 64 MiB");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::data::reader_test
