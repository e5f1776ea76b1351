// BlockReader: reads the samples of blocks. Owned by whoever draws samples from a data set in files; one thread at a time.
#pragma once

#include <list>
#include <memory>
#include <utility>

#include "apps/data/stream/block_index.h"
#include "apps/data/stream/block_source.h"

namespace troupe::data {

/// The records of the files that belong to a data set. If a fraction is held out, each record is drawn by its number.
struct Part {
  enum class Of : uint8_t { All, Train, Valid } of = Of::All;
  double held_out = 0;  ///< the fraction of the records that is for validation
  int64_t fold = 0;     ///< which of the parts of this size it is
  uint64_t seed = 0;

  bool contains(int64_t record) const;
};

class BlockReader final : public BlockSource {
 public:
  /// The disk must outlive this object.
  BlockReader(Disk& disk, std::shared_ptr<const BlockIndex> index, Part part)
      : disk_(&disk), index_(std::move(index)), part_(part) {}

  const Dataset& columns() const override { return index_->columns; }
  /// Returns the samples of the part that are in a block, in the order of the file. Fails with DataLoss if the file is damaged,
  /// with FailedPrecondition if it has changed since it was indexed, or with the error of the disk.
  Result<Dataset> read(size_t block) override;

 private:
  Result<RecordReader*> reader_of(uint32_t file);
  Result<Dataset> convert(RecordReader& reader, const Block& block) const;
  /// Returns the error about a file that has lost its end since it was indexed. `missing`: the number in the file, counted from 0,
  /// of the record of `block` that is no longer there.
  Status truncated(const Block& block, int64_t missing) const;
  /// Returns the samples of the part among records whose first one has the number `first`.
  Result<Dataset> in_part(Dataset records, int64_t first) const;

  Disk* disk_;
  std::shared_ptr<const BlockIndex> index_;
  Part part_;
  /// The open files and their numbers, the one that was used last in front.
  std::list<std::pair<uint32_t, std::unique_ptr<RecordReader>>> readers_;
};

}  // namespace troupe::data
