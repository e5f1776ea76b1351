#include "messages/tensor_files/bundle.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <vector>

#include "messages/tensor_files/stored_strings.h"
#include "messages/values/crc32c.h"

namespace troupe {
namespace {

/// Returns how many bytes the elements take at least. A string takes at least one, for its length.
uint64_t min_bytes(const BundleEntry& entry) {
  return static_cast<uint64_t>(entry.shape.elements()) *
         (entry.dtype == DType::String ? 1 : size_of(entry.dtype));
}

Result<Tensor> read_plain(const BundleEntry& entry, ReadableFile& file, const TensorReading& reading) {
  if (entry.size != min_bytes(entry))
    return data_loss("it has " + std::to_string(entry.size) + " bytes, but its shape needs " +
                     std::to_string(min_bytes(entry)));
  TROUPE_ASSIGN(Tensor tensor, Tensor::allocate(entry.dtype, entry.shape, *reading.memory));
  const std::span bytes(tensor.mutable_data(), entry.size);
  TROUPE_ASSIGN(const uint32_t checksum, read_blocks(file, entry.offset, bytes, reading.cancelled));
  if (mask_crc32c(checksum) != entry.checksum) return data_loss("the checksum of its bytes is wrong");
  if (entry.dtype == DType::Bool && std::ranges::any_of(bytes, [](std::byte b) { return b > std::byte{1}; }))
    return data_loss("a bool in it is neither 0 nor 1");
  return tensor;
}

Result<Tensor> read_strings(const BundleEntry& entry, ReadableFile& file, const TensorReading& reading) {
  if (entry.size < min_bytes(entry))
    return data_loss("it has " + std::to_string(entry.size) + " bytes for " +
                     std::to_string(min_bytes(entry)) + " strings");
  std::string bytes(entry.size, '\0');
  TROUPE_RETURN_IF_FAILED(
      read_blocks(file, entry.offset, std::as_writable_bytes(std::span(bytes)), reading.cancelled).status());
  return read_stored_strings(entry, bytes, *reading.memory);
}

}  // namespace

Result<Bundle> Bundle::open(Disk& disk, const std::string& prefix, TensorReading reading) {
  TROUPE_ASSIGN(BundleIndex index, BundleIndex::read(disk, prefix));
  return Bundle(disk, prefix, std::move(index), reading);
}

/// Returns the data file of an entry. Fails with DataLoss if the bytes of the entry lie outside it.
Result<ReadableFile*> Bundle::open_range(const BundleEntry& entry) const {
  const std::string path = bundle_data_file(prefix_, entry.shard, index_.shards);
  if (opened_.shard != entry.shard) {
    opened_ = {};
    TROUPE_ASSIGN(opened_.file, disk_->open(path));
    opened_.shard = entry.shard;
  }
  TROUPE_ASSIGN(const uint64_t bytes, opened_.file->size());
  if (entry.offset > bytes || entry.size > bytes - entry.offset)
    return data_loss(path + " ends before byte " + std::to_string(entry.offset + entry.size));
  return opened_.file.get();
}

Result<Tensor> Bundle::read_stored(const BundleEntry& entry) const {
  TROUPE_ASSIGN(ReadableFile* const file, open_range(entry));
  auto tensor = entry.dtype == DType::String ? read_strings(entry, *file, reading_)
                                             : read_plain(entry, *file, reading_);
  if (tensor.status().code() != Code::DataLoss) return tensor;
  return data_loss(tensor.status().text() + " (" + std::to_string(entry.size) + " bytes from byte " +
                   std::to_string(entry.offset) + " of " +
                   bundle_data_file(prefix_, entry.shard, index_.shards) + ")");
}

/// Returns the parts of a variable. They cover each element exactly once.
Result<std::vector<Bundle::Part>> Bundle::parts_of(const std::string& name, const BundleEntry& entry) const {
  if (entry.parts.size() > max_tensor_parts)
    return resource_exhausted("it has more than " + std::to_string(max_tensor_parts) + " parts");
  std::vector<Part> parts;
  std::vector<TensorSlice> slices;
  for (const TensorSlice& written : entry.parts) {
    const auto at = index_.parts.find(slice_key(name, written));
    if (at == index_.parts.end()) return data_loss("its part " + written.text() + " is missing");
    const Part part{*written.within(entry.shape), &at->second};
    if (at->second.dtype != entry.dtype || !std::ranges::equal(at->second.shape.dims(), part.slice.length))
      return data_loss("its part " + written.text() +
                       " has a type or shape that does not match the variable");
    if (at->second.size < min_bytes(at->second))
      return data_loss("its part " + written.text() + " has fewer bytes than its elements take");
    parts.push_back(part);
    slices.push_back(part.slice);
  }
  TROUPE_RETURN_IF_FAILED(check_cover(slices, entry.shape));
  return parts;
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

Result<Tensor> Bundle::read_slice(const std::string& name, const BundleEntry& entry,
                                  const TensorSlice& slice) const {
  std::vector<Part> parts = {{TensorSlice::whole(entry.shape), &entry}};
  if (!entry.parts.empty()) {
    TROUPE_ASSIGN(parts, parts_of(name, entry));
    TROUPE_RETURN_IF_FAILED(check_bytes(parts));
  }
  for (const Part& part : parts)
    if (part.slice == slice) return read_stored(*part.entry);
  TROUPE_ASSIGN(const Shape shape, Shape::make(slice.length, entry.dtype));
  TROUPE_ASSIGN(Tensor tensor, Tensor::allocate(entry.dtype, shape, *reading_.memory));
  for (const Part& part : parts) {
    if (!overlap(part.slice, slice)) continue;
    TROUPE_ASSIGN(const Tensor stored, read_stored(*part.entry));
    copy_slice(stored, part.slice, tensor, slice);
  }
  return tensor;
}

Result<const BundleEntry*> Bundle::find(const std::string& name) const {
  const auto at = index_.entries.find(name);
  if (at != index_.entries.end()) return &at->second;
  return not_found("Key " + name + " not found in checkpoint " + prefix_);
}

Result<Tensor> Bundle::read(const std::string& name) const {
  TROUPE_ASSIGN(const BundleEntry* const entry, find(name));
  return read(name, TensorSlice::whole(entry->shape));
}

Result<Tensor> Bundle::read(const std::string& name, const TensorSlice& slice) const {
  TROUPE_ASSIGN(const BundleEntry* const entry, find(name));
  const std::string where = "'" + name + "' of " + prefix_ + ": ";
  if (slice.within(entry->shape) != slice)
    return invalid_argument(where + "slice " + slice.text() + " lies outside its shape " +
                            entry->shape.text());
  auto tensor = read_slice(name, *entry, slice);
  if (tensor) return tensor;
  return Status(tensor.status().code(), where + tensor.status().text());
}

}  // namespace troupe
