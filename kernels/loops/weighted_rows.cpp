#include "kernels/loops/weighted_rows.h"

#include <algorithm>
#include <type_traits>
#include <unordered_map>

#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/weighted_mean.h"

namespace troupe {
namespace {

using RowTypes = TypeList<float, double, Half, BFloat16>;

Status refuse(size_t shard, const TensorRows& rows, const std::string& what) {
  return invalid_argument("the gradient of shard " + std::to_string(shard) + " has values " +
                          rows.values.signature() + " and indices " + rows.indices.signature() + "; " + what);
}

/// Fails unless the shard has rows like those of shard 0, with one index for each.
Status check_rows(size_t shard, const TensorRows& rows, const TensorRows& first) {
  const Shape &values = rows.values.shape(), &indices = rows.indices.shape();
  if (values.rank() == 0 || indices.rank() != 1 || values[0] != indices[0])
    return refuse(shard, rows, "there must be one index for each row");
  const DType dtype = rows.indices.dtype();
  if (dtype != DType::Int32 && dtype != DType::Int64)
    return refuse(shard, rows, "an index is an int32 or int64");
  if (rows.values.dtype() == first.values.dtype() && dtype == first.indices.dtype() &&
      std::ranges::equal(values.dims().subspan(1), first.values.shape().dims().subspan(1)))
    return {};
  return refuse(shard, rows,
                "those of shard 0 are values " + first.values.signature() + " and indices " +
                    first.indices.signature());
}

/// The distinct indices of all shards in the order in which they occur first, and the place of each row among them.
struct Distinct {
  std::vector<int64_t> indices;
  std::vector<size_t> places;
};

Distinct distinct_indices(std::span<const TensorRows> shards) {
  Distinct result;
  std::unordered_map<int64_t, size_t> known;
  for (const TensorRows& shard : shards)
    for (const int64_t index : integers(shard.indices)) {
      const auto [at, is_new] = known.emplace(index, result.indices.size());
      if (is_new) result.indices.push_back(index);
      result.places.push_back(at->second);
    }
  return result;
}

Result<Tensor> index_tensor(const std::vector<int64_t>& indices, DType dtype, Allocator& memory) {
  TROUPE_ASSIGN(Tensor tensor, Tensor::allocate(dtype, Shape{static_cast<int64_t>(indices.size())}, memory));
  with_type(TypeList<int32_t, int64_t>{}, dtype, [&]<class T>(std::type_identity<T>) {
    std::ranges::transform(indices, tensor.write<T>().begin(),
                           [](int64_t index) { return static_cast<T>(index); });
  });
  return tensor;
}

template <class T>
using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// Adds columns `begin` to `end` of all rows to `sums`, which has rows of `row` elements.
template <class T>
void add_columns(std::span<const TensorRows> shards, std::span<const int64_t> weights,
                 std::span<const size_t> places, size_t row, size_t begin, size_t end, Sum<T>* sums) {
  const size_t* place = places.data();
  for (size_t k = 0; k < shards.size(); ++k) {
    const auto weight = static_cast<Sum<T>>(shards.size() == 1 ? 1 : weights[k]);
    const auto values = shards[k].values.as<T>();
    const auto rows = static_cast<size_t>(shards[k].values.shape()[0]);
    for (size_t i = 0; i < rows; ++i, ++place) {
      Sum<T>* const to = sums + *place * row;
      for (size_t j = begin; j < end; ++j) {
        const Sum<T> term = static_cast<Sum<T>>(values[i * row + j]) * weight;
        to[j] += term;
      }
    }
  }
}

template <class T>
void fill_mean(std::span<const TensorRows> shards, std::span<const int64_t> weights, RowsMean& mean,
               Pool& pool) {
  const std::span<T> out = mean.rows.values.write<T>();
  const size_t rows = static_cast<size_t>(mean.rows.values.shape()[0]);
  const size_t row = rows == 0 ? 0 : out.size() / rows;
  const auto total = static_cast<Sum<T>>(*sum_of_weights(weights));
  std::vector<Sum<T>> sums(out.size());
  // One thread adds all that belongs to a block of columns, so every sum is in the order of the rows.
  const size_t block =
      std::max<size_t>(block_cost / std::max<size_t>(2 * mean.places.size() * sizeof(T), 1), 64);
  pool.blocks(row, block, [&](size_t begin, size_t end) {
    add_columns<T>(shards, weights, mean.places, row, begin, end, sums.data());
  });
  for (size_t i = 0; i < out.size(); ++i) out[i] = T(shards.size() == 1 ? sums[i] : sums[i] / total);
}

}  // namespace

Result<RowsMean> allocate_rows_mean(std::span<const TensorRows> shards, std::span<const int64_t> weights,
                                    Allocator& memory) {
  const TensorRows& first = shards[0];
  if (!with_type(RowTypes{}, first.values.dtype(), [](auto) {}))
    return refuse(0, first, "a mean needs values of half, bfloat16, float or double");
  for (size_t k = 0; k < shards.size(); ++k) TROUPE_RETURN_IF_FAILED(check_rows(k, shards[k], first));
  TROUPE_RETURN_IF_FAILED(sum_of_weights(weights).status());
  Distinct distinct = distinct_indices(shards);
  RowsMean mean;
  TROUPE_ASSIGN(mean.rows.indices, index_tensor(distinct.indices, first.indices.dtype(), memory));
  std::vector<int64_t> dims(first.values.shape().dims().begin(), first.values.shape().dims().end());
  dims[0] = static_cast<int64_t>(distinct.indices.size());
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, first.values.dtype()));
  TROUPE_ASSIGN(mean.rows.values, Tensor::allocate(first.values.dtype(), shape, memory));
  mean.places = std::move(distinct.places);
  return mean;
}

void weighted_rows(std::span<const TensorRows> shards, std::span<const int64_t> weights, RowsMean& mean,
                   Pool& pool) {
  with_type(RowTypes{}, mean.rows.values.dtype(),
            [&]<class T>(std::type_identity<T>) { fill_mean<T>(shards, weights, mean, pool); });
}

}  // namespace troupe
