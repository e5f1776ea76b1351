#include "apps/data/dataset.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace troupe::data {
namespace {

/// Returns the splits of the samples [begin, end), which begin with 0.
Tensor splits_of(const Tensor& row_splits, int64_t begin, int64_t end) {
  const auto given =
      row_splits.as<int64_t>().subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin) + 1);
  std::vector<int64_t> splits(given.begin(), given.end());
  for (int64_t& split : splits) split -= given.front();
  return Tensor::vector<int64_t>(std::span<const int64_t>(splits));
}

}  // namespace

Tensor Column::values_of(int64_t begin, int64_t end) const {
  if (!is_ragged()) return values.rows(begin, end);
  const auto splits = row_splits.as<int64_t>();
  return values.rows(splits[static_cast<size_t>(begin)], splits[static_cast<size_t>(end)]);
}

Dataset::Dataset(std::vector<Column> columns) : columns_(std::move(columns)) {
  if (!columns_.empty()) samples_ = columns_.front().samples();
  for ([[maybe_unused]] const auto& column : columns_) assert(column.samples() == samples_);
}

const Tensor* Dataset::find(std::string_view name) const {
  for (const auto& column : columns_) {
    if (column.name == name) return &column.values;
    if (column.is_ragged() && splits_name(column.name) == name) return &column.row_splits;
  }
  return nullptr;
}

Result<Dataset> Dataset::select(std::span<const int64_t> rows) const {
  TROUPE_ASSIGN(Dataset selected, allocate_like(*this, static_cast<int64_t>(rows.size())));
  for (size_t i = 0; i < columns_.size(); ++i) {
    int64_t to = 0;
    for (const int64_t row : rows) copy_row(columns_[i].values, row, selected.columns_[i].values, to++);
  }
  return selected;
}

Dataset Dataset::slice(int64_t begin, int64_t end) const {
  std::vector<Column> part;
  for (const Column& column : columns_)
    part.push_back({column.name, column.values_of(begin, end),
                    column.is_ragged() ? splits_of(column.row_splits, begin, end) : Tensor()});
  return Dataset(std::move(part));
}

namespace {

/// Copies `count` elements between tensors of the same dtype.
void copy_elements(const Tensor& from, size_t from_first, Tensor& to, size_t to_first, size_t count) {
  if (from.dtype() == DType::String) {
    std::ranges::copy(from.as<std::string>().subspan(from_first, count),
                      to.write<std::string>().subspan(to_first, count).begin());
    return;
  }
  const size_t bytes = size_of(from.dtype());
  std::memcpy(to.mutable_data() + to_first * bytes, from.data() + from_first * bytes, count * bytes);
}

}  // namespace

void copy_row(const Tensor& from, int64_t from_row, Tensor& to, int64_t to_row) {
  assert(0 <= from_row && from_row < from.shape()[0] && 0 <= to_row && to_row < to.shape()[0]);
  const auto elements = static_cast<size_t>(from.elements() / from.shape()[0]);
  copy_elements(from, static_cast<size_t>(from_row) * elements, to, static_cast<size_t>(to_row) * elements,
                elements);
}

void copy_rows(const Tensor& from, Tensor& to, int64_t to_row) {
  if (from.elements() == 0) return;
  const int64_t elements = from.elements() / from.shape()[0];
  assert(0 <= to_row && to_row + from.shape()[0] <= to.shape()[0]);
  copy_elements(from, 0, to, static_cast<size_t>(to_row * elements), static_cast<size_t>(from.elements()));
}

Result<Dataset> allocate_like(const Dataset& columns, int64_t samples) {
  std::vector<Column> allocated;
  for (const auto& [name, values, row_splits] : columns.columns()) {
    assert(!row_splits.valid());
    std::vector<int64_t> dims(values.shape().dims().begin(), values.shape().dims().end());
    dims[0] = samples;
    TROUPE_ASSIGN(const Shape shape, Shape::make(dims, values.dtype()));
    TROUPE_ASSIGN(Tensor memory, Tensor::allocate(values.dtype(), shape));
    allocated.push_back({name, std::move(memory)});
  }
  return Dataset(std::move(allocated));
}

std::vector<Shard> shards(const Dataset& batch, int64_t n) {
  std::vector<Shard> parts;
  const int64_t samples = batch.samples();
  for (int64_t i = 0; i < n; ++i) {
    const int64_t begin = samples * i / n, end = samples * (i + 1) / n;
    const double weight = samples ? static_cast<double>(end - begin) / static_cast<double>(samples) : 0;
    parts.push_back({batch.slice(begin, end), weight});
  }
  return parts;
}

Result<std::vector<int64_t>> class_numbers(const Tensor& labels, const std::string& key) {
  const auto of_each = [](const auto& all) { return std::vector<int64_t>(all.begin(), all.end()); };
  if (labels.shape().rank() == 1 && labels.dtype() == DType::Int32) return of_each(labels.as<int32_t>());
  if (labels.shape().rank() == 1 && labels.dtype() == DType::Int64) return of_each(labels.as<int64_t>());
  return invalid_argument(key + ": label is " + labels.signature() +
                          "; expected one integer for each sample, its class");
}

}  // namespace troupe::data
