// Sorted tables: what the writer writes is read, and damaged files are refused.
#include "messages/tensor_files/sorted_table.h"

#include <boost/test/unit_test.hpp>

#include "messages/env/real_disk.h"
#include "messages/protobuf/fields.h"
#include "messages/values/crc32c.h"
#include "tests/support/sorted_table_bytes.h"
#include "tests/support/temporary_folder.h"

namespace troupe::sorted_table_test {
namespace {

using Entries = std::map<std::string, std::string>;

/// Keys that share prefixes, with values of up to 64 KiB, which take several blocks.
Entries many_entries() {
  Entries entries = {{"", "header"}};
  for (int i = 0; i < 400; ++i)
    entries["layer/" + std::to_string(i * 37) + "/weights"] =
        std::string(static_cast<size_t>(i * i % 65536), 'x');
  return entries;
}

std::string number(uint32_t value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }

/// A table of one block with these bytes, whose checksums are right.
std::string table_of(const std::string& block) {
  std::string bytes;
  const auto add = [&](std::string content) {
    std::string handle;
    protobuf::append_varint(handle, bytes.size());
    protobuf::append_varint(handle, content.size());
    content += '\0';
    bytes += content + number(masked_crc32c(content));
    return handle;
  };
  const std::string values = add(block), meta = add(number(0) + number(1));
  std::string entry = {'\0', '\1', static_cast<char>(values.size())};
  const std::string index = add(entry + "z" + values + number(0) + number(1));
  std::string footer = meta + index;
  footer.resize(40);
  return bytes + footer + "\x57\xfb\x80\x8b\x24\x75\x47\xdb";
}

Status failure(const std::string& bytes) { return read_sorted_table(bytes, "t").status(); }

BOOST_AUTO_TEST_SUITE(sorted_tables)

BOOST_AUTO_TEST_CASE(what_is_written_is_read) {
  for (const Entries& entries :
       {Entries{}, Entries{{"a", "1"}}, Entries{{"", ""}, {"b", ""}}, many_entries()}) {
    const std::string bytes = test::sorted_table_bytes(entries);
    BOOST_TEST((value_or_throw(read_sorted_table(bytes, "t")) == entries));
  }
}

BOOST_AUTO_TEST_CASE(one_entry_is_found_among_many) {
  const Entries entries = many_entries();
  const test::TemporaryFolder folder;
  RealDisk disk;
  const std::string path = folder.write("table", test::sorted_table_bytes(entries));
  const auto table = value_or_throw(SortedTable::open(value_or_throw(disk.open(path)), path));
  for (const auto& [key, value] : entries) {
    std::string found;
    const auto there = table.find(key, [&](std::string_view, std::string_view bytes) {
      found = bytes;
      return Status();
    });
    BOOST_TEST(value_or_throw(there));
    BOOST_TEST((found == value), key);
  }
  for (const std::string key : {"a", "layer/0/weight", "layer/0/weights0", "z"})
    BOOST_TEST(!value_or_throw(table.find(key, [](auto, auto) { return internal("called"); })), key);
}

BOOST_AUTO_TEST_CASE(keys_must_ascend) {
  SortedTableWriter table([](std::string_view) { return Status(); });
  throw_if_failed(table.add("", ""));
  throw_if_failed(table.add("b", ""));
  for (const char* key : {"", "a", "b"})
    BOOST_TEST((table.add(key, "").code() == Code::InvalidArgument), key);
  throw_if_failed(table.add("c", std::string(1 << 20, 'x')));  // ends its block
  BOOST_TEST((table.add("c", "").code() == Code::InvalidArgument));
  // An entry: shared bytes of the key, own bytes, bytes of the value, own bytes of the key.
  const std::string a = {0, 1, 0, 'a'}, b = {0, 1, 0, 'b'};
  BOOST_TEST((failure(table_of(a + b + number(0) + number(1))).message() == "Ok"));
  BOOST_TEST((failure(table_of(b + a + number(0) + number(1))).code() == Code::DataLoss));
  BOOST_TEST((failure(table_of(a + a + number(0) + number(1))).code() == Code::DataLoss));
}

BOOST_AUTO_TEST_CASE(damaged_blocks_are_refused) {
  const std::string entry = {0, 1, 0, 'a'}, end = number(0) + number(1);
  for (const std::string& block :
       {std::string(), std::string("abc"), number(1), number(0xffffffff), entry + number(0) + number(3),
        std::string{1, 1, 0, 'a'} + end, std::string{0, 2, 0, 'a'} + end, std::string{0, 1, 1, 'a'} + end,
        std::string{0, 1, '\x80'} + end, std::string{0, '\xff', '\xff', '\x7f', 'a'} + end}) {
    const Status status = failure(table_of(block));
    BOOST_TEST((status.code() == Code::DataLoss), status.message());
    BOOST_TEST(status.text().starts_with("t: "), status.message());
  }
}

BOOST_AUTO_TEST_CASE(a_changed_or_truncated_table_is_refused) {
  const Entries entries = {{"", "header"}, {"weights", std::string(200, 'w')}, {"weights/Adam", "a"}};
  const std::string bytes = test::sorted_table_bytes(entries);
  for (size_t size = 0; size < bytes.size(); ++size) BOOST_TEST(!failure(bytes.substr(0, size)).ok(), size);
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x21);
    const auto table = read_sorted_table(changed, "t");
    BOOST_TEST((!table.ok() || *table == entries), i);  // padding may be anything
  }
}

BOOST_AUTO_TEST_CASE(compressed_blocks_are_refused) {
  std::string bytes = test::sorted_table_bytes({{"a", "1"}});
  const size_t kind = bytes.find('1') + 1 + 2 * sizeof(uint32_t);
  bytes[kind] = 1;
  const uint32_t checksum = masked_crc32c(std::string_view(bytes).substr(0, kind + 1));
  bytes.replace(kind + 1, sizeof checksum, number(checksum));
  const Status status = failure(bytes);
  BOOST_TEST((status.code() == Code::Unimplemented), status.message());
  BOOST_TEST(status.text().find("compressed") != std::string::npos, status.message());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::sorted_table_test
