// StreamedBatches: the batches of samples in files. A part of the samples is in memory, the buffer of DrawOrder. At a step that
// does not follow the one before, the buffer is made anew from the files. One thread at a time.
#pragma once

#include <optional>

#include "apps/data/batches.h"
#include "apps/data/stream/block_reader.h"
#include "apps/data/stream/draw_order.h"

namespace troupe::data {

class StreamedBatches final : public Batches {
 public:
  /// `block_samples` are the numbers of samples that the reader returns for the blocks.
  StreamedBatches(BlockReader reader, std::vector<int64_t> block_samples, int64_t batch, uint64_t seed,
                  bool shuffle);
  Result<Dataset> at(uint64_t step) override;

 private:
  /// Makes the next draw that of sample `position` of an epoch.
  Status seek(uint64_t epoch, int64_t position);
  Status fill_buffer();
  Status draw(Dataset& batch, int64_t row);
  /// Copies a sample of a file into a slot.
  Status read(const DrawOrder::Sample& sample, size_t slot);

  BlockReader reader_;
  DrawOrder order_;
  std::optional<uint64_t> epoch_;  ///< of the next draw; not set: unknown
  int64_t position_ = 0;           ///< of the next draw in its epoch
  Dataset buffer_;                 ///< the samples in the slots of order_
  std::optional<size_t> block_;    ///< the block that was read last
  Dataset block_samples_;          ///< its samples
};

}  // namespace troupe::data
