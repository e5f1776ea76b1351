#include "apps/interop/sorted_table.h"

#include <cstring>

#include "messages/protobuf/fields.h"
#include "messages/values/crc32c.h"

namespace troupe::interop {
namespace {

constexpr size_t footer_bytes = 48;  // at the end of the file
constexpr size_t trailer_bytes = 5;  // at the end of each block
constexpr uint64_t magic = 0xdb4775248b80fb57u;

template <class T>
T number_at(std::string_view bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

class TableReader {
 public:
  TableReader(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  Result<std::map<std::string, std::string>> read() {
    if (bytes_.size() < footer_bytes || number_at<uint64_t>(bytes_, bytes_.size() - sizeof magic) != magic)
      return damaged("not a sorted table: its last 8 bytes are not those of one");
    std::string_view footer = bytes_.substr(bytes_.size() - footer_bytes);
    if (!protobuf::take_varint(footer) || !protobuf::take_varint(footer))
      return damaged("its footer is damaged");  // the handle of the meta block
    TROUPE_ASSIGN(const auto index, block_at(footer));
    std::map<std::string, std::string> blocks, entries;
    TROUPE_RETURN_IF_FAILED(read_block(index, blocks));
    for (const auto& [last_key, handle] : blocks) {
      std::string_view rest = handle;
      TROUPE_ASSIGN(const auto block, block_at(rest));
      TROUPE_RETURN_IF_FAILED(read_block(block, entries));
    }
    return entries;
  }

 private:
  Status damaged(const std::string& what) const { return data_loss(file_ + ": " + what); }

  /// Removes a handle, the offset and size of a block, from the beginning of the bytes. Returns that block.
  Result<std::string_view> block_at(std::string_view& handle) const {
    const auto offset = protobuf::take_varint(handle), size = protobuf::take_varint(handle);
    if (!offset || !size || *offset > bytes_.size() || *size > bytes_.size() - *offset ||
        bytes_.size() - *offset - *size < trailer_bytes)
      return damaged("a block lies outside the file");
    const std::string_view checked = bytes_.substr(*offset, *size + 1);
    if (masked_crc32c(checked) != number_at<uint32_t>(bytes_, *offset + *size + 1))
      return damaged("the checksum of the block at byte " + std::to_string(*offset) + " is wrong");
    if (checked.back() != 0)
      return unimplemented(file_ + ": its blocks are compressed, which is not supported");
    return checked.substr(0, *size);
  }

  Status read_block(std::string_view block, std::map<std::string, std::string>& entries) {
    if (block.size() < sizeof(uint32_t)) return damaged("a block is too short for its restart points");
    const uint64_t restarts = number_at<uint32_t>(block, block.size() - sizeof(uint32_t));
    if (restarts > block.size() / sizeof(uint32_t) - 1)
      return damaged("a block is too short for its restart points");
    std::string_view rest = block.substr(0, block.size() - (restarts + 1) * sizeof(uint32_t));
    std::string key;
    while (!rest.empty()) {
      const auto shared = protobuf::take_varint(rest), own = protobuf::take_varint(rest),
                 value = protobuf::take_varint(rest);
      if (!shared || !own || !value || *shared > key.size() || *own > rest.size() ||
          *value > rest.size() - *own)
        return damaged("an entry of a block is damaged");
      key_bytes_ += *shared + *own;
      if (key_bytes_ > max_key_bytes) return damaged("its keys take more than 1 GiB");
      key.resize(*shared);
      key += rest.substr(0, *own);
      entries[key] = rest.substr(*own, *value);
      rest.remove_prefix(*own + *value);
    }
    return {};
  }

  static constexpr uint64_t max_key_bytes = uint64_t{1} << 30;

  const std::string_view bytes_;
  const std::string& file_;
  uint64_t key_bytes_ = 0;  ///< the length of all keys, which can be far larger than the file
};

}  // namespace

Result<std::map<std::string, std::string>> read_sorted_table(std::string_view bytes,
                                                             const std::string& file) {
  return TableReader(bytes, file).read();
}

}  // namespace troupe::interop
