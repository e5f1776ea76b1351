// Dataset: samples as named columns, with functions that split, shuffle and divide them into batches and shards. The results depend
// only on the data, the seed and the step, so a resumed run continues with the same batch as an uninterrupted one. Immutable; any
// thread.
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
  /// All columns must have the same number of samples (asserted).
  explicit Dataset(std::vector<Column> columns);

  int64_t samples() const { return samples_; }
  std::span<const Column> columns() const { return columns_; }
  /// Returns the values of a column, or null if there is no such column.
  const Tensor* find(std::string_view name) const;
  /// Returns a copy of the given samples in the given order. Fails with ResourceExhausted if there is too little memory.
  Result<Dataset> select(std::span<const int64_t> rows) const;
  /// Returns the samples [begin, end), which share the memory of this data set.
  Dataset slice(int64_t begin, int64_t end) const;

 private:
  std::vector<Column> columns_;
  int64_t samples_ = 0;
};

/// Returns the numbers from 0 to n-1 in a random order that depends only on (seed, stream, index).
std::vector<int64_t> permutation(int64_t n, uint64_t seed, uint64_t stream, uint64_t index);

/// Divides a data set into batches, epoch after epoch. The last batch of an epoch may be smaller than the others.
class Batches {
 public:
  /// `data` must have at least one sample, and `batch` must be at least 1 (asserted).
  Batches(Dataset data, int64_t batch, uint64_t seed, bool shuffle);

  int64_t per_epoch() const { return (data_.samples() + batch_ - 1) / batch_; }
  uint64_t epoch_of(uint64_t step) const { return step / static_cast<uint64_t>(per_epoch()); }
  /// Returns the batch of a step; steps are counted from 0 over all epochs. One thread at a time.
  Result<Dataset> at(uint64_t step);

 private:
  Dataset data_;
  int64_t batch_;
  uint64_t seed_;
  bool shuffle_;
  std::vector<int64_t> order_;  ///< the order of the samples in order_epoch_
  std::optional<uint64_t> order_epoch_;
};

/// The part of a batch that belongs to one logical shard.
struct Shard {
  Dataset data;
  double weight = 0;  ///< its number of samples divided by that of the batch
};

/// Divides a batch into n consecutive parts whose sizes differ by at most one. If the batch has fewer than n samples, some are
/// empty.
std::vector<Shard> shards(const Dataset& batch, int64_t n);

}  // namespace troupe::data
