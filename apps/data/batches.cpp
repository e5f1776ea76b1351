#include "apps/data/batches.h"

#include <algorithm>
#include <cassert>

#include "apps/data/random.h"

namespace troupe::data {

Batches::Batches(int64_t samples, int64_t batch)
    : per_epoch_((samples - 1) / batch + 1), samples_(samples), batch_(batch) {
  assert(samples > 0 && batch > 0);
}

Batches::Batches(int64_t per_epoch) : per_epoch_(per_epoch) { assert(per_epoch > 0); }

Batches::Range Batches::range_of(uint64_t step) const {
  const int64_t begin = static_cast<int64_t>(step % static_cast<uint64_t>(per_epoch())) * batch_;
  return {begin, begin + std::min(batch_, samples_ - begin)};
}

MemoryBatches::MemoryBatches(Dataset data, int64_t batch, uint64_t seed, bool shuffle)
    : Batches(data.samples(), batch), data_(std::move(data)), seed_(seed), shuffle_(shuffle) {}

Result<Dataset> MemoryBatches::at(uint64_t step) {
  const auto [begin, end] = range_of(step);
  if (!shuffle_) return data_.slice(begin, end);
  if (const uint64_t epoch = epoch_of(step); order_epoch_ != epoch) {
    order_ = permutation(data_.samples(), seed_, RandomStream::Epoch, epoch);
    order_epoch_ = epoch;
  }
  return data_.select(
      std::span(order_).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
}

}  // namespace troupe::data
