#include "actors/checkpoint/checkpoint_shard.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <unordered_map>
#include <utility>

#include "actors/checkpoint/safetensors.h"
#include "messages/values/crc32c.h"

namespace troupe {
namespace {

constexpr size_t chunk_bytes = size_t{256} << 10;

/// Returns the checksum of what has the checksum `before` and the bytes after it.
uint32_t add_to(uint32_t before, std::span<const std::byte> bytes) {
  return crc32c({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, before);
}

/// Lets a thread that writes rest four times as long as it works, so that training, which shares the memory and the disk with it,
/// has few longer steps rather than one very long one. It rests for ten seconds at most, however large the file.
class Rests {
 public:
  /// Called after each piece of work. Rests when a rest is long enough for a system call.
  void rest() {
    const auto now = Clock::now();
    due_ += 4 * (now - worked_until_);
    worked_until_ = now;
    if (due_ < std::chrono::milliseconds(2) || rested_ > std::chrono::seconds(10)) return;
    std::this_thread::sleep_for(due_);
    rested_ += std::exchange(due_, {});
    worked_until_ = Clock::now();
  }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point worked_until_ = Clock::now();
  Clock::duration due_{}, rested_{};
};

/// Reads a file from its beginning to its end, and computes its checksum.
class CheckedReader {
 public:
  static Result<CheckedReader> open(Disk& disk, const std::string& path, uint64_t bytes) {
    TROUPE_ASSIGN(auto file, disk.open(path));
    TROUPE_ASSIGN(const uint64_t size, file->size());
    if (size != bytes)
      return data_loss("it has " + std::to_string(size) + " bytes, but according to the manifest " +
                       std::to_string(bytes));
    return CheckedReader(std::move(file));
  }

  Status read(std::span<std::byte> into) {
    while (!into.empty()) {
      const auto chunk = into.first(std::min(into.size(), chunk_bytes));
      TROUPE_ASSIGN(const size_t read, file_->read(offset_, chunk));
      if (read != chunk.size()) return data_loss("it ends early");
      checksum_ = add_to(checksum_, chunk);
      offset_ += read;
      into = into.subspan(read);
    }
    return {};
  }
  Result<std::string> text(size_t bytes) {
    std::string result(bytes, '\0');
    TROUPE_RETURN_IF_FAILED(read(std::as_writable_bytes(std::span(result))));
    return result;
  }
  Status skip(uint64_t bytes) {
    scratch_.resize(std::min<uint64_t>(bytes, chunk_bytes));
    while (bytes > 0) {
      const size_t now = std::min<uint64_t>(bytes, scratch_.size());
      TROUPE_RETURN_IF_FAILED(read(std::span(scratch_).first(now)));
      bytes -= now;
    }
    return {};
  }
  uint32_t checksum() const { return checksum_; }

 private:
  explicit CheckedReader(std::unique_ptr<ReadableFile> file) : file_(std::move(file)) {}

  std::unique_ptr<ReadableFile> file_;
  uint32_t checksum_ = 0;
  uint64_t offset_ = 0;
  std::vector<std::byte> scratch_;
};

/// Fails with DataLoss if the tensor has a bool that is neither 0 nor 1.
Status check_elements(const Tensor& tensor) {
  if (tensor.dtype() != DType::Bool) return {};
  const std::span bytes(tensor.data(), tensor.bytes());
  if (std::ranges::any_of(bytes, [](std::byte b) { return b > std::byte{1}; }))
    return data_loss("it has a bool that is neither 0 nor 1");
  return {};
}

bool is_part(const Shape& shape, const RowSlice& slice) {
  return slice.is_valid() && shape.rank() > 0 && shape[0] == slice.count;
}

Result<std::vector<SavedTensor>> read_tensors(CheckedReader& reader, const ShardFile& file,
                                              const std::function<bool(const ShardFile::Saved&)>& wanted) {
  TROUPE_ASSIGN(const std::string prefix, reader.text(std::min<uint64_t>(file.bytes, safetensors_prefix)));
  TROUPE_ASSIGN(const uint64_t length, safetensors_header_length(prefix, file.bytes));
  TROUPE_ASSIGN(const std::string header, reader.text(length));
  TROUPE_ASSIGN(const auto entries,
                read_safetensors_header(header, file.bytes - safetensors_prefix - length));
  std::unordered_map<std::string, const ShardFile::Saved*> listed;
  for (const auto& saved : file.tensors) listed.emplace(saved.name, &saved);
  const bool has_more = !file.folder.empty() && entries.size() > listed.size();
  if ((entries.size() != file.tensors.size() && !has_more) || listed.size() != file.tensors.size())
    return data_loss("it has " + std::to_string(entries.size()) + " tensors, but according to the manifest " +
                     std::to_string(file.tensors.size()));
  std::vector<SavedTensor> result;
  size_t found = 0;
  for (const TensorEntry& entry : entries) {
    const auto at = listed.find(entry.name);
    if (at == listed.end() && has_more) {
      TROUPE_RETURN_IF_FAILED(reader.skip(entry.bytes()));
      continue;
    }
    if (at == listed.end()) return data_loss("its tensor " + entry.name + " is not in the manifest");
    ++found;
    const ShardFile::Saved& saved = *at->second;
    if (saved.slice && !is_part(entry.shape, *saved.slice))
      return data_loss("its tensor " + entry.name + " is not the part of '" + saved.slice->of +
                       "' that the manifest lists");
    if (!wanted(saved)) {
      TROUPE_RETURN_IF_FAILED(reader.skip(entry.bytes()));
      continue;
    }
    TROUPE_ASSIGN(Tensor tensor, Tensor::allocate(entry.dtype, entry.shape));
    TROUPE_RETURN_IF_FAILED(reader.read({tensor.mutable_data(), tensor.bytes()}));
    TROUPE_RETURN_IF_FAILED(check_elements(tensor));
    result.push_back({entry.name, std::move(tensor), saved.version, saved.slice});
  }
  if (reader.checksum() != file.checksum) return data_loss("it does not match its checksum");
  if (found != listed.size())
    return data_loss("it lacks " + std::to_string(listed.size() - found) +
                     " tensors that the manifest lists");
  return result;
}

bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

/// Adds to a failure of a file of an older checkpoint what is needed of it.
Status with_needed(const std::string& checkpoint, const ShardFile& file, const Status& failure) {
  if (file.folder.empty() || file.tensors.empty()) return failure;
  const size_t more = file.tensors.size() - 1;
  return {failure.code(), failure.text() + " (" + checkpoint + " needs it for " + file.tensors.front().name +
                              (more == 0 ? "" : " and " + std::to_string(more) + " more") + ")"};
}

}  // namespace

std::string ShardFile::path(const std::string& checkpoint) const {
  return (folder.empty() ? checkpoint : folder_of(checkpoint) + '/' + folder) + '/' + name;
}

std::string shard_name(uint32_t shard, uint32_t shards, bool steady) {
  char text[64];
  std::snprintf(text, sizeof text, "shard-%05u-of-%05u%s.safetensors", shard, shards,
                steady ? "-steady" : "");
  return text;
}

Status as_damage(const std::string& path, const Status& failure) {
  switch (failure.code()) {
    case Code::NotFound:
    case Code::FailedPrecondition:
    case Code::DataLoss: return data_loss(path + ": " + failure.text());
    default: return failure;
  }
}

Result<ShardFile> write_shard(Disk& disk, const std::string& folder, const std::string& name,
                              std::span<const SavedTensor> tensors, bool unhurried) {
  std::vector<TensorEntry> entries;
  ShardFile written;
  written.name = name;
  for (const auto& saved : tensors) {
    entries.push_back({saved.name, saved.value.dtype(), saved.value.shape()});
    written.tensors.push_back({saved.name, saved.version, saved.slice});
  }
  TROUPE_ASSIGN(const std::string header, safetensors_header(entries));
  TROUPE_ASSIGN(auto file, NewFile::create(disk, folder + '/' + written.name));
  // Chunk by chunk, so that the bytes come from memory once, for the checksum, and then from a cache.
  Rests rests;
  const auto write = [&](std::span<const std::byte> bytes) -> Status {
    written.bytes += bytes.size();
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), chunk_bytes))) {
      const auto chunk = bytes.first(std::min(bytes.size(), chunk_bytes));
      written.checksum = add_to(written.checksum, chunk);
      TROUPE_RETURN_IF_FAILED(file.write(chunk));
      if (unhurried) rests.rest();
    }
    return {};
  };
  TROUPE_RETURN_IF_FAILED(write(std::as_bytes(std::span(header))));
  for (const auto& saved : tensors) TROUPE_RETURN_IF_FAILED(write({saved.value.data(), saved.value.bytes()}));
  TROUPE_RETURN_IF_FAILED(file.commit());
  return written;
}

Result<std::vector<SavedTensor>> read_shard(Disk& disk, const std::string& checkpoint, const ShardFile& file,
                                            const std::function<bool(const ShardFile::Saved&)>& wanted) {
  if (!is_plain_name(file.name) || (!file.folder.empty() && !is_plain_name(file.folder)))
    return data_loss(checkpoint + ": '" + file.folder + "', '" + file.name +
                     "' are not the names of a folder and a file");
  const std::string path = file.path(checkpoint);
  auto reader = CheckedReader::open(disk, path, file.bytes);
  if (!reader) return as_damage(path, with_needed(checkpoint, file, reader.status()));
  auto tensors = read_tensors(*reader, file, wanted);
  if (!tensors) return as_damage(path, with_needed(checkpoint, file, tensors.status()));
  return tensors;
}

}  // namespace troupe
