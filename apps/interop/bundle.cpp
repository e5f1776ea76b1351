#include "apps/interop/bundle.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

#include "apps/interop/bundle.pb.h"
#include "apps/interop/crc32c.h"
#include "apps/interop/sorted_table.h"
#include "apps/interop/tensor_proto.h"

namespace troupe::interop {
namespace {

constexpr uint64_t most_index_bytes = uint64_t{1} << 28;

Result<Bundle::Entry> read_entry(const std::string& value) {
  BundleEntryProto proto;
  if (!proto.ParseFromString(value)) return data_loss("its entry cannot be read");
  Bundle::Entry entry;
  TROUPE_ASSIGN(entry.dtype, read_dtype(proto.dtype()));
  TROUPE_ASSIGN(const PartialShape shape, read_shape(proto.shape()));
  if (!shape.fully_known()) return data_loss("its shape is not known");
  TROUPE_ASSIGN(entry.shape, Shape::make(shape.dims(), entry.dtype));
  if (proto.shard_id() < 0 || proto.offset() < 0 || proto.size() < 0)
    return data_loss("its bytes lie nowhere");
  entry.shard = proto.shard_id();
  entry.offset = static_cast<uint64_t>(proto.offset());
  entry.size = static_cast<uint64_t>(proto.size());
  entry.checksum = proto.crc32c();
  entry.in_parts = proto.slices_size() != 0;
  return entry;
}

/// "PREFIX.data-00001-of-00003".
std::string data_file(const std::string& prefix, int shard, int shards) {
  char suffix[48];
  std::snprintf(suffix, sizeof suffix, ".data-%05d-of-%05d", shard, shards);
  return prefix + suffix;
}

Result<std::string> read_range(Disk& disk, const std::string& file, uint64_t offset, uint64_t size) {
  TROUPE_ASSIGN(const auto opened, disk.open(file));
  TROUPE_ASSIGN(const uint64_t bytes, opened->size());
  if (offset > bytes || size > bytes - offset)
    return data_loss(file + " ends before byte " + std::to_string(offset + size));
  std::string result(size, '\0');
  TROUPE_ASSIGN(const size_t count,
                opened->read(offset, std::as_writable_bytes(std::span(result.data(), result.size()))));
  if (count != size) return data_loss(file + " ends before byte " + std::to_string(offset + size));
  return result;
}

/// Lengths, seven bits a byte; their checksum; the strings. Both checksums are of lengths of four bytes each.
class StringElements {
 public:
  explicit StringElements(std::string_view bytes) : rest_(bytes) {}

  Result<std::vector<std::string>> read(size_t count) {
    if (count > rest_.size()) return data_loss("it has fewer bytes than strings");
    std::vector<uint32_t> lengths(count);
    for (uint32_t& length : lengths) {
      const auto taken = take_length();
      if (!taken) return data_loss("the length of a string is damaged");
      length = *taken;
    }
    checked_.assign(reinterpret_cast<const char*>(lengths.data()), count * sizeof(uint32_t));
    uint32_t checksum = 0;
    if (rest_.size() < sizeof checksum) return data_loss("it is cut short");
    std::memcpy(&checksum, rest_.data(), sizeof checksum);
    if (checksum != masked_crc32c(checked_))
      return data_loss("the lengths of its strings have another checksum");
    checked_ += rest_;
    rest_.remove_prefix(sizeof checksum);
    std::vector<std::string> strings;
    for (const uint32_t length : lengths) {
      if (length > rest_.size()) return data_loss("it is cut short");
      strings.emplace_back(rest_.substr(0, length));
      rest_.remove_prefix(length);
    }
    if (!rest_.empty()) return data_loss("it has more bytes than its strings");
    return strings;
  }
  uint32_t checksum() const { return masked_crc32c(checked_); }

 private:
  std::optional<uint32_t> take_length() {
    uint64_t value = 0;
    for (int shift = 0; shift < 35 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80)
        return value <= UINT32_MAX ? std::optional(static_cast<uint32_t>(value)) : std::nullopt;
    }
    return std::nullopt;
  }

  std::string_view rest_;
  std::string checked_;  ///< what the checksum is of
};

Result<Tensor> strings_of(const Bundle::Entry& entry, std::string_view bytes) {
  StringElements elements(bytes);
  TROUPE_ASSIGN(const auto strings, elements.read(static_cast<size_t>(entry.shape.elements())));
  if (elements.checksum() != entry.checksum) return data_loss("its bytes have another checksum");
  return Tensor::of<std::string>(entry.shape, std::span<const std::string>(strings));
}

Result<Tensor> plain_tensor_of(const Bundle::Entry& entry, std::string_view bytes) {
  if (masked_crc32c(bytes) != entry.checksum) return data_loss("its bytes have another checksum");
  TROUPE_ASSIGN(Tensor tensor, Tensor::allocate(entry.dtype, entry.shape));
  if (tensor.bytes() != bytes.size())
    return data_loss("it has " + std::to_string(bytes.size()) + " bytes, " + tensor.signature() + " has " +
                     std::to_string(tensor.bytes()));
  if (!bytes.empty()) std::memcpy(tensor.mutable_data(), bytes.data(), bytes.size());
  if (tensor.dtype() == DType::Bool && std::ranges::any_of(bytes, [](char c) { return (c & ~1) != 0; }))
    return data_loss("a bool in it is neither 0 nor 1");
  return tensor;
}

}  // namespace

Result<Bundle::Index> Bundle::read_index(std::string_view bytes, const std::string& file) {
  TROUPE_ASSIGN(const auto table, read_sorted_table(bytes, file));
  const auto first = table.find("");
  BundleHeaderProto header;
  if (first == table.end() || !header.ParseFromString(first->second) || header.num_shards() < 1)
    return data_loss(file + ": it has no header");
  if (header.endianness() != BundleHeaderProto::LITTLE)
    return unimplemented(file + ": it was written by a big-endian machine");
  Index index{header.num_shards(), {}};
  for (const auto& [name, value] : table) {
    if (name.empty()) continue;
    const auto entry = read_entry(value);
    const std::string where = std::string(file).append(": ").append(name).append(": ");
    if (!entry) return Status(entry.status().code(), where + entry.status().text());
    if (entry->shard >= index.shards) return data_loss(where + "its bytes lie nowhere");
    index.entries.emplace(name, *entry);
  }
  return index;
}

Result<Bundle> Bundle::open(Disk& disk, const std::string& prefix) {
  const std::string file = prefix + ".index";
  TROUPE_ASSIGN(const std::string bytes, read_file(disk, file, most_index_bytes));
  TROUPE_ASSIGN(Index index, read_index(bytes, file));
  return Bundle(disk, prefix, std::move(index));
}

Result<std::string> Bundle::bytes_of(const std::string& name, const Entry& entry) const {
  if (entry.in_parts) return unimplemented("variables in parts, as '" + name + "' of " + prefix_ + " is");
  return read_range(*disk_, data_file(prefix_, entry.shard, index_.shards), entry.offset, entry.size);
}

Result<Tensor> Bundle::read(const std::string& name) const {
  const auto at = index_.entries.find(name);
  if (at == index_.entries.end())
    return not_found("checkpoint " + prefix_ + " has no variable '" + name + "'");
  TROUPE_ASSIGN(const std::string bytes, bytes_of(name, at->second));
  auto tensor =
      at->second.dtype == DType::String ? strings_of(at->second, bytes) : plain_tensor_of(at->second, bytes);
  if (tensor) return tensor;
  return Status(tensor.status().code(), "'" + name + "' of " + prefix_ + ": " + tensor.status().text());
}

}  // namespace troupe::interop
