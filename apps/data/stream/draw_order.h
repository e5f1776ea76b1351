// DrawOrder: the order in which the samples of a stream are drawn from a buffer. The buffer has a number of slots. Each draw takes
// the sample of a random slot, and the next sample of the stream comes into that slot. The blocks of the stream are in a random
// order, too. The order depends only on the sizes and the seed, so it can be repeated up to any position without reading a file.
// One thread at a time.
#pragma once

#include <span>
#include <vector>

#include "apps/data/random.h"

namespace troupe::data {

class DrawOrder {
 public:
  struct Sample {
    size_t block;
    int64_t row;  ///< among the samples of the block
  };
  struct Draw {
    size_t slot;  ///< whose sample is drawn
    /// Whether the next sample of the stream comes into the slot; otherwise that of the last slot does.
    bool is_refilled;
  };

  /// `block_samples` are the numbers of samples of the blocks. Without `shuffle` the samples are drawn in their order.
  DrawOrder(std::vector<int64_t> block_samples, int64_t slots, uint64_t seed, bool shuffle);

  /// Begins an epoch: fills the slots with the first samples of the stream.
  void begin(uint64_t epoch);
  /// The samples that are in the slots now.
  std::span<const Sample> slots() const { return slots_; }
  /// Draws a sample; there must be one.
  Draw draw();

 private:
  /// Stores the next sample of the stream. Returns false at its end.
  bool next(Sample& sample);

  std::vector<int64_t> block_samples_;
  size_t most_slots_;
  uint64_t seed_;
  bool shuffle_;
  SplitMix random_{0};
  std::vector<int64_t> blocks_;  ///< the order of the blocks in this epoch
  size_t next_block_ = 0;        ///< in blocks_
  int64_t next_row_ = 0;
  std::vector<Sample> slots_;
};

}  // namespace troupe::data
