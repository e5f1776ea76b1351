#include "messages/tensor_files/bundle_writer.h"

#include "messages/tensor_files/data_blocks.h"
#include "messages/tensor_files/stored_strings.h"
#include "messages/values/crc32c.h"

namespace troupe {
namespace {

Status check_name(const std::string& name) {
  if (!name.empty() && !is_slice_key(name)) return {};
  return invalid_argument("the name of a variable in a checkpoint is empty or begins with a zero byte");
}

}  // namespace

Result<BundleWriter> BundleWriter::create(Disk& disk, const std::string& prefix,
                                          const std::atomic<bool>* cancelled) {
  TROUPE_RETURN_IF_FAILED(make_folders(disk, folder_of(prefix)));
  TROUPE_ASSIGN(NewFile data, NewFile::create(disk, bundle_data_file(prefix, 0, 1)));
  return BundleWriter(disk, prefix, std::move(data), cancelled);
}

/// Appends the elements to the data file.
Result<BundleEntry> BundleWriter::write(const Tensor& tensor) {
  TROUPE_RETURN_IF_FAILED(stored_dtype(static_cast<uint64_t>(tensor.dtype())).status());
  BundleEntry entry{tensor.dtype(), tensor.shape(), 0, written_, 0, 0, {}};
  if (tensor.dtype() == DType::String) {
    TROUPE_ASSIGN(const StoredBytes stored, write_stored_strings(tensor, data_));
    entry.size = stored.size;
    entry.checksum = stored.checksum;
  } else {
    entry.size = tensor.bytes();
    TROUPE_ASSIGN(const uint32_t checksum,
                  write_blocks(data_, std::span(tensor.data(), tensor.bytes()), 0, cancelled_));
    entry.checksum = mask_crc32c(checksum);
  }
  written_ += entry.size;
  return entry;
}

Status BundleWriter::add(const std::string& name, const Tensor& tensor) {
  TROUPE_RETURN_IF_FAILED(check_name(name));
  if (index_.entries.contains(name)) return invalid_argument("variable '" + name + "' is saved twice");
  TROUPE_ASSIGN(index_.entries[name], write(tensor));
  return {};
}

Status BundleWriter::add(const std::string& name, const SliceSpec& spec, const Tensor& tensor) {
  if (spec.is_whole()) return add(name, tensor);
  TROUPE_RETURN_IF_FAILED(check_name(name));
  const auto [at, is_new] = index_.entries.try_emplace(name);
  BundleEntry& whole = at->second;
  if (is_new) {
    whole.dtype = tensor.dtype();
    whole.shape = spec.shape;
  } else if (whole.parts.empty()) {
    return invalid_argument("variable '" + name + "' is saved twice, once whole and once in parts");
  } else if (whole.dtype != tensor.dtype() || whole.shape != spec.shape) {
    return invalid_argument("the parts of variable '" + name + "' are " +
                            std::string(troupe::name(whole.dtype)) + whole.shape.text() + " and " +
                            std::string(troupe::name(tensor.dtype())) + spec.shape.text());
  }
  const auto [part, fresh] = index_.parts.try_emplace(slice_key(name, spec.slice));
  if (!fresh)
    return invalid_argument("part " + spec.slice.text() + " of variable '" + name + "' is saved twice");
  TROUPE_ASSIGN(part->second, write(tensor));
  whole.parts.push_back(spec.slice);
  return {};
}

Status BundleWriter::finish() {
  TROUPE_RETURN_IF_FAILED(data_.commit());
  return index_.write(*disk_, prefix_);
}

}  // namespace troupe
