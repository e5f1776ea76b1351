// DrawOrder: the order in which the samples of a stream are drawn from a buffer. The buffer has a number of slots. Each draw
// takes the sample of a random slot, and the next sample of the stream comes into that slot. The blocks of the stream are in a
// random order, too; or, if they must be read file by file, those of several files are interleaved. The order depends only on
// the sizes and the seed, so it can be repeated up to any position without reading a file. One thread at a time.
#pragma once

#include <span>
#include <vector>

#include "apps/data/random.h"

namespace troupe::data {

/// Returns the most samples of a block: `most`, or fewer, so that a buffer gets its samples from at least 16 blocks and
/// neighbours in a file are mixed with others.
int64_t most_block_samples(int64_t buffer, int64_t most);

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

  /// The most files whose blocks are interleaved.
  static constexpr size_t interleaved_files = 8;

  /// `block_samples` are the numbers of samples of the blocks. Without `shuffle` the samples are drawn in their order. If
  /// `block_files` is not empty, it has for each block the number of its file, in ascending order. Then the blocks of a file keep
  /// their order, the files are in a random order, and each block is the next one of a random file among those begun.
  DrawOrder(std::vector<int64_t> block_samples, int64_t slots, uint64_t seed, bool shuffle,
            std::vector<uint32_t> block_files = {});

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
  std::vector<uint32_t> block_files_;
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
