#include "messages/tensor_files/data_blocks.h"

#include <algorithm>

#include "messages/values/crc32c.h"

namespace troupe {
namespace {

constexpr size_t block_bytes = 512 << 10;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Status check_not_cancelled(const std::atomic<bool>* flag) {
  return flag && flag->load(std::memory_order_relaxed) ? cancelled("the step has ended") : Status();
}

Result<uint32_t> read_blocks(ReadableFile& file, uint64_t offset, std::span<std::byte> into,
                             const std::atomic<bool>* cancelled) {
  uint32_t checksum = 0;
  while (!into.empty()) {
    TROUPE_RETURN_IF_FAILED(check_not_cancelled(cancelled));
    const auto block = into.first(std::min(into.size(), block_bytes));
    TROUPE_ASSIGN(const size_t count, file.read(offset, block));
    if (count != block.size()) return data_loss("the file ends at byte " + std::to_string(offset + count));
    checksum = crc32c(text_of(block), checksum);
    into = into.subspan(block.size());
    offset += block.size();
  }
  return checksum;
}

Result<uint32_t> write_blocks(NewFile& file, std::span<const std::byte> bytes, uint32_t before,
                              const std::atomic<bool>* cancelled) {
  while (!bytes.empty()) {
    TROUPE_RETURN_IF_FAILED(check_not_cancelled(cancelled));
    const auto block = bytes.first(std::min(bytes.size(), block_bytes));
    before = crc32c(text_of(block), before);
    TROUPE_RETURN_IF_FAILED(file.write(block));
    bytes = bytes.subspan(block.size());
  }
  return before;
}

}  // namespace troupe
