#include "messages/tensor_files/sorted_table.h"

#include <algorithm>
#include <cstring>

#include "messages/protobuf/fields.h"
#include "messages/tensor_files/table_format.h"
#include "messages/values/crc32c.h"

namespace troupe {
namespace {

using namespace table_format;

template <class T>
T number_at(std::string_view bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// Bytes in memory as a file.
class MemoryFile final : public ReadableFile {
 public:
  explicit MemoryFile(std::string_view bytes) : bytes_(bytes) {}
  Result<uint64_t> size() override { return uint64_t{bytes_.size()}; }
  Result<size_t> read(uint64_t offset, std::span<std::byte> into) override {
    const std::string_view there =
        bytes_.substr(std::min<uint64_t>(offset, bytes_.size())).substr(0, into.size());
    std::memcpy(into.data(), there.data(), there.size());
    return there.size();
  }

 private:
  const std::string_view bytes_;
};

}  // namespace

Status SortedTable::damaged(const std::string& what) const { return data_loss(file_ + ": " + what); }

Result<std::string> SortedTable::read(uint64_t offset, uint64_t size) const {
  std::string bytes(size, '\0');
  TROUPE_ASSIGN(const size_t count, bytes_->read(offset, std::as_writable_bytes(std::span(bytes))));
  if (count != size) return damaged("it became shorter while it was read");
  return bytes;
}

/// Returns the entries of a block, without its trailer.
Result<std::string> SortedTable::read_block(uint64_t offset, uint64_t size) const {
  if (offset > size_ || size > size_ - offset || size_ - offset - size < trailer_bytes)
    return damaged("the block at byte " + std::to_string(offset) + " lies outside the file");
  TROUPE_ASSIGN(std::string block, read(offset, size + trailer_bytes));
  const std::string_view checked = std::string_view(block).substr(0, size + 1);
  if (masked_crc32c(checked) != number_at<uint32_t>(block, size + 1))
    return damaged("the checksum of the block at byte " + std::to_string(offset) + " is wrong");
  if (checked.back() != uncompressed)
    return unimplemented(file_ + ": the block at byte " + std::to_string(offset) +
                         " is compressed, which is not supported");
  block.resize(size);
  return block;
}

Status SortedTable::visit_block(std::string_view block, uint64_t offset, uint64_t& key_bytes,
                                const Visit& visit) const {
  const auto wrong = [&](const std::string& what) {
    return damaged("the block at byte " + std::to_string(offset) + what);
  };
  if (block.size() < sizeof(uint32_t)) return wrong(" is too short for its restart points");
  const uint64_t restarts = number_at<uint32_t>(block, block.size() - sizeof(uint32_t));
  if (restarts > block.size() / sizeof(uint32_t) - 1) return wrong(" is too short for its restart points");
  std::string_view rest = block.substr(0, block.size() - (restarts + 1) * sizeof(uint32_t));
  std::string key, before;
  for (bool is_first = true; !rest.empty(); is_first = false) {
    const auto shared = protobuf::take_varint(rest), own = protobuf::take_varint(rest),
               value = protobuf::take_varint(rest);
    if (!shared || !own || !value || *shared > key.size() || *own > rest.size() ||
        *value > rest.size() - *own)
      return wrong(" has a damaged entry");
    key_bytes += *shared + *own;
    if (key_bytes > max_key_bytes) return damaged("its keys take more than 1 GiB");
    before = key;
    key.resize(*shared);
    key += rest.substr(0, *own);
    if (!is_first && key <= before) return wrong(" has keys that are not in ascending order");
    TROUPE_RETURN_IF_FAILED(visit(key, rest.substr(*own, *value)));
    rest.remove_prefix(*own + *value);
  }
  return {};
}

Status SortedTable::read_footer() {
  if (size_ < footer_bytes)
    return damaged("not a sorted table: it has only " + std::to_string(size_) + " bytes");
  TROUPE_ASSIGN(const std::string footer, read(size_ - footer_bytes, footer_bytes));
  if (number_at<uint64_t>(footer, footer_bytes - sizeof magic) != magic)
    return damaged("not a sorted table: its last 8 bytes are not those of one");
  std::string_view rest = footer;
  const auto meta_offset = protobuf::take_varint(rest), meta_size = protobuf::take_varint(rest);
  const auto offset = protobuf::take_varint(rest), size = protobuf::take_varint(rest);
  if (!meta_offset || !meta_size || !offset || !size) return damaged("its footer is damaged");
  TROUPE_ASSIGN(const std::string index, read_block(*offset, *size));
  uint64_t key_bytes = 0, end = 0;
  return visit_block(index, *offset, key_bytes, [&](std::string_view last_key, std::string_view handle) {
    const auto block_offset = protobuf::take_varint(handle), block_size = protobuf::take_varint(handle);
    if (!block_offset || !block_size || *block_size > size_ || *block_offset < end)
      return damaged("its index has a damaged entry");
    end = *block_offset + *block_size;
    blocks_.push_back({std::string(last_key), *block_offset, *block_size});
    return Status();
  });
}

Result<SortedTable> SortedTable::open(std::unique_ptr<ReadableFile> bytes, std::string file) {
  TROUPE_ASSIGN(const uint64_t size, bytes->size());
  SortedTable table(std::move(bytes), size, std::move(file));
  TROUPE_RETURN_IF_FAILED(table.read_footer());
  return table;
}

Status SortedTable::each(const Visit& visit) const {
  uint64_t key_bytes = 0;
  std::string last;
  bool is_first = true;
  for (const Block& at : blocks_) {
    TROUPE_ASSIGN(const std::string block, read_block(at.offset, at.size));
    bool begins = true;
    TROUPE_RETURN_IF_FAILED(
        visit_block(block, at.offset, key_bytes, [&](std::string_view key, std::string_view value) {
          if (begins && !is_first && key <= last)
            return damaged("the block at byte " + std::to_string(at.offset) +
                           " has keys that are not greater than those before it");
          begins = is_first = false;
          last = key;
          return visit(key, value);
        }));
  }
  return {};
}

Result<bool> SortedTable::find(std::string_view key, const Visit& visit) const {
  const auto at = std::ranges::lower_bound(
      blocks_, key, {}, [](const Block& block) -> std::string_view { return block.last_key; });
  if (at == blocks_.end()) return false;
  TROUPE_ASSIGN(const std::string block, read_block(at->offset, at->size));
  uint64_t key_bytes = 0;
  bool found = false;
  TROUPE_RETURN_IF_FAILED(
      visit_block(block, at->offset, key_bytes, [&](std::string_view other, std::string_view value) {
        if (other != key) return Status();
        found = true;
        return visit(other, value);
      }));
  return found;
}

Result<std::map<std::string, std::string>> read_sorted_table(std::string_view bytes,
                                                             const std::string& file) {
  TROUPE_ASSIGN(const SortedTable table, SortedTable::open(std::make_unique<MemoryFile>(bytes), file));
  std::map<std::string, std::string> entries;
  TROUPE_RETURN_IF_FAILED(table.each([&](std::string_view key, std::string_view value) {
    entries.emplace_hint(entries.end(), key, value);
    return Status();
  }));
  return entries;
}

}  // namespace troupe
