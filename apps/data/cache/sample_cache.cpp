#include "apps/data/cache/sample_cache.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>

#include "apps/data/cache/stored_samples.h"
#include "apps/data/stream/prefetch.h"
#include "apps/data/stream/streamed_batches.h"
#include "messages/records/record_stream.h"
#include "messages/records/tf_record.h"
#include "messages/values/crc32c.h"

namespace troupe::data {
namespace {

constexpr int64_t at_once = 256;  // how many samples are computed at once
constexpr size_t most_block_bytes = size_t{1} << 20;
constexpr PrefetchOptions ahead = {.ahead = 4, .threads = 1};

/// A record of the file.
struct StoredBlock {
  uint64_t offset = 0, bytes = 0;  ///< of what it contains
  int64_t samples = 0;
};

template <class T>
T number_at(std::string_view bytes, size_t at) {
  T number;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

/// The open file. Any thread.
class CacheFile {
 public:
  CacheFile(std::unique_ptr<ReadableFile> file, std::string path, uint64_t size)
      : file_(std::move(file)), path_(std::move(path)), size_(size) {}

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }
  /// Returns `bytes` bytes, or fewer at the end of the file.
  Result<std::string> text(uint64_t offset, uint64_t bytes) {
    std::string text(std::min(bytes, size_ - std::min(size_, offset)), '\0');
    const std::scoped_lock lock(mutex_);
    TROUPE_ASSIGN(const size_t read, file_->read(offset, std::as_writable_bytes(std::span(text))));
    text.resize(read);
    return text;
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<ReadableFile> file_;  ///< guarded by mutex_
  const std::string path_;
  const uint64_t size_;
};

/// Returns the record that begins at an offset, without its samples; nothing if none does.
Result<std::optional<StoredBlock>> record_at(CacheFile& file, uint64_t offset) {
  constexpr size_t head_bytes = tf_record_header + sizeof(uint32_t);
  TROUPE_ASSIGN(const std::string head, file.text(offset, head_bytes));
  if (head.size() < head_bytes) return std::optional<StoredBlock>();
  const std::string_view length = std::string_view(head).substr(0, sizeof(uint64_t));
  const auto bytes = number_at<uint64_t>(head, 0);
  const uint64_t most = file.size() - offset - tf_record_header;
  if (number_at<uint32_t>(head, length.size()) != masked_crc32c(length) || most < tf_record_footer ||
      bytes > most - tf_record_footer || bytes > RecordStream::max_record_bytes)
    return std::optional<StoredBlock>();
  return std::optional(
      StoredBlock{offset + tf_record_header, bytes, number_at<uint32_t>(head, tf_record_header)});
}

/// Returns what a record contains. Fails with DataLoss if its checksum is wrong.
Result<std::string> content_of(CacheFile& file, const StoredBlock& block) {
  TROUPE_ASSIGN(std::string bytes, file.text(block.offset, block.bytes + tf_record_footer));
  const std::string_view content = std::string_view(bytes).substr(0, block.bytes);
  if (bytes.size() != block.bytes + tf_record_footer ||
      number_at<uint32_t>(bytes, block.bytes) != masked_crc32c(content))
    return data_loss(file.path() + ": the samples at byte " + std::to_string(block.offset) +
                     " are damaged; without this file they are computed again");
  bytes.resize(block.bytes);
  return bytes;
}

struct Cache {
  std::shared_ptr<CacheFile> file;
  CacheHeader header;
  std::vector<StoredBlock> blocks;
};

class CacheBlocks final : public BlockSource {
 public:
  explicit CacheBlocks(std::shared_ptr<const Cache> cache) : cache_(std::move(cache)) {}

  const Dataset& columns() const override { return cache_->header.columns; }
  Result<Dataset> read(size_t block) override {
    const StoredBlock& at = cache_->blocks[block];
    TROUPE_ASSIGN(const std::string bytes, content_of(*cache_->file, at));
    auto samples = parse_samples(bytes, columns());
    if (!samples || samples->samples() != at.samples)
      return data_loss(cache_->file->path() + ": the samples at byte " + std::to_string(at.offset) +
                       " are not those of this cache");
    return samples;
  }

 private:
  std::shared_ptr<const Cache> cache_;
};

class CachedSet final : public SampleSet {
 public:
  CachedSet(std::shared_ptr<const Cache> cache, int64_t buffer) : cache_(std::move(cache)), buffer_(buffer) {}

  int64_t samples() const override { return static_cast<int64_t>(cache_->header.samples); }
  const Dataset& columns() const override { return cache_->header.columns; }
  std::unique_ptr<Batches> batches(int64_t batch, uint64_t seed, bool shuffle) const override {
    std::vector<int64_t> block_samples;
    for (const StoredBlock& block : cache_->blocks) block_samples.push_back(block.samples);
    return std::make_unique<Prefetch>(
        std::make_unique<StreamedBatches>(std::make_unique<CacheBlocks>(cache_),
                                          DrawOrder(std::move(block_samples), buffer_, seed, shuffle),
                                          samples(), batch),
        ahead);
  }

 private:
  std::shared_ptr<const Cache> cache_;
  int64_t buffer_;
};

/// Reads the header and finds the blocks. Returns nothing if this is no complete cache with the key.
Result<std::optional<Cache>> index_cache(const std::shared_ptr<CacheFile>& file, const std::string& key) {
  TROUPE_ASSIGN(const auto first, record_at(*file, 0));
  if (!first) return std::optional<Cache>();
  const auto content = content_of(*file, *first);
  auto header = content ? parse_cache_header(*content) : Result<CacheHeader>(content.status());
  if (!header || header->key != key || header->samples == 0) return std::optional<Cache>();
  Cache cache{file, std::move(*header), {}};
  uint64_t samples = 0, offset = first->offset + first->bytes + tf_record_footer;
  while (offset < file->size()) {
    TROUPE_ASSIGN(const auto block, record_at(*file, offset));
    if (!block || block->samples == 0) return std::optional<Cache>();
    samples += static_cast<uint64_t>(block->samples);
    offset = block->offset + block->bytes + tf_record_footer;
    cache.blocks.push_back(*block);
  }
  return samples == cache.header.samples ? std::optional(std::move(cache)) : std::nullopt;
}

/// Writes samples as blocks that are neither large nor have many samples.
class BlockWriter {
 public:
  BlockWriter(NewFile& file, int64_t most_samples) : file_(file), most_samples_(most_samples) {}

  Status write(const Dataset& samples) {
    int64_t begin = 0;
    size_t bytes = 0;
    for (int64_t row = 0; row < samples.samples(); ++row) {
      const size_t more = bytes_of_sample(samples, row);
      if (row != begin && (row - begin == most_samples_ || bytes + more > most_block_bytes)) {
        TROUPE_RETURN_IF_FAILED(write_block(samples.slice(begin, row)));
        begin = row;
        bytes = 0;
      }
      bytes += more;
    }
    return write_block(samples.slice(begin, samples.samples()));
  }

 private:
  Status write_block(const Dataset& samples) {
    std::string record;
    append_tf_record(record, to_bytes(samples));
    return file_.write(record);
  }

  NewFile& file_;
  int64_t most_samples_;
};

}  // namespace

Result<std::shared_ptr<const SampleSet>> open_cache(Disk& disk, const CachePlace& place) {
  std::shared_ptr<const SampleSet> none;
  auto opened = disk.open(place.path);
  if (opened.status().code() == Code::NotFound) return none;
  TROUPE_RETURN_IF_FAILED(opened.status());
  TROUPE_ASSIGN(const uint64_t size, (*opened)->size());
  const auto file = std::make_shared<CacheFile>(std::move(*opened), place.path, size);
  TROUPE_ASSIGN(auto cache, index_cache(file, place.key));
  if (!cache) return none;
  return std::shared_ptr<const SampleSet>(
      std::make_shared<CachedSet>(std::make_shared<const Cache>(std::move(*cache)), place.buffer));
}

Status write_cache(Disk& disk, const CachePlace& place, const SampleSet& set) {
  TROUPE_RETURN_IF_FAILED(make_folders(disk, folder_of(place.path)));
  TROUPE_ASSIGN(NewFile file, NewFile::create(disk, place.path));
  TROUPE_ASSIGN(Dataset columns, allocate_like(set.columns(), 0));
  std::string header;
  append_tf_record(
      header, to_bytes(CacheHeader{place.key, static_cast<uint64_t>(set.samples()), std::move(columns)}));
  TROUPE_RETURN_IF_FAILED(file.write(header));
  BlockWriter writer(file, most_block_samples(place.buffer, at_once));
  const auto batches = set.batches(at_once, 0, false);
  for (int64_t i = 0; i < batches->per_epoch(); ++i) {
    TROUPE_ASSIGN(const Dataset samples, batches->at(static_cast<uint64_t>(i)));
    TROUPE_RETURN_IF_FAILED(writer.write(samples));
  }
  return file.commit();
}

}  // namespace troupe::data
