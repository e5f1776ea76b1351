// Records of files: lines, records of fixed length, TensorFlow's records, whole files; compressed, damaged, cut off, in blocks.
#include "messages/records/record_stream.h"

#include <boost/test/unit_test.hpp>
#include <functional>

#include "messages/values/crc32c.h"
#include "tests/support/compressed.h"
#include "tests/support/memory_disk.h"

namespace troupe::records_test {
namespace {

using Records = std::vector<std::string>;
using test::compressed;
using Make = std::function<std::unique_ptr<RecordStream>(std::unique_ptr<ByteSource>)>;

/// What a stream yields: records, their numbers, and how it ends.
struct Read {
  Records records;
  std::vector<uint64_t> numbers;
  Status status;
};

Read read(const std::string& bytes, const Make& make, Compression compression = Compression::None) {
  test::MemoryDisk disk;
  disk.write("f", bytes);
  const auto stream = make(value_or_throw(open_source(disk, "f", compression)));
  Read result;
  for (;;) {
    const auto record = stream->next();
    if (!record) {
      BOOST_TEST(stream->next().status().text() == record.status().text());  // fails again in the same way
      result.status = record.status();
      return result;
    }
    if (!*record) return result;
    result.records.emplace_back(**record);
    result.numbers.push_back(stream->number());
  }
}

void check(const Read& read, const Records& records, const std::vector<uint64_t>& numbers) {
  BOOST_TEST(read.status.ok(), read.status.message());
  BOOST_TEST((read.records == records));
  BOOST_TEST((read.numbers == numbers));
}

void check_damaged(const Read& read, size_t records, const std::string& what) {
  BOOST_TEST((read.status.code() == Code::DataLoss));
  BOOST_TEST(read.status.text().find(what) != std::string::npos, read.status.text()
                                                                     << " does not say: " << what);
  BOOST_TEST(read.records.size() == records);
}

Make lines(uint64_t skipped = 0) {
  return [skipped](auto source) { return text_lines(std::move(source), skipped); };
}
Make fixed(const FixedLength& length) {
  return [length](auto source) { return fixed_length_records(std::move(source), length); };
}

template <class T>
std::string bytes_of(T number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

std::string tf_record(const std::string& record) {
  const std::string length = bytes_of<uint64_t>(record.size());
  return length + bytes_of(masked_crc32c(length)) + record + bytes_of(masked_crc32c(record));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(records)

BOOST_AUTO_TEST_CASE(lines_end_in_either_way) {
  check(read("a\rb\r\n\nc\n\r\nlast\r", lines()), {"a\rb", "", "c", "", "last"}, {1, 2, 3, 4, 5});
  check(read("a\nb", lines()), {"a", "b"}, {1, 2});
  check(read("", lines()), {}, {});
  check(read("\n", lines()), {""}, {1});
  check(read("head\nmore\na\n", lines(2)), {"a"}, {3});
  check(read("head\n", lines(2)), {}, {});
}

BOOST_AUTO_TEST_CASE(lines_longer_than_a_block) {
  const std::string first(300'000, 'a'), second(1'000'000, 'b');
  check(read(first + "\r\nx\n" + second, lines()), {first, "x", second}, {1, 2, 3});
}

BOOST_AUTO_TEST_CASE(records_of_fixed_length) {
  check(read("HHabcdef", fixed({.header = 2, .record = 2, .footer = 0, .hop = 2})), {"ab", "cd", "ef"},
        {0, 1, 2});
  check(read("HHabcdefF", fixed({.header = 2, .record = 2, .footer = 1, .hop = 2})), {"ab", "cd", "ef"},
        {0, 1, 2});
  check(read("abcdef", fixed({.header = 0, .record = 3, .footer = 0, .hop = 1})),
        {"abc", "bcd", "cde", "def"}, {0, 1, 2, 3});
  check(read("ab--cd--ef", fixed({.header = 0, .record = 2, .footer = 0, .hop = 4})), {"ab", "cd", "ef"},
        {0, 1, 2});
  check(read("abcde", fixed({.header = 0, .record = 2, .footer = 0, .hop = 2})), {"ab", "cd"}, {0, 1});
  check(read("ab", fixed({.header = 3, .record = 1, .footer = 0, .hop = 1})), {}, {});
  check(read("", fixed({.header = 0, .record = 1, .footer = 0, .hop = 1})), {}, {});
  const std::string large(600'000, 'x');
  check(read("H" + large + "yz", fixed({.header = 500'000, .record = 50'000, .footer = 1, .hop = 50'000})),
        {std::string(50'000, 'x'), std::string(50'000, 'x')}, {0, 1});
}

// A file of 3 bytes makes nobody allocate what it does not hold.
BOOST_AUTO_TEST_CASE(records_longer_than_allowed_or_than_the_file) {
  const uint64_t huge = UINT64_MAX;
  check_damaged(read("abc", fixed({.header = 0, .record = huge, .footer = huge, .hop = huge})), 0,
                "may have");
  check(read("abc", fixed({.header = 0, .record = size_t{1} << 30, .footer = 0, .hop = 1})), {}, {});
  check(read("abc", fixed({.header = huge, .record = 1, .footer = 0, .hop = 1})), {}, {});
}

BOOST_AUTO_TEST_CASE(records_of_tensorflow) {
  const std::string large(700'000, 'r');
  const std::string bytes = tf_record("one") + tf_record("") + tf_record(large) + tf_record("two");
  check(read(bytes, tf_records), {"one", "", large, "two"}, {0, 19, 35, 35 + 16 + large.size()});
  check(read("", tf_records), {}, {});
}

BOOST_AUTO_TEST_CASE(damaged_records_of_tensorflow) {
  const std::string bytes = tf_record("one") + tf_record("two");
  for (size_t end = 20; end < bytes.size(); ++end)
    check_damaged(read(bytes.substr(0, end), tf_records), 1, "record 1 at byte 19: the file ends");
  for (size_t at = 19; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    check_damaged(read(damaged, tf_records), 1, "record 1 at byte 19: the checksum");
  }
  const std::string length = bytes_of(UINT64_MAX);
  check_damaged(read(length + bytes_of(masked_crc32c(length)), tf_records), 0,
                "it has 18446744073709551615 bytes");
}

BOOST_AUTO_TEST_CASE(a_file_as_one_record) {
  const std::string large(900'000, 'x');
  check(read("a\nb", whole_file), {"a\nb"}, {0});
  check(read("", whole_file), {""}, {0});
  check(read(large, whole_file), {large}, {0});
}

BOOST_AUTO_TEST_CASE(compressed_files) {
  std::string bytes;
  Records expected;
  std::vector<uint64_t> numbers;
  for (int i = 0; i < 50'000; ++i) {
    expected.push_back("line " + std::to_string(i));
    numbers.push_back(static_cast<uint64_t>(i) + 1);
    bytes += expected.back() + '\n';
  }
  for (const Compression compression : {Compression::Zlib, Compression::Gzip, Compression::Zstd}) {
    const std::string packed = compressed(bytes, compression);
    check(read(packed, lines(), compression), expected, numbers);
    if (compression != Compression::Zstd)
      check(read(packed + "trailing bytes", lines(), compression), expected, numbers);
    check(read("", lines(), compression), {}, {});
    check_damaged(read(packed.substr(0, packed.size() / 2), whole_file, compression), 0, "end too early");
    BOOST_TEST(read(packed.substr(0, packed.size() / 2), lines(), compression).records.size() > 10'000u);
    check_damaged(read("no such form", lines(), compression), 0, "");
    // The bytes pass over the ends of blocks, also where zlib has taken all that it was given.
    const std::string zeros(5'000'000, '\0');
    check(read(compressed(zeros, compression), whole_file, compression), {zeros}, {0});
    check(read(compressed("HHHabcd", compression), fixed({.header = 3, .record = 2, .footer = 0, .hop = 2}),
               compression),
          {"ab", "cd"}, {0, 1});
  }
  for (const Compression form : {Compression::Gzip, Compression::Zstd})
    check(read(compressed("a\nb", form) + compressed("", form) + compressed("c\nd\n", form), lines(), form),
          {"a", "bc", "d"}, {1, 2, 3});
}

BOOST_AUTO_TEST_CASE(damaged_frames_of_zstd) {
  const Compression zstd = Compression::Zstd;
  const std::string packed = compressed("a\nb\n", zstd), skipped("\x5a\x2a\x4d\x18\2\0\0\0xy", 10);
  check(read(skipped + packed + skipped, lines(), zstd), {"a", "b"}, {1, 2});
  check_damaged(read(packed + "trailing bytes", whole_file, zstd), 0,
                "at byte " + std::to_string(packed.size()));
  for (size_t size = 1; size < packed.size(); ++size)
    check_damaged(read(packed.substr(0, size), whole_file, zstd), 0,
                  "end too early, at byte " + std::to_string(size) + " of the compressed file");
  // A frame that asks for a window of 2^41 bytes.
  check_damaged(read(std::string("\x28\xb5\x2f\xfd\0\xf8\0\0\0\0", 10), whole_file, zstd), 0,
                "at most 128 MiB are allowed");
}

BOOST_AUTO_TEST_CASE(the_first_bytes_say_how_a_file_is_compressed) {
  const auto known = [](const std::string& bytes) {
    test::MemoryDisk disk;
    disk.write("f", bytes);
    return value_or_throw(compression_of(*value_or_throw(disk.open("f"))));
  };
  for (const Compression form : {Compression::Gzip, Compression::Zstd}) {
    BOOST_TEST((known(compressed("text", form)) == form));
    BOOST_TEST((known(compressed("", form)) == form));
  }
  BOOST_TEST((known(std::string("\x50\x2a\x4d\x18\0\0\0\0", 8)) == Compression::Zstd));
  for (const char* plain : {"", "\x1f", "\x1f\x8b", "1,2,3\n", "\x28\xb5\x2f"})
    BOOST_TEST((known(plain) == Compression::None));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::records_test
