#include "apps/data/stream/block_index.h"

#include "apps/data/stream/draw_order.h"

namespace troupe::data {
namespace {

/// Appends the blocks of a file. `file` is its number.
Status append_blocks(RecordReader& reader, uint32_t file, BlockIndex& index) {
  const int64_t most = most_block_samples(index.options.buffer, records_at_once(width(reader)));
  const int64_t before = index.records;
  for (;;) {
    TROUPE_ASSIGN(const ReaderPosition begin, reader.position());
    TROUPE_ASSIGN(const int64_t records, reader.skip(most));
    if (records == 0) break;
    index.blocks.push_back({file, begin, index.records, records});
    index.records += records;
  }
  return index.records == before ? no_samples(index.files[file]) : Status();
}

}  // namespace

Result<std::shared_ptr<const BlockIndex>> index_blocks(Disk& disk, const Options& options,
                                                       const SourceFiles& files) {
  BlockIndex index{.options = options,
                   .files = {files.files.begin(), files.files.end()},
                   .labels = {files.labels.begin(), files.labels.end()},
                   .blocks = {},
                   .columns = {}};
  std::vector<Field> first;
  for (uint32_t i = 0; i < index.files.size(); ++i) {
    TROUPE_ASSIGN(const auto reader, open_source(disk, options, index.sources(), i));
    if (i == 0) {
      first = reader->schema();
      TROUPE_ASSIGN(auto builders, make_builders(options, reader->schema(), 0));
      TROUPE_ASSIGN(index.columns, finish(builders));
    }
    TROUPE_RETURN_IF_FAILED(check_alike(index.sources(), i, reader->schema(), first));
    index.is_compressed |= reader->is_compressed();
    TROUPE_RETURN_IF_FAILED(append_blocks(*reader, i, index));
  }
  return std::make_shared<const BlockIndex>(std::move(index));
}

}  // namespace troupe::data
