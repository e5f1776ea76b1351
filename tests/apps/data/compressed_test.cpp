// Compressed files of samples: each format yields the samples of the file without compression, from any position, whatever is
// damaged; and in a stream each file is read once per epoch, from its beginning to its end.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "apps/data/arrays/npy.h"
#include "apps/data/load.h"
#include "tests/support/compressed.h"
#include "tests/support/memory_disk.h"
#include "tests/support/tf_record.h"

namespace troupe::data::compressed_test {
namespace {

using test::compressed;

/// A file with five samples in a format.
struct Sample {
  std::string format;
  std::string bytes;
  FormatOptions options = {};
};

std::vector<Sample> samples() {
  const Tensor rows = Tensor::of<float>(Shape{5, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  std::string tf;
  for (const char* const record : {"one", "", "three", "four", "five"}) tf += test::tf_record(record);
  return {{"csv", "0,1,0\n2,3,1\n\n4,5,2\r\n6,7,3\n8,9,4"},
          {"fixed", "##abcdefghijklmno", {{"record_bytes", int64_t{3}}, {"header_bytes", int64_t{2}}}},
          {"idx", std::string("\0\0\x08\2\0\0\0\5\0\0\0\2", 12) + "abcdefghij"},
          {"lines", "a b\r\n\nc,d\n1 2 3\nlast"},
          {"npy", value_or_throw(write_npy(rows))},
          {"tfrecord", tf}};
}

constexpr Compression every_form[] = {Compression::Gzip, Compression::Zlib, Compression::Zstd};

struct Fixture {
  /// Opens a file; how it is compressed is said only for zlib, which has no magic number.
  Result<std::unique_ptr<RecordReader>> open(const Sample& sample, const std::string& bytes,
                                             Compression form = Compression::Gzip) {
    disk.write("file", bytes);
    SourceFile file{.path = "file", .options = sample.options};
    if (form == Compression::Zlib) file.compression = form;
    return find_format(sample.format)->open(disk, file);
  }
  static Result<std::vector<std::string>> rest(RecordReader& reader, int64_t batch) {
    std::vector<std::string> all;
    for (;;) {
      TROUPE_ASSIGN(const Dataset records, reader.next(batch));
      if (records.samples() == 0) return all;
      const Tensor& values = records.columns()[0].values;
      for (int64_t i = 0; i < records.samples(); ++i) {
        const Tensor row = values.rows(i, i + 1);
        all.push_back(row.dtype() == DType::String
                          ? row.as<std::string>()[0]
                          : std::string(reinterpret_cast<const char*>(row.data()), row.bytes()));
      }
    }
  }
  std::vector<std::string> plain(const Sample& sample) {
    return value_or_throw(rest(*value_or_throw(open(sample, sample.bytes)), 2));
  }

  test::MemoryDisk disk;
};

BOOST_FIXTURE_TEST_SUITE(compressed_files, Fixture)

BOOST_AUTO_TEST_CASE(every_format_reads_compressed_files) {
  for (const Sample& sample : samples()) {
    const auto expected = plain(sample);
    BOOST_TEST_REQUIRE(expected.size() == 5u);
    for (const Compression form : every_form)
      for (const int64_t batch : {1, 2, 100}) {
        const auto reader = value_or_throw(open(sample, compressed(sample.bytes, form), form));
        BOOST_TEST(reader->is_compressed());
        BOOST_TEST((value_or_throw(rest(*reader, batch)) == expected), sample.format);
      }
  }
}

BOOST_AUTO_TEST_CASE(several_members_or_frames_are_one_file) {
  for (const Sample& sample : samples())
    for (const Compression form : {Compression::Gzip, Compression::Zstd})
      for (size_t cut = 0; cut <= sample.bytes.size(); ++cut) {
        const std::string bytes =
            compressed(sample.bytes.substr(0, cut), form) + compressed(sample.bytes.substr(cut), form);
        BOOST_TEST((value_or_throw(rest(*value_or_throw(open(sample, bytes)), 3)) == plain(sample)));
      }
}

BOOST_AUTO_TEST_CASE(a_position_is_restored_in_any_order) {
  for (const Sample& sample : samples())
    for (const Compression form : every_form) {
      const std::string bytes = compressed(sample.bytes, form);
      const auto expected = plain(sample);
      const auto reader = value_or_throw(open(sample, bytes, form));
      std::vector<ReaderPosition> positions;
      for (size_t i = 0; i <= expected.size(); ++i) {
        positions.push_back(value_or_throw(reader->position()));
        value_or_throw(reader->skip(1));
      }
      for (const size_t at : {2, 4, 0, 5, 1, 3, 3}) {
        BOOST_TEST_REQUIRE(reader->restore(positions[at]).ok());
        BOOST_TEST((value_or_throw(rest(*reader, 1)) ==
                    std::vector(expected.begin() + static_cast<std::ptrdiff_t>(at), expected.end())),
                   sample.format << " at " << at);
      }
    }
}

BOOST_AUTO_TEST_CASE(files_that_are_cut_off_or_damaged_are_named_with_the_byte) {
  for (const Sample& sample : samples())
    for (const Compression form : every_form) {
      const std::string whole = compressed(sample.bytes, form);
      const auto read = [&](const std::string& bytes) -> Status {
        TROUPE_ASSIGN(const auto reader, open(sample, bytes, form));
        return rest(*reader, 2).status();
      };
      for (size_t size = 4; size < whole.size(); ++size) {
        const Status status = read(whole.substr(0, size));
        BOOST_TEST_REQUIRE((status.code() == Code::DataLoss), sample.format << " cut to " << size);
        BOOST_TEST(status.text().starts_with("file"), status.text());
        BOOST_TEST(status.text().ends_with("the compressed bytes end too early, at byte " +
                                           std::to_string(size) + " of the compressed file"),
                   status.text());
      }
      for (size_t at = 0; at < whole.size(); ++at) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
        const Status status = read(damaged);
        if (!status.ok()) BOOST_TEST(status.text().starts_with("file"), status.text());
      }
    }
}

// A bomb is read as any other file, with memory for a batch.
BOOST_AUTO_TEST_CASE(bombs_are_read_with_bounded_memory) {
  const std::string megabytes(size_t{80} << 20, '\0');
  for (const Compression form : every_form) {
    const std::string bomb = compressed(megabytes, form);
    BOOST_TEST(bomb.size() < 90'000u);
    BOOST_TEST(open({"csv", ""}, bomb, form).status().text() == "file: row 1: the row is longer than 64 MiB");
    BOOST_TEST((open({"idx", ""}, bomb, form).status().code() == Code::DataLoss));
  }
}

BOOST_AUTO_TEST_CASE(a_file_that_is_said_not_to_be_compressed_is_read_as_it_is) {
  disk.write("file", compressed("a\n", Compression::Gzip));
  const auto reader = value_or_throw(
      find_format("lines")->open(disk, {.path = "file", .options = {}, .compression = Compression::None}));
  BOOST_TEST(!reader->is_compressed());
  BOOST_TEST(value_or_throw(rest(*reader, 1))[0].starts_with("\x1f\x8b"));
}

/// Returns the numbers of an epoch in the order in which they are drawn.
std::vector<int> epoch(Batches& batches, uint64_t number) {
  std::vector<int> all;
  const auto per_epoch = static_cast<uint64_t>(batches.per_epoch());
  for (uint64_t i = 0; i < per_epoch; ++i) {
    const Dataset batch = value_or_throw(batches.at(number * per_epoch + i));
    const auto values = batch.find("x")->as<int32_t>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

BOOST_AUTO_TEST_CASE(a_stream_of_compressed_files_draws_every_sample_once) {
  Options options;
  options.stream = true;
  options.buffer = 48;
  options.inputs = {{"x", "image", std::vector<int64_t>{}, DType::Int32}};
  std::vector<int> expected;
  for (int file = 0; file < 20; ++file) {
    std::string text;
    for (int i = 0; i < 30; ++i) {
      expected.push_back(file * 30 + i);
      text += std::to_string(expected.back()) + ",0\n";
    }
    options.train.push_back("shard" + std::to_string(file));
    disk.write(options.train.back(), compressed(text, file % 2 ? Compression::Zstd : Compression::Gzip));
  }
  const auto set = value_or_throw(load(disk, options, 1)).train;
  const auto in_turn = set->batches(16, 5, true), resumed = set->batches(16, 5, true);
  BOOST_TEST((epoch(*set->batches(16, 5, false), 0) == expected));
  std::vector<std::vector<int>> orders;
  for (uint64_t i = 0; i < 2; ++i) {
    orders.push_back(epoch(*in_turn, i));
    auto sorted = orders.back();
    std::ranges::sort(sorted);
    BOOST_TEST((sorted == expected));
    // Files are mixed: the first samples come from several of them.
    std::vector<int> files;
    for (int at = 0; at < 48; ++at) files.push_back(orders.back()[static_cast<size_t>(at)] / 30);
    std::ranges::sort(files);
    BOOST_TEST((std::unique(files.begin(), files.end()) - files.begin()) > 3);
  }
  BOOST_TEST((orders[0] != orders[1]));
  const Dataset batch = value_or_throw(resumed->at(50));
  BOOST_TEST(batch.find("x")->as<int32_t>()[0] == orders[1][size_t{50 - 38} * 16]);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::data::compressed_test
