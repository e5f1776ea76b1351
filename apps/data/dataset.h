// Dataset: samples in memory as named columns. Whoever made it may write its elements before others see it; then it does not
// change, and any thread may read it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "messages/values/tensor.h"

namespace troupe::data {

struct Column {
  std::string name;
  Tensor values;  ///< [samples, ...]; of a ragged column [elements, ...], one sample behind the other
  /// For a ragged column: int64 [samples + 1]. Sample i has the elements row_splits[i] to row_splits[i + 1] - 1.
  Tensor row_splits = {};

  bool is_ragged() const { return row_splits.valid(); }
  int64_t samples() const { return is_ragged() ? row_splits.shape()[0] - 1 : values.shape()[0]; }
  /// Returns the elements of the samples [begin, end), which share the memory of this column.
  Tensor values_of(int64_t begin, int64_t end) const;
};

/// Returns the name of the splits of a ragged column, as find() and models know them.
inline std::string splits_name(const std::string& column) { return column + "_splits"; }

class Dataset {
 public:
  Dataset() = default;
  /// All columns must have the same number of samples (asserted).
  explicit Dataset(std::vector<Column> columns);

  int64_t samples() const { return samples_; }
  std::span<const Column> columns() const { return columns_; }
  /// Returns the columns, so that their elements can be written.
  std::span<Column> mutable_columns() { return columns_; }
  /// Returns the values of a column, or the splits of a ragged one by splits_name(), or null if there is no such column.
  const Tensor* find(std::string_view name) const;
  /// Returns a copy of the given samples in the given order. No column may be ragged (asserted). Fails with ResourceExhausted
  /// if there is too little memory.
  Result<Dataset> select(std::span<const int64_t> rows) const;
  /// Returns the samples [begin, end), whose values share the memory of this data set.
  Dataset slice(int64_t begin, int64_t end) const;

 private:
  std::vector<Column> columns_;
  int64_t samples_ = 0;
};

/// Copies a row of a tensor to a row of another one with the same dtype and number of elements in a row.
void copy_row(const Tensor& from, int64_t from_row, Tensor& to, int64_t to_row);
/// Copies all rows of such a tensor, the first one to row `to_row`.
void copy_rows(const Tensor& from, Tensor& to, int64_t to_row);
/// Returns a data set with memory for `samples` samples, with the columns of another one, none of them ragged (asserted). Fails
/// with ResourceExhausted if there is too little memory.
Result<Dataset> allocate_like(const Dataset& columns, int64_t samples);

/// Returns the classes of labels [samples]. Fails with InvalidArgument, naming the key of the run file that needs them, if the
/// labels are not integers.
Result<std::vector<int64_t>> class_numbers(const Tensor& labels, const std::string& key);

/// The part of a batch that belongs to one logical shard.
struct Shard {
  Dataset data;
  double weight = 0;  ///< its number of samples divided by that of the batch
};

/// Divides a batch into n consecutive parts whose sizes differ by at most one. If the batch has fewer than n samples, some are
/// empty.
std::vector<Shard> shards(const Dataset& batch, int64_t n);

}  // namespace troupe::data
