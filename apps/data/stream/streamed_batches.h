// StreamedBatches: the batches of samples in files. A part of the samples is in memory, the buffer of DrawOrder. At a step that
// does not follow the one before, the buffer is made anew from the files. One thread at a time.
#pragma once

#include <memory>
#include <optional>

#include "apps/data/batches.h"
#include "apps/data/stream/block_source.h"
#include "apps/data/stream/draw_order.h"

namespace troupe::data {

class StreamedBatches final : public Batches {
 public:
  /// `order` has been made of the numbers of samples of the source's blocks, which are `samples` together.
  StreamedBatches(std::unique_ptr<BlockSource> source, DrawOrder order, int64_t samples, int64_t batch);
  Result<Dataset> at(uint64_t step) override;

 private:
  /// Makes the next draw that of sample `position` of an epoch.
  Status seek(uint64_t epoch, int64_t position);
  Status fill_buffer();
  Status draw(Dataset& batch, int64_t row);
  /// Copies a sample of a file into a slot.
  Status read(const DrawOrder::Sample& sample, size_t slot);

  std::unique_ptr<BlockSource> source_;
  DrawOrder order_;
  std::optional<uint64_t> epoch_;  ///< of the next draw; not set: unknown
  int64_t position_ = 0;           ///< of the next draw in its epoch
  Dataset buffer_;                 ///< the samples in the slots of order_
  std::optional<size_t> block_;    ///< the block that was read last
  Dataset block_samples_;          ///< its samples
};

}  // namespace troupe::data
