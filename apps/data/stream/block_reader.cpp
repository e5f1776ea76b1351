#include "apps/data/stream/block_reader.h"

#include <algorithm>

#include "apps/data/random.h"
#include "apps/data/stream/draw_order.h"

namespace troupe::data {
namespace {

constexpr size_t most_open_files = 64;
/// A compressed file takes memory of its own, megabytes for some.
constexpr size_t most_compressed_files = 2 * DrawOrder::interleaved_files;

}  // namespace

bool Part::contains(int64_t record) const {
  if (of == Of::All) return true;
  SplitMix random = SplitMix::of(seed, RandomStream::Split, static_cast<uint64_t>(record));
  const double drawn = static_cast<double>(random.next() >> 11) * 0x1p-53;
  const auto cut = [this](int64_t folds) { return held_out * static_cast<double>(folds); };
  const bool is_held_out = cut(fold) <= drawn && drawn < cut(fold + 1);
  return is_held_out == (of == Of::Valid);
}

Result<RecordReader*> BlockReader::reader_of(uint32_t file) {
  const auto open = std::ranges::find(readers_, file, [](const auto& one) { return one.first; });
  if (open == readers_.end()) {
    if (readers_.size() >= (index_->is_compressed ? most_compressed_files : most_open_files))
      readers_.pop_back();
    TROUPE_ASSIGN(auto reader, open_source(*disk_, index_->options, index_->sources(), file));
    readers_.emplace_front(file, std::move(reader));
  } else {
    readers_.splice(readers_.begin(), readers_, open);
  }
  return readers_.front().second.get();
}

Result<Dataset> BlockReader::read(size_t block) {
  const Block& at = index_->blocks[block];
  TROUPE_ASSIGN(RecordReader* const reader, reader_of(at.file));
  TROUPE_RETURN_IF_FAILED(reader->restore(at.begin));
  return convert(*reader, at);
}

Result<Dataset> BlockReader::convert(RecordReader& reader, const Block& block) const {
  const std::string& file = index_->files[block.file];
  TROUPE_ASSIGN(auto builders, make_builders(index_->options, reader.schema(), std::nullopt));
  for (int64_t done = 0; done < block.records;) {
    TROUPE_ASSIGN(Dataset records, reader.next(block.records - done));
    const int64_t read = records.samples();
    if (read == 0) return truncated(block, static_cast<int64_t>(block.begin.record) + done);
    TROUPE_ASSIGN(const Dataset samples, in_part(std::move(records), block.first + done));
    for (ColumnBuilder& builder : builders)
      if (const Status status = builder.add(samples); !status.ok())
        return Status(status.code(),
                      file + ", from record " + std::to_string(block.begin.record) + " on: " + status.text());
    done += read;
  }
  return finish(builders);
}

Status BlockReader::truncated(const Block& block, int64_t missing) const {
  int64_t records = 0;
  for (const Block& one : index_->blocks)
    if (one.file == block.file) records += one.records;
  return data_loss(index_->files[block.file] + ": the file was truncated while it was read: record " +
                   std::to_string(missing + 1) + " is missing, but there were " + std::to_string(records) +
                   " records at the start");
}

Result<Dataset> BlockReader::in_part(Dataset records, int64_t first) const {
  if (part_.of == Part::Of::All) return records;
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < records.samples(); ++row)
    if (part_.contains(first + row)) rows.push_back(row);
  return records.select(rows);
}

}  // namespace troupe::data
