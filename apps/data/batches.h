// Batches: divides a data set into batches, epoch after epoch. A batch depends only on the data, the seed and its step, so a
// resumed run continues with the same batch as an uninterrupted one. One thread at a time.
#pragma once

#include <optional>

#include "apps/data/dataset.h"

namespace troupe::data {

/// The batches that are made ahead of their use.
struct BatchQueue {
  size_t ready = 0, most = 0;
};

class Batches {
 public:
  virtual ~Batches() = default;
  /// Returns the number of batches of an epoch. The last one may be smaller than the others, or the last ones if the samples are
  /// in buckets.
  int64_t per_epoch() const { return per_epoch_; }
  uint64_t epoch_of(uint64_t step) const { return step / static_cast<uint64_t>(per_epoch()); }
  /// Returns the batch of a step; steps are counted from 0 over all epochs. Fails as the files of the data set do.
  virtual Result<Dataset> at(uint64_t step) = 0;
  /// Returns how many batches are ready; nothing if batches are made when they are asked for.
  virtual std::optional<BatchQueue> queue() { return {}; }

 protected:
  /// There must be at least one sample, and `batch` must be at least 1 (asserted).
  Batches(int64_t samples, int64_t batch);
  /// An epoch has this number of batches, at least one (asserted). Such batches have no ranges.
  explicit Batches(int64_t per_epoch);
  Batches(const Batches&) = default;
  Batches& operator=(const Batches&) = delete;

  /// The samples of a batch, counted in the order of its epoch.
  struct Range {
    int64_t begin, end;
  };
  Range range_of(uint64_t step) const;

 private:
  int64_t per_epoch_;
  int64_t samples_ = 0, batch_ = 0;
};

/// The batches of a data set in memory. If `shuffle`, each epoch has an order of its own.
class MemoryBatches final : public Batches {
 public:
  MemoryBatches(Dataset data, int64_t batch, uint64_t seed, bool shuffle);
  Result<Dataset> at(uint64_t step) override;

 private:
  Dataset data_;
  uint64_t seed_;
  bool shuffle_;
  std::vector<int64_t> order_;  ///< the order of the samples in order_epoch_
  std::optional<uint64_t> order_epoch_;
};

}  // namespace troupe::data
