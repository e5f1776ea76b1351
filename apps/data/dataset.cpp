#include "apps/data/dataset.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <numeric>

namespace troupe::data {
namespace {

/// The random number generator SplitMix64 (Steele, Lea, Flood 2014).
class SplitMix {
 public:
  explicit SplitMix(uint64_t state) : state_(state) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Returns a number below n; all numbers are equally likely.
  uint64_t below(uint64_t n) {
    while (true) {
      const uint64_t drawn = next(), value = drawn % n;
      if (drawn - value <= UINT64_MAX - (n - 1)) return value;
    }
  }

 private:
  uint64_t state_;
};

/// The stream of permutation() for the order of an epoch.
constexpr uint64_t order_stream = 1;

}  // namespace

Dataset::Dataset(std::vector<Column> columns) : columns_(std::move(columns)) {
  if (!columns_.empty()) samples_ = columns_.front().values.shape()[0];
  for ([[maybe_unused]] const auto& column : columns_) assert(column.values.shape()[0] == samples_);
}

const Tensor* Dataset::find(std::string_view name) const {
  for (const auto& column : columns_)
    if (column.name == name) return &column.values;
  return nullptr;
}

Result<Dataset> Dataset::select(std::span<const int64_t> rows) const {
  std::vector<Column> selected;
  for (const auto& [name, values] : columns_) {
    std::vector<int64_t> dims(values.shape().dims().begin(), values.shape().dims().end());
    const size_t row_bytes = samples_ ? values.bytes() / static_cast<size_t>(samples_) : 0;
    dims[0] = static_cast<int64_t>(rows.size());
    TROUPE_ASSIGN(const Shape shape, Shape::make(dims, values.dtype()));
    TROUPE_ASSIGN(Tensor out, Tensor::allocate(values.dtype(), shape));
    std::byte* to = out.mutable_data();
    for (const int64_t row : rows) {
      assert(row >= 0 && row < samples_);
      std::memcpy(to, values.data() + static_cast<size_t>(row) * row_bytes, row_bytes);
      to += row_bytes;
    }
    selected.push_back({name, std::move(out)});
  }
  return Dataset(std::move(selected));
}

Dataset Dataset::slice(int64_t begin, int64_t end) const {
  std::vector<Column> part;
  for (const auto& [name, values] : columns_) part.push_back({name, values.rows(begin, end)});
  return Dataset(std::move(part));
}

std::vector<int64_t> permutation(int64_t n, uint64_t seed, uint64_t stream, uint64_t index) {
  SplitMix random(SplitMix(SplitMix(seed).next() ^ stream).next() ^ index);
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  for (size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random.below(left)]);
  return order;
}

Batches::Batches(Dataset data, int64_t batch, uint64_t seed, bool shuffle)
    : data_(std::move(data)), batch_(batch), seed_(seed), shuffle_(shuffle) {
  assert(data_.samples() > 0 && batch > 0);
}

Result<Dataset> Batches::at(uint64_t step) {
  const uint64_t epoch = epoch_of(step);
  const int64_t begin = static_cast<int64_t>(step % static_cast<uint64_t>(per_epoch())) * batch_;
  const int64_t end = std::min(begin + batch_, data_.samples());
  if (!shuffle_) return data_.slice(begin, end);
  if (order_epoch_ != epoch) {
    order_ = permutation(data_.samples(), seed_, order_stream, epoch);
    order_epoch_ = epoch;
  }
  return data_.select(
      std::span(order_).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
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

}  // namespace troupe::data
