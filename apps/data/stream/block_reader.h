// BlockReader: reads the samples of blocks. Owned by whoever draws samples from a data set in files; one thread at a time.
#pragma once

#include <map>
#include <memory>

#include "apps/data/stream/block_index.h"

namespace troupe::data {

/// The records of the files that belong to a data set. If a fraction is held out, each record is drawn by its number.
struct Part {
  enum class Of : uint8_t { All, Train, Valid } of = Of::All;
  double held_out = 0;  ///< the fraction of the records that is for validation
  uint64_t seed = 0;

  bool contains(int64_t record) const;
};

class BlockReader {
 public:
  /// The disk must outlive this object.
  BlockReader(Disk& disk, std::shared_ptr<const BlockIndex> index, Part part)
      : disk_(&disk), index_(std::move(index)), part_(part) {}

  const BlockIndex& index() const { return *index_; }
  /// Returns the samples of the part that are in a block, in the order of the file. Fails with DataLoss if the file is damaged,
  /// with FailedPrecondition if it has changed since it was indexed, or with the error of the disk.
  Result<Dataset> read(size_t block);

 private:
  Result<RecordReader*> reader_of(uint32_t file);
  Result<Dataset> convert(RecordReader& reader, const Block& block) const;
  /// Returns the samples of the part among records whose first one has the number `first`.
  Result<Dataset> in_part(Dataset records, int64_t first) const;

  Disk* disk_;
  std::shared_ptr<const BlockIndex> index_;
  Part part_;
  std::map<uint32_t, std::unique_ptr<RecordReader>> readers_;  ///< open files
};

}  // namespace troupe::data
