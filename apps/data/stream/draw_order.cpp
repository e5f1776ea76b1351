#include "apps/data/stream/draw_order.h"

#include <cassert>
#include <numeric>

namespace troupe::data {

DrawOrder::DrawOrder(std::vector<int64_t> block_samples, int64_t slots, uint64_t seed, bool shuffle)
    : block_samples_(std::move(block_samples)), most_slots_(shuffle ? static_cast<size_t>(slots) : 1),
      seed_(seed), shuffle_(shuffle) {
  assert(slots >= 1);
}

void DrawOrder::begin(uint64_t epoch) {
  random_ = SplitMix::of(seed_, RandomStream::Buffer, epoch);
  const auto count = static_cast<int64_t>(block_samples_.size());
  if (shuffle_) {
    blocks_ = permutation(count, seed_, RandomStream::Blocks, epoch);
  } else {
    blocks_.resize(block_samples_.size());
    std::iota(blocks_.begin(), blocks_.end(), int64_t{0});
  }
  next_block_ = 0;
  next_row_ = 0;
  slots_.clear();
  for (Sample sample{}; slots_.size() < most_slots_ && next(sample);) slots_.push_back(sample);
}

bool DrawOrder::next(Sample& sample) {
  for (; next_block_ < blocks_.size(); ++next_block_, next_row_ = 0) {
    const auto block = static_cast<size_t>(blocks_[next_block_]);
    if (next_row_ == block_samples_[block]) continue;
    sample = {block, next_row_++};
    return true;
  }
  return false;
}

DrawOrder::Draw DrawOrder::draw() {
  assert(!slots_.empty());
  const auto slot = static_cast<size_t>(random_.below(slots_.size()));
  if (next(slots_[slot])) return {slot, true};
  slots_[slot] = slots_.back();
  slots_.pop_back();
  return {slot, false};
}

}  // namespace troupe::data
