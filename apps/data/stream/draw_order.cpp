#include "apps/data/stream/draw_order.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace troupe::data {
namespace {

/// Consecutive blocks of a file.
struct Run {
  int64_t next, end;
};

std::vector<Run> runs_of(const std::vector<uint32_t>& block_files) {
  std::vector<Run> runs;
  for (size_t i = 0; i < block_files.size(); ++i) {
    const auto block = static_cast<int64_t>(i);
    if (i == 0 || block_files[i] != block_files[i - 1]) runs.push_back({block, block});
    runs.back().end = block + 1;
  }
  return runs;
}

std::vector<int64_t> interleaved(const std::vector<uint32_t>& block_files, uint64_t seed, uint64_t epoch) {
  const std::vector<Run> runs = runs_of(block_files);
  const auto order = permutation(static_cast<int64_t>(runs.size()), seed, RandomStream::Files, epoch);
  SplitMix random = SplitMix::of(seed, RandomStream::Blocks, epoch);
  std::vector<Run> begun;
  std::vector<int64_t> blocks;
  for (auto next_run = order.begin(); blocks.size() < block_files.size();) {
    while (begun.size() < DrawOrder::interleaved_files && next_run != order.end())
      begun.push_back(runs[static_cast<size_t>(*next_run++)]);
    const auto at = begun.begin() + static_cast<std::ptrdiff_t>(random.below(begun.size()));
    blocks.push_back(at->next++);
    if (at->next == at->end) begun.erase(at);
  }
  return blocks;
}

}  // namespace

int64_t most_block_samples(int64_t buffer, int64_t most) {
  constexpr int64_t blocks_of_buffer = 16;
  return std::clamp<int64_t>(buffer / blocks_of_buffer, 1, most);
}

DrawOrder::DrawOrder(std::vector<int64_t> block_samples, int64_t slots, uint64_t seed, bool shuffle,
                     std::vector<uint32_t> block_files)
    : block_samples_(std::move(block_samples)), block_files_(std::move(block_files)),
      most_slots_(shuffle ? static_cast<size_t>(slots) : 1), seed_(seed), shuffle_(shuffle) {
  assert(slots >= 1);
}

void DrawOrder::begin(uint64_t epoch) {
  random_ = SplitMix::of(seed_, RandomStream::Buffer, epoch);
  const auto count = static_cast<int64_t>(block_samples_.size());
  if (shuffle_) {
    blocks_ = block_files_.empty() ? permutation(count, seed_, RandomStream::Blocks, epoch)
                                   : interleaved(block_files_, seed_, epoch);
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
