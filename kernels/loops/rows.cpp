#include "kernels/loops/rows.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <vector>

#include "graph/ops/partial_shape.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"

namespace troupe {
namespace {

/// Copies rows. For short rows `bytes` is a compile-time constant.
template <class Bytes>
void copy_rows(const std::byte* from, std::span<const int64_t> rows, Bytes bytes, std::byte* to) {
  for (const int64_t row : rows) {
    std::memcpy(to, from + static_cast<size_t>(row) * bytes, bytes);
    to += bytes;
  }
}

void copy_rows(const std::byte* from, std::span<const int64_t> rows, size_t bytes, std::byte* to) {
  switch (bytes) {
    case 1: return copy_rows(from, rows, std::integral_constant<size_t, 1>(), to);
    case 4: return copy_rows(from, rows, std::integral_constant<size_t, 4>(), to);
    case 8: return copy_rows(from, rows, std::integral_constant<size_t, 8>(), to);
    case 16: return copy_rows(from, rows, std::integral_constant<size_t, 16>(), to);
    case 64: return copy_rows(from, rows, std::integral_constant<size_t, 64>(), to);
    default: return copy_rows<size_t>(from, rows, bytes, to);
  }
}

constexpr size_t max_parts = 256;

/// Positions in a list of rows, divided by row into parts; each part keeps the order. Short rows that are close together belong
/// to one part, so that parts do not share cache lines.
class DealtRows {
 public:
  DealtRows(std::span<const int64_t> rows, size_t parts, size_t cost)
      : ends_(parts), positions_(rows.size()) {
    const uint64_t together = 1 + 64 / std::max<size_t>(cost, 1);
    const auto part_of = [&](int64_t row) {
      const uint64_t hash = static_cast<uint64_t>(row) / together * 0x9E3779B97F4A7C15u;
      return (hash >> 32) * parts >> 32;
    };
    for (const int64_t row : rows) ++ends_[part_of(row)];
    std::exclusive_scan(ends_.begin(), ends_.end(), ends_.begin(), size_t{0});
    for (size_t i = 0; i < rows.size(); ++i) positions_[ends_[part_of(rows[i])]++] = i;
  }
  std::span<const size_t> of(size_t part) const {
    const size_t begin = part == 0 ? 0 : ends_[part - 1];
    return std::span(positions_).subspan(begin, ends_[part] - begin);
  }

 private:
  std::vector<size_t> ends_, positions_;
};

}  // namespace

size_t count_of(std::span<const int64_t> dims) {
  size_t count = 1;
  for (const int64_t dim : dims) count *= static_cast<size_t>(dim);
  return count;
}

void take_rows(Pool& pool, const Tensor& from, std::span<const int64_t> rows, Tensor& to, size_t row) {
  take_rows(pool, from, rows, to, Slices{.row = row});
}

void take_rows(Pool& pool, const Tensor& from, std::span<const int64_t> numbers, Tensor& to,
               const Slices& slices) {
  const size_t bytes = slices.row * size_of(from.dtype());
  if (bytes == 0 || numbers.empty() || slices.blocks == 0) return;
  const size_t taken = numbers.size() / slices.lists, blocks_of_list = slices.blocks / slices.lists;
  // Takes rows `begin` to `end` of one block.
  const auto take = [&](size_t block, size_t begin, size_t end) {
    const auto list = numbers.subspan(block / blocks_of_list * taken, taken);
    const size_t first = block * slices.rows, to_first = block * taken;
    if (from.dtype() != DType::String)
      return copy_rows(from.data() + first * bytes, list.subspan(begin, end - begin), bytes,
                       to.mutable_data() + (to_first + begin) * bytes);
    for (size_t i = begin; i < end; ++i)
      copy_row(from, first + static_cast<size_t>(list[i]), to, to_first + i, slices.row);
  };
  if (slices.blocks > taken)
    return parallel_rows(pool, slices.blocks, 2 * bytes * taken, [&](size_t begin, size_t end) {
      for (size_t block = begin; block < end; ++block) take(block, 0, taken);
    });
  for (size_t block = 0; block < slices.blocks; ++block)
    parallel_rows(pool, taken, 2 * bytes, [&](size_t begin, size_t end) { take(block, begin, end); });
}

void copy_row(const Tensor& from, size_t from_row, Tensor& to, size_t to_row, size_t row) {
  if (from.dtype() == DType::String) {
    std::ranges::copy(from.as<std::string>().subspan(from_row * row, row),
                      to.write<std::string>().begin() + static_cast<int64_t>(to_row * row));
    return;
  }
  const size_t bytes = row * size_of(from.dtype());
  if (bytes != 0) std::memcpy(to.mutable_data() + to_row * bytes, from.data() + from_row * bytes, bytes);
}

void change_rows(Pool& pool, std::span<const int64_t> rows, size_t cost, FunctionRef<void(size_t)> change) {
  const size_t parts = std::min(rows.size() * cost / block_cost, max_parts);
  if (parts < 2) {
    for (size_t i = 0; i < rows.size(); ++i) change(i);
    return;
  }
  const DealtRows dealt(rows, parts, cost);
  pool.chunks(parts, [&](size_t part) {
    for (const size_t i : dealt.of(part)) change(i);
  });
}

Result<Dims> row_dims(std::span<const int64_t> data, std::span<const int64_t> numbers,
                      std::string_view data_name, std::string_view numbers_name) {
  bool fits = data.size() >= numbers.size();
  for (size_t i = 0; fits && i < numbers.size(); ++i)
    fits = data[i] == numbers[i] || data[i] == unknown_dim || numbers[i] == unknown_dim;
  if (fits) return Dims(data.subspan(numbers.size()));
  return invalid_argument(std::string(numbers_name) + " has shape " + partial(numbers).text() + " and " +
                          std::string(data_name) + " has shape " + partial(data).text() + "; the shape of " +
                          std::string(data_name) + " must begin with the shape of " +
                          std::string(numbers_name));
}

Status check_rows_at(const Tensor& indices, std::span<const int64_t> dims) {
  TROUPE_RETURN_IF_FAILED(shape_of_rows_at(indices.shape(), partial(dims)).status());
  const auto depth = static_cast<size_t>(indices.shape().dims().back());
  if (depth == 0) return {};
  const auto within = dims.first(depth);
  const Dims values = integers(indices);
  TROUPE_ASSIGN(const Shape lists,
                Shape::make(indices.shape().dims().first(indices.shape().rank() - 1), indices.dtype()));
  for (size_t i = 0; i < static_cast<size_t>(lists.elements()); ++i) {
    const std::span position(values.begin() + i * depth, depth);
    for (size_t d = 0; d < depth; ++d)
      if (position[d] < 0 || position[d] >= within[d])
        return invalid_argument(element_name("indices", lists, static_cast<int64_t>(i)) + " = " +
                                text_of(position) + " is outside the dimensions " + text_of(within));
  }
  return {};
}

Result<RowNumbers> rows_at(const Tensor& indices, std::span<const int64_t> dims) {
  TROUPE_RETURN_IF_FAILED(check_rows_at(indices, dims));
  const auto depth = static_cast<size_t>(indices.shape().dims().back());
  const Dims values = integers(indices);
  const size_t row = count_of(dims.subspan(depth));
  // Of rows without elements a shape may have any number.
  const size_t lists = row == 0 ? 0 : count_of(indices.shape().dims().first(indices.shape().rank() - 1));
  RowNumbers rows{Dims(lists), row};
  for (size_t i = 0; i < lists; ++i)
    for (size_t d = 0; d < depth; ++d) rows.numbers[i] = rows.numbers[i] * dims[d] + values[i * depth + d];
  return rows;
}

Result<PartialShape> shape_of_rows_at(const PartialShape& indices, const PartialShape& tensor) {
  if (!indices.known_rank()) return PartialShape{};
  if (indices.rank() == 0)
    return invalid_argument("indices is a scalar; it must have at least one dimension");
  const int64_t depth = indices.dims().back();
  if (!tensor.known_rank() || depth == unknown_dim) return PartialShape{};
  if (depth > static_cast<int64_t>(tensor.rank()))
    return invalid_argument("indices has shape " + indices.text() + " and the tensor has shape " +
                            tensor.text() +
                            "; the last dimension of indices must not exceed the rank of the tensor");
  Dims dims(indices.dims().first(indices.rank() - 1));
  dims.append(tensor.dims().subspan(static_cast<size_t>(depth)));
  return partial(dims);
}

Status check_updates(const Tensor& indices, const Tensor& updates, std::span<const int64_t> dims) {
  TROUPE_ASSIGN(const PartialShape expected, shape_of_rows_at(indices.shape(), partial(dims)));
  if (expected.compatible_with(updates.shape())) return {};
  return invalid_argument("updates has shape " + updates.shape().text() + ", but indices of shape " +
                          indices.shape().text() + " and a tensor of shape " + partial(dims).text() +
                          " require shape " + expected.text());
}

}  // namespace troupe
