#include "apps/interop/bundle.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <tuple>
#include <vector>

#include "apps/interop/bundle.pb.h"
#include "apps/interop/sorted_table.h"
#include "apps/interop/tensor_proto.h"
#include "messages/protobuf/fields.h"
#include "messages/values/crc32c.h"

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
    if (!part.within(shape))
      return data_loss("its part " + part.text() + " lies outside its shape " + shape.text());
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
  if (!shape.fully_known()) return data_loss("its shape " + shape.text() + " is not fully known");
  TROUPE_ASSIGN(entry.shape, Shape::make(shape.dims(), entry.dtype));
  if (proto.shard_id() < 0 || proto.offset() < 0 || proto.size() < 0)
    return data_loss("its shard, offset or size is negative");
  entry.shard = proto.shard_id();
  entry.offset = static_cast<uint64_t>(proto.offset());
  entry.size = static_cast<uint64_t>(proto.size());
  entry.checksum = proto.crc32c();
  TROUPE_ASSIGN(entry.parts, read_parts(proto, entry.shape));
  return entry;
}

/// Returns a name such as "PREFIX.data-00001-of-00003".
std::string data_file(const std::string& prefix, int shard, int shards) {
  char suffix[48];
  std::snprintf(suffix, sizeof suffix, ".data-%05d-of-%05d", shard, shards);
  return prefix + suffix;
}

/// Decodes the strings of a tensor. They are stored as their lengths (varints of seven bits per byte), a checksum of the lengths,
/// and the strings. The checksums, also that of the entry, cover each length as an integer of four bytes.
class StringElements {
 public:
  explicit StringElements(std::string_view bytes) : rest_(bytes) {}

  Result<std::vector<std::string>> read(size_t count) {
    if (count > rest_.size())
      return data_loss("it has " + std::to_string(rest_.size()) + " bytes for " + std::to_string(count) +
                       " strings");
    std::vector<uint32_t> lengths(count);
    for (uint32_t& length : lengths) {
      const auto taken = protobuf::take_varint(rest_);
      if (!taken || *taken > UINT32_MAX) return data_loss("the length of a string is damaged");
      length = static_cast<uint32_t>(*taken);
    }
    checked_.assign(reinterpret_cast<const char*>(lengths.data()), count * sizeof(uint32_t));
    uint32_t checksum = 0;
    if (rest_.size() < sizeof checksum) return data_loss("its bytes end before its last string");
    std::memcpy(&checksum, rest_.data(), sizeof checksum);
    if (checksum != masked_crc32c(checked_))
      return data_loss("the checksum of the lengths of its strings is wrong");
    checked_ += rest_;
    rest_.remove_prefix(sizeof checksum);
    std::vector<std::string> strings;
    for (const uint32_t length : lengths) {
      if (length > rest_.size()) return data_loss("its bytes end before its last string");
      strings.emplace_back(rest_.substr(0, length));
      rest_.remove_prefix(length);
    }
    if (!rest_.empty()) return data_loss("it has more bytes than its strings");
    return strings;
  }
  uint32_t checksum() const { return masked_crc32c(checked_); }

 private:
  std::string_view rest_;
  std::string checked_;  ///< the bytes that the checksum covers
};

Result<Tensor> strings_of(const Bundle::Entry& entry, std::string_view bytes) {
  StringElements elements(bytes);
  TROUPE_ASSIGN(const auto strings, elements.read(static_cast<size_t>(entry.shape.elements())));
  if (elements.checksum() != entry.checksum) return data_loss("the checksum of its bytes is wrong");
  return Tensor::of<std::string>(entry.shape, std::span<const std::string>(strings));
}

/// Returns how many bytes the elements take at least. A string takes at least one, for its length.
uint64_t min_bytes(const Bundle::Entry& entry) {
  return static_cast<uint64_t>(entry.shape.elements()) *
         (entry.dtype == DType::String ? 1 : size_of(entry.dtype));
}

Result<Tensor> plain_tensor_of(const Bundle::Entry& entry, std::string_view bytes) {
  if (masked_crc32c(bytes) != entry.checksum) return data_loss("the checksum of its bytes is wrong");
  if (bytes.size() != min_bytes(entry))
    return data_loss("it has " + std::to_string(bytes.size()) + " bytes, but its shape needs " +
                     std::to_string(min_bytes(entry)));
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
    return data_loss(file + ": the header is missing or damaged");
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
    if (entry->shard >= index.shards)
      return data_loss(where + "its shard is number " + std::to_string(entry->shard) +
                       ", counted from 0, but the checkpoint has " + std::to_string(index.shards) +
                       " shards");
    slices += entry->parts.size();
    if (slices > table.size())
      return data_loss(where + "the variables up to this one have more parts than the index has entries");
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
  if (count != bytes.size()) return data_loss("its file became shorter while it was read");
  return entry.dtype == DType::String ? strings_of(entry, bytes) : plain_tensor_of(entry, bytes);
}

/// Returns the parts of a variable. They cover each element exactly once.
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
      return data_loss("its part " + written.text() +
                       " has a type or shape that does not match the variable");
    if (at->second.size < min_bytes(at->second))
      return data_loss("its part " + written.text() + " has fewer bytes than its elements take");
    for (const Part& other : parts)
      if (overlap(other.slice, part.slice))
        return data_loss("its parts " + other.slice.text() + " and " + part.slice.text() + " overlap");
    elements += part.slice.elements();
    parts.push_back(part);
  }
  if (elements == entry.shape.elements()) return parts;
  return data_loss("its parts hold " + std::to_string(elements) + " of its " +
                   std::to_string(entry.shape.elements()) + " elements");
}

/// Fails with DataLoss if the bytes of a part lie outside its file, or if two parts share bytes. It follows that the variable is no
/// larger than the files, so that its memory may be allocated.
Status Bundle::check_bytes(std::vector<Part> parts) const {
  const auto place = [](const Part& part) {
    return std::tuple(part.entry->shard, part.entry->offset, part.entry->size);
  };
  std::ranges::sort(parts, {}, place);
  for (size_t i = 0; i < parts.size(); ++i) {
    TROUPE_RETURN_IF_FAILED(open_range(*parts[i].entry).status());
    const bool overlaps_previous =
        i > 0 && parts[i - 1].entry->shard == parts[i].entry->shard &&
        parts[i - 1].entry->offset + parts[i - 1].entry->size > parts[i].entry->offset;
    if (overlaps_previous) return data_loss("two of its parts share bytes of a file");
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
    return invalid_argument(where + "slice " + slice.text() + " lies outside its shape " +
                            at->second.shape.text());
  auto tensor = read_slice(name, at->second, slice);
  if (tensor) return tensor;
  return Status(tensor.status().code(), where + tensor.status().text());
}

}  // namespace troupe::interop
