#include "messages/tensor_files/stored_strings.h"

#include "messages/protobuf/fields.h"
#include "messages/values/crc32c.h"

namespace troupe {
namespace {

template <class T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

uint32_t add_length(uint64_t length, uint32_t before) {
  return length <= UINT32_MAX ? crc32c(bytes_of(static_cast<uint32_t>(length)), before)
                              : crc32c(bytes_of(length), before);
}

}  // namespace

Result<Tensor> read_stored_strings(const BundleEntry& entry, std::string_view bytes, Allocator& memory) {
  const auto count = static_cast<size_t>(entry.shape.elements());
  if (count > bytes.size())
    return data_loss("it has " + std::to_string(bytes.size()) + " bytes for " + std::to_string(count) +
                     " strings");
  uint32_t checksum = 0;
  std::vector<uint64_t> lengths(count);
  for (uint64_t& length : lengths) {
    const auto taken = protobuf::take_varint(bytes);
    if (!taken) return data_loss("the length of a string is damaged");
    length = *taken;
    checksum = add_length(length, checksum);
  }
  uint32_t stored = 0;
  if (bytes.size() < sizeof stored) return data_loss("its bytes end before its last string");
  std::memcpy(&stored, bytes.data(), sizeof stored);
  if (stored != mask_crc32c(checksum))
    return data_loss("the checksum of the lengths of its strings is wrong");
  if (mask_crc32c(crc32c(bytes, checksum)) != entry.checksum)
    return data_loss("the checksum of its bytes is wrong");
  bytes.remove_prefix(sizeof stored);
  TROUPE_ASSIGN(Tensor tensor, Tensor::allocate(DType::String, entry.shape, memory));
  const auto strings = tensor.write<std::string>();
  for (size_t i = 0; i < count; ++i) {
    if (lengths[i] > bytes.size()) return data_loss("its bytes end before its last string");
    strings[i].assign(bytes.substr(0, lengths[i]));
    bytes.remove_prefix(lengths[i]);
  }
  if (!bytes.empty()) return data_loss("it has more bytes than its strings");
  return tensor;
}

Result<StoredBytes> write_stored_strings(const Tensor& tensor, NewFile& file) {
  const auto strings = tensor.as<std::string>();
  std::string head;
  uint32_t checksum = 0;
  for (const std::string& element : strings) {
    protobuf::append_varint(head, element.size());
    checksum = add_length(element.size(), checksum);
  }
  const uint32_t stored = mask_crc32c(checksum);
  head += bytes_of(stored);
  TROUPE_RETURN_IF_FAILED(file.write(head));
  checksum = crc32c(bytes_of(stored), checksum);
  uint64_t size = head.size();
  constexpr size_t pending_bytes = 256 << 10;
  std::string pending;  // short strings are written together
  for (const std::string& element : strings) {
    checksum = crc32c(element, checksum);
    size += element.size();
    pending += element;
    if (pending.size() < pending_bytes) continue;
    TROUPE_RETURN_IF_FAILED(file.write(pending));
    pending.clear();
  }
  TROUPE_RETURN_IF_FAILED(file.write(pending));
  return StoredBytes{size, mask_crc32c(checksum)};
}

}  // namespace troupe
