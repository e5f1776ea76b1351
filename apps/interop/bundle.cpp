#include "apps/interop/bundle.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <tuple>
#include <vector>

#include "apps/interop/bundle.pb.h"
#include "apps/interop/crc32c.h"
#include "apps/interop/sorted_table.h"
#include "apps/interop/tensor_proto.h"

namespace troupe::interop {
namespace {

constexpr uint64_t max_index_bytes = uint64_t{1} << 28;

Result<std::vector<TensorSlice>> read_parts(const BundleEntryProto& proto, const Shape& shape) {
  std::vector<TensorSlice> parts;
  for (const TensorSliceProto& slice : proto.slices()) {
    TensorSlice part;
    for (const auto& extent : slice.extent()) {
      part.start.push_back(extent.start());
      part.length.push_back(extent.has_length() ? extent.length() : TensorSlice::all);
    }
    if (!part.within(shape)) return data_loss("its part " + part.text() + " lies outside of it");
    parts.push_back(std::move(part));
  }
  return parts;
}

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
  TROUPE_ASSIGN(entry.parts, read_parts(proto, entry.shape));
  return entry;
}

/// "PREFIX.data-00001-of-00003".
std::string data_file(const std::string& prefix, int shard, int shards) {
  char suffix[48];
  std::snprintf(suffix, sizeof suffix, ".data-%05d-of-%05d", shard, shards);
  return prefix + suffix;
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

/// What its elements take; a string has a byte for its length, and others.
uint64_t least_bytes(const Bundle::Entry& entry) {
  return static_cast<uint64_t>(entry.shape.elements()) *
         (entry.dtype == DType::String ? 1 : size_of(entry.dtype));
}

Result<Tensor> plain_tensor_of(const Bundle::Entry& entry, std::string_view bytes) {
  if (masked_crc32c(bytes) != entry.checksum) return data_loss("its bytes have another checksum");
  if (bytes.size() != least_bytes(entry))
    return data_loss("it has " + std::to_string(bytes.size()) + " bytes, its shape " +
                     std::to_string(least_bytes(entry)));
  TROUPE_ASSIGN(Tensor tensor, Tensor::allocate(entry.dtype, entry.shape));
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
  Index index{header.num_shards(), {}, {}};
  size_t slices = 0;
  for (const auto& [name, value] : table) {
    if (name.empty()) continue;
    const bool is_part = is_slice_key(name);
    auto entry = read_entry(value);
    const std::string where = file + ": " + (is_part ? "a part of " + variable_of(name) : name) + ": ";
    if (!entry) return Status(entry.status().code(), where + entry.status().text());
    if (entry->shard >= index.shards) return data_loss(where + "its bytes lie nowhere");
    slices += entry->parts.size();
    if (slices > table.size()) return data_loss(where + "it has more parts than there are");
    (is_part ? index.parts : index.entries).emplace(name, std::move(*entry));
  }
  return index;
}

Result<Bundle> Bundle::open(Disk& disk, const std::string& prefix) {
  const std::string file = prefix + ".index";
  TROUPE_ASSIGN(const std::string bytes, read_file(disk, file, max_index_bytes));
  TROUPE_ASSIGN(Index index, read_index(bytes, file));
  return Bundle(disk, prefix, std::move(index));
}

Result<std::unique_ptr<ReadableFile>> Bundle::open_range(const Entry& entry) const {
  const std::string file = data_file(prefix_, entry.shard, index_.shards);
  TROUPE_ASSIGN(auto opened, disk_->open(file));
  TROUPE_ASSIGN(const uint64_t bytes, opened->size());
  if (entry.offset > bytes || entry.size > bytes - entry.offset)
    return data_loss(file + " ends before byte " + std::to_string(entry.offset + entry.size));
  return opened;
}

Result<Tensor> Bundle::read_stored(const Entry& entry) const {
  TROUPE_ASSIGN(const auto file, open_range(entry));
  std::string bytes(entry.size, '\0');
  TROUPE_ASSIGN(const size_t count,
                file->read(entry.offset, std::as_writable_bytes(std::span(bytes.data(), bytes.size()))));
  if (count != bytes.size()) return data_loss("its file became shorter");
  return entry.dtype == DType::String ? strings_of(entry, bytes) : plain_tensor_of(entry, bytes);
}

/// Parts that make up the variable, each element once.
Result<std::vector<Bundle::Part>> Bundle::parts_of(const std::string& name, const Entry& entry) const {
  if (entry.parts.size() > max_parts)
    return resource_exhausted("it has more than " + std::to_string(max_parts) + " parts");
  std::vector<Part> parts;
  int64_t elements = 0;
  for (const TensorSlice& written : entry.parts) {
    const auto at = index_.parts.find(slice_key(name, written));
    if (at == index_.parts.end()) return data_loss("its part " + written.text() + " is missing");
    const Part part{*written.within(entry.shape), &at->second};
    if (at->second.dtype != entry.dtype || !std::ranges::equal(at->second.shape.dims(), part.slice.length))
      return data_loss("its part " + written.text() + " is of another type or shape");
    if (at->second.size < least_bytes(at->second))
      return data_loss("its part " + written.text() + " has fewer bytes than its elements");
    for (const Part& other : parts)
      if (overlap(other.slice, part.slice))
        return data_loss("its parts " + other.slice.text() + " and " + part.slice.text() + " overlap");
    elements += part.slice.elements();
    parts.push_back(part);
  }
  if (elements == entry.shape.elements()) return parts;
  return data_loss("its parts have " + std::to_string(elements) + " of its " +
                   std::to_string(entry.shape.elements()) + " elements");
}

/// Are they in the files, none of them for two parts? Then the variable is no larger than they are.
Status Bundle::check_bytes(std::vector<Part> parts) const {
  const auto place = [](const Part& part) {
    return std::tuple(part.entry->shard, part.entry->offset, part.entry->size);
  };
  std::ranges::sort(parts, {}, place);
  for (size_t i = 0; i < parts.size(); ++i) {
    TROUPE_RETURN_IF_FAILED(open_range(*parts[i].entry).status());
    const bool runs_on = i > 0 && parts[i - 1].entry->shard == parts[i].entry->shard &&
                         parts[i - 1].entry->offset + parts[i - 1].entry->size > parts[i].entry->offset;
    if (runs_on) return data_loss("its parts share bytes");
  }
  return {};
}

Result<Tensor> Bundle::read_slice(const std::string& name, const Entry& entry,
                                  const TensorSlice& slice) const {
  const TensorSlice whole = TensorSlice::whole(entry.shape);
  std::vector<Part> parts = {{whole, &entry}};
  if (!entry.parts.empty()) {
    TROUPE_ASSIGN(parts, parts_of(name, entry));
    TROUPE_RETURN_IF_FAILED(check_bytes(parts));
  } else if (slice == whole) {
    return read_stored(entry);
  }
  TROUPE_ASSIGN(const Shape shape, Shape::make(slice.length, entry.dtype));
  TROUPE_ASSIGN(Tensor tensor, Tensor::allocate(entry.dtype, shape));
  for (const Part& part : parts) {
    if (!overlap(part.slice, slice)) continue;
    TROUPE_ASSIGN(const Tensor stored, read_stored(*part.entry));
    copy_slice(stored, part.slice, tensor, slice);
  }
  return tensor;
}

Result<Tensor> Bundle::read(const std::string& name) const {
  const auto at = index_.entries.find(name);
  return read(name, at == index_.entries.end() ? TensorSlice{} : TensorSlice::whole(at->second.shape));
}

Result<Tensor> Bundle::read(const std::string& name, const TensorSlice& slice) const {
  const auto at = index_.entries.find(name);
  if (at == index_.entries.end())
    return not_found("checkpoint " + prefix_ + " has no variable '" + name + "'");
  const std::string where = "'" + name + "' of " + prefix_ + ": ";
  if (slice.within(at->second.shape) != slice)
    return invalid_argument(where + "its shape is " + at->second.shape.text() + ", it has no part " +
                            slice.text());
  auto tensor = read_slice(name, at->second, slice);
  if (tensor) return tensor;
  return Status(tensor.status().code(), where + tensor.status().text());
}

}  // namespace troupe::interop
