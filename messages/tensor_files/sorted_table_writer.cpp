#include "messages/tensor_files/sorted_table_writer.h"

#include <algorithm>

#include "messages/protobuf/fields.h"
#include "messages/tensor_files/table_format.h"
#include "messages/values/crc32c.h"

namespace troupe {
namespace {

using namespace table_format;

constexpr size_t block_bytes = 256 << 10;  ///< a block with this many bytes is written
constexpr uint32_t keys_per_restart = 16;  ///< of these keys the first is stored whole

template <class T>
void append_number(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

void SortedTableWriter::Block::add(std::string_view key, std::string_view value) {
  size_t shared = 0;
  if (restarts.empty() || since_restart == keys_per_restart) {
    append_number(restarts, static_cast<uint32_t>(bytes.size()));
    ++restart_count;
    since_restart = 0;
  } else {
    const size_t most = std::min(key.size(), last_key.size());
    while (shared < most && key[shared] == last_key[shared]) ++shared;
  }
  ++since_restart;
  protobuf::append_varint(bytes, shared);
  protobuf::append_varint(bytes, key.size() - shared);
  protobuf::append_varint(bytes, value.size());
  bytes.append(key.substr(shared)).append(value);
  last_key = key;
}

Status SortedTableWriter::add(std::string_view key, std::string_view value) {
  const std::string_view last = block_.empty() ? index_.last_key : block_.last_key;
  if (has_entries_ && key <= last)
    return invalid_argument("a key of a sorted table is not greater than the one before");
  has_entries_ = true;
  block_.add(key, value);
  return block_.bytes.size() >= block_bytes ? end_block() : Status();
}

Status SortedTableWriter::end_block() {
  const std::string last_key = block_.last_key;
  TROUPE_ASSIGN(const std::string handle, write(std::move(block_)));
  block_ = {};
  index_.add(last_key, handle);
  return {};
}

Result<std::string> SortedTableWriter::write(Block block) {
  if (block.empty()) {
    append_number(block.restarts, uint32_t{0});
    block.restart_count = 1;
  }
  std::string bytes = std::move(block.bytes);
  bytes += block.restarts;
  append_number(bytes, block.restart_count);
  std::string handle;
  protobuf::append_varint(handle, written_);
  protobuf::append_varint(handle, bytes.size());
  bytes += uncompressed;
  append_number(bytes, masked_crc32c(bytes));
  TROUPE_RETURN_IF_FAILED(append_(bytes));
  written_ += bytes.size();
  return handle;
}

Status SortedTableWriter::finish() {
  if (!block_.empty()) TROUPE_RETURN_IF_FAILED(end_block());
  TROUPE_ASSIGN(std::string footer, write({}));  // there is no meta data
  TROUPE_ASSIGN(const std::string index, write(std::move(index_)));
  footer += index;
  footer.resize(footer_bytes - sizeof magic);
  append_number(footer, magic);
  return append_(footer);
}

}  // namespace troupe
