// Dataset: samples as named columns, split, put in order, cut into batches and shards. All of it is a pure
// function of the data, the seed and the step, so that a resumed run goes on with exactly the batch it would
// have had. Immutable; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "messages/values/tensor.h"

namespace troupe::data {

struct Column {
  std::string name;
  Tensor values;  ///< [samples, ...]
};

class Dataset {
 public:
  Dataset() = default;
  /// All columns have the same number of samples (asserted).
  explicit Dataset(std::vector<Column> columns);

  int64_t samples() const { return samples_; }
  std::span<const Column> columns() const { return columns_; }
  /// Null when there is none.
  const Tensor* find(std::string_view name) const;
  /// These samples, in this order, copied. ResourceExhausted when there is no memory for them.
  Result<Dataset> select(std::span<const int64_t> rows) const;
  /// Samples [begin, end), sharing memory.
  Dataset slice(int64_t begin, int64_t end) const;

 private:
  std::vector<Column> columns_;
  int64_t samples_ = 0;
};

/// 0 .. n-1 in an order that depends on (seed, stream, index) alone.
std::vector<int64_t> permutation(int64_t n, uint64_t seed, uint64_t stream, uint64_t index);

/// A data set in batches, epoch after epoch. The last batch of an epoch may be short.
class Batches {
 public:
  /// `data` holds at least one sample and `batch` is at least 1 (asserted).
  Batches(Dataset data, int64_t batch, uint64_t seed, bool shuffle);

  int64_t per_epoch() const { return (data_.samples() + batch_ - 1) / batch_; }
  uint64_t epoch_of(uint64_t step) const { return step / static_cast<uint64_t>(per_epoch()); }
  /// The batch of this step, counted from 0 over all epochs. One thread at a time.
  Result<Dataset> at(uint64_t step);

 private:
  Dataset data_;
  int64_t batch_;
  uint64_t seed_;
  bool shuffle_;
  std::vector<int64_t> order_;  ///< of order_epoch_
  std::optional<uint64_t> order_epoch_;
};

/// One logical shard's part of a batch.
struct Shard {
  Dataset data;
  double weight = 0;  ///< its samples over those of the batch; 0 for an empty one
};

/// `batch` cut into n parts in order, whose sizes differ by one at most; parts of a batch smaller than n may
/// be empty.
std::vector<Shard> shards(const Dataset& batch, int64_t n);

}  // namespace troupe::data
