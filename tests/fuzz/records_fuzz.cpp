// Whatever the bytes are, reading them as a file of records ends with records that are in the file or with a Status. The first
// byte chooses the form of the records, the second the compression. For libFuzzer (tests/fuzz/CMakeLists.txt).
#include "messages/records/record_stream.h"
#include "tests/support/memory_disk.h"

namespace troupe::test {
namespace {

std::unique_ptr<RecordStream> stream_of(uint8_t form, std::unique_ptr<ByteSource> source) {
  switch (form % 5) {
    case 0: return text_lines(std::move(source), form / 5);
    case 1:
      return fixed_length_records(std::move(source),
                                  {.header = form / 5u, .record = 3, .footer = 1, .hop = 2});
    case 2:
      return fixed_length_records(std::move(source),
                                  {.header = 0, .record = 1u + form / 5, .footer = 0, .hop = 70});
    case 3: return whole_file(std::move(source));
    default: return tf_records(std::move(source));
  }
}

void check(uint8_t form, Compression compression, std::string_view bytes) {
  MemoryDisk disk;
  disk.write("f", std::string(bytes));
  auto source = open_source(disk, "f", compression);
  if (!source) __builtin_trap();
  const auto stream = stream_of(form, std::move(*source));
  if (compression == Compression::Zstd && bytes.size() > 200) return;  // four bytes may become 128 KiB
  const size_t most_of_one = compression == Compression::Zstd ? size_t{128} << 10 : 1032;  // made of one byte
  const size_t most = bytes.size() * (compression == Compression::None ? 2 : 2 * most_of_one) + 1;
  for (size_t records = 0, total = 0; total <= most; ++records) {
    const auto record = stream->next();
    if (!record || !*record) return;
    total += (*record)->size();
    if (records > most) break;
  }
  __builtin_trap();
}

}  // namespace
}  // namespace troupe::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {  // NOLINT: libFuzzer's name
  if (size < 2) return 0;
  const auto compression = static_cast<troupe::Compression>(data[1] % 4);
  troupe::test::check(data[0], compression, {reinterpret_cast<const char*>(data + 2), size - 2});
  return 0;
}
