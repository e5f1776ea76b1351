#include "kernels/ops/sparse/sparse_tensor.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <numeric>
#include <type_traits>

#include "graph/build/signature.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/rows.h"
#include "kernels/loops/scratch.h"
#include "kernels/loops/strided_copy.h"

namespace troupe {
namespace {

std::string shape_text(const Node& node, size_t input, const PartialShape& shape) {
  return argument_name(node, input) + " of shape " + shape.text();
}

Status no_sparse_tensor(const Node& node, const SparseInputs& at, const PartialShape& indices,
                        const PartialShape& values, const PartialShape& shape) {
  return invalid_argument(shape_text(node, at.indices, indices) + ", " + shape_text(node, at.values, values) +
                          " and " + shape_text(node, at.shape, shape) +
                          " are no sparse tensor: they must have shapes [n,rank], [n] and [rank]");
}

std::string row_text(const Positions& positions, size_t row) {
  const Dims all = integers(positions.indices);
  return text_of({all.begin() + row * positions.rank(), positions.rank()});
}

/// Returns "indices[3] = [0,7]".
std::string row_name(const Positions& positions, size_t row) {
  return argument_name(positions.node, positions.indices_input) + '[' + std::to_string(row) +
         "] = " + row_text(positions, row);
}

Status outside(const Positions& positions, size_t row) {
  return invalid_argument(row_name(positions, row) + " is outside " +
                          argument_name(positions.node, positions.shape_input) + ' ' +
                          text_of(positions.dims));
}

/// Writes the offsets of rows [begin, end). Returns the first row that is outside the dense shape, or `end`.
template <class Rank, class Index>
size_t write_offsets(const Positions& positions, Rank rank, const Index* indices,
                     std::span<const int64_t> strides, int64_t* offsets, size_t begin, size_t end) {
  const int64_t* const dims = positions.dims.data();
  for (size_t row = begin; row < end; ++row) {
    uint64_t offset = 0;
    bool inside = true;
    for (size_t d = 0; d < rank; ++d) {
      const auto index = static_cast<uint64_t>(int64_t{indices[row * rank + d]});
      inside &= index < static_cast<uint64_t>(dims[d]);
      offset += index * static_cast<uint64_t>(strides[d]);
    }
    if (!inside) return row;
    offsets[row] = static_cast<int64_t>(offset);
  }
  return end;
}

template <class Index>
size_t write_offsets(const Positions& positions, std::span<const int64_t> strides, int64_t* offsets,
                     size_t begin, size_t end) {
  const Index* const indices = positions.indices.as<Index>().data();
  if (positions.rank() == 2)
    return write_offsets(positions, std::integral_constant<size_t, 2>(), indices, strides, offsets, begin,
                         end);
  return write_offsets(positions, positions.rank(), indices, strides, offsets, begin, end);
}

}  // namespace

Result<PartialShape> sparse_shape(const ShapeContext& context, const SparseInputs& at) {
  const PartialShape &indices = context.input(at.indices), &values = context.input(at.values),
                     &shape = context.input(at.shape);
  const bool ranks_fit = indices.compatible_with(PartialShape::of_rank(2)) &&
                         values.compatible_with(PartialShape::of_rank(1)) &&
                         shape.compatible_with(PartialShape::of_rank(1));
  if (!ranks_fit) return no_sparse_tensor(context.node(), at, indices, values, shape);
  const PartialShape others{values.known_rank() ? values[0] : unknown_dim,
                            shape.known_rank() ? shape[0] : unknown_dim};
  auto merged = merge(indices, others);
  if (!merged) return no_sparse_tensor(context.node(), at, indices, values, shape);
  return merged;
}

Result<Positions> read_positions(const KernelContext& context, size_t indices, size_t shape) {
  const Shape &of_indices = context.input(indices).shape(), &of_shape = context.input(shape).shape();
  if (of_indices.rank() != 2 || of_shape.rank() != 1 || of_indices[1] != of_shape[0])
    return invalid_argument(shape_text(context.node(), indices, of_indices) + " and " +
                            shape_text(context.node(), shape, of_shape) +
                            " do not fit: they must have shapes [n,rank] and [rank]");
  Positions positions{context.input(indices), integers(context.input(shape)), context.node(), indices, shape};
  TROUPE_RETURN_IF_FAILED(check_dense_shape(positions.dims, argument_name(context.node(), shape)));
  return positions;
}

Result<SparseTensor> read_sparse(const KernelContext& context, const SparseInputs& at) {
  const Shape &indices = context.input(at.indices).shape(), &values = context.input(at.values).shape(),
              &shape = context.input(at.shape).shape();
  if (indices.rank() != 2 || values.rank() != 1 || shape.rank() != 1 || indices[0] != values[0] ||
      indices[1] != shape[0])
    return no_sparse_tensor(context.node(), at, indices, values, shape);
  TROUPE_ASSIGN(Positions positions, read_positions(context, at.indices, at.shape));
  return SparseTensor{std::move(positions), context.input(at.values)};
}

Status check_rank(const KernelContext& context, size_t i, size_t rank) {
  const Shape& shape = context.input(i).shape();
  if (shape.rank() == rank) return {};
  return invalid_argument(shape_text(context.node(), i, shape) + " has rank " + std::to_string(shape.rank()) +
                          ", expected " + std::to_string(rank));
}

Status check_dense_shape(std::span<const int64_t> dims, std::string_view name) {
  int64_t product = 1;
  for (const int64_t dim : dims) {
    if (dim < 0)
      return invalid_argument(std::string(name) + " = " + text_of(dims) + " has a negative element");
    if (__builtin_mul_overflow(product, std::max<int64_t>(dim, 1), &product))
      return invalid_argument(std::string(name) + " = " + text_of(dims) +
                              " has too many elements: their number does not fit an int64");
  }
  return {};
}

Result<Tensor> offsets_of(DeviceContext& device, const Positions& positions,
                          std::span<const int64_t> strides) {
  const size_t count = positions.count();
  TROUPE_ASSIGN(Tensor offsets, scratch_vector<int64_t>(device, static_cast<int64_t>(count)));
  int64_t* const to = offsets.write<int64_t>().data();
  const auto write =
      positions.indices.dtype() == DType::Int64 ? write_offsets<int64_t> : write_offsets<int32_t>;
  std::atomic<size_t> first_outside = count;
  parallel_items(device.pool(), count, 8 * (positions.rank() + 1), [&](size_t begin, size_t end) {
    const size_t row = write(positions, strides, to, begin, end);
    if (row == end) return;
    for (size_t first = first_outside; row < first && !first_outside.compare_exchange_weak(first, row);) {
    }
  });
  if (first_outside < count) return outside(positions, first_outside);
  return offsets;
}

Result<Tensor> numbers_of(DeviceContext& device, const Positions& positions) {
  return offsets_of(device, positions, strides_of(positions.dims));
}

Result<Tensor> ascending_numbers_of(DeviceContext& device, const Positions& positions) {
  TROUPE_ASSIGN(Tensor numbers, numbers_of(device, positions));
  TROUPE_RETURN_IF_FAILED(check_ascending(positions, numbers.as<int64_t>()));
  return numbers;
}

Status check_ascending(const Positions& positions, std::span<const int64_t> numbers) {
  const auto found = std::ranges::is_sorted_until(numbers);
  if (found == numbers.end()) return {};
  const auto row = static_cast<size_t>(found - numbers.begin());
  return invalid_argument(row_name(positions, row) + " comes after " + row_text(positions, row - 1) +
                          "; positions must be in row-major order");
}

Result<std::optional<Tensor>> ascending_order(DeviceContext& device, std::span<const int64_t> numbers) {
  if (std::ranges::is_sorted(numbers)) return std::optional<Tensor>();
  // Sorts by digits of `bits` bits, from the lowest on (Knuth, volume 3, section 5.2.5).
  constexpr int bits = 11;
  constexpr size_t digits = size_t{1} << bits;
  const auto count = static_cast<int64_t>(numbers.size());
  TROUPE_ASSIGN(Tensor order, scratch_vector<int64_t>(device, count));
  TROUPE_ASSIGN(Tensor other, scratch_vector<int64_t>(device, count));
  std::iota(order.write<int64_t>().begin(), order.write<int64_t>().end(), 0);
  const auto greatest = static_cast<uint64_t>(*std::ranges::max_element(numbers));
  for (int shift = 0; shift < static_cast<int>(std::bit_width(greatest)); shift += bits) {
    const auto digit = [&](int64_t i) {
      return static_cast<uint64_t>(numbers[static_cast<size_t>(i)]) >> shift & (digits - 1);
    };
    std::array<size_t, digits> ends{};
    for (const int64_t i : order.as<int64_t>()) ++ends[digit(i)];
    std::exclusive_scan(ends.begin(), ends.end(), ends.begin(), size_t{0});
    int64_t* const to = other.write<int64_t>().data();
    for (const int64_t i : order.as<int64_t>()) to[ends[digit(i)]++] = i;
    std::swap(order, other);
  }
  return std::optional<Tensor>(std::move(order));
}

void take_entries(Pool& pool, const Tensor& indices, const Tensor& values, std::span<const int64_t> entries,
                  Tensor& out_indices, Tensor& out_values, std::span<const int64_t> start) {
  const auto rank = static_cast<size_t>(indices.shape()[1]);
  take_rows(pool, values, entries, out_values, 1);
  take_rows(pool, indices, entries, out_indices, rank);
  if (start.empty()) return;
  int64_t* const to = out_indices.write<int64_t>().data();
  parallel_items(pool, entries.size(), 16 * rank, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      for (size_t d = 0; d < rank; ++d) to[i * rank + d] -= start[d];
  });
}

void copy_elements(Pool& pool, const Tensor& from, Tensor& to, int64_t first) {
  strided_copy(pool, Dims{from.elements()}, from, {0, Dims{1}}, to, {first, Dims{1}});
}

Status set_shape_output(KernelContext& context, size_t i, std::span<const int64_t> dims) {
  TROUPE_ASSIGN(Tensor* const shape, vector_output(context, i, static_cast<int64_t>(dims.size())));
  std::ranges::copy(dims, shape->write<int64_t>().begin());
  return {};
}

Result<Tensor*> indices_output(KernelContext& context, size_t i, int64_t count, size_t rank) {
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{count, static_cast<int64_t>(rank)}, DType::Int64));
  return context.output(i, shape);
}

Result<Tensor*> vector_output(KernelContext& context, size_t i, int64_t count) {
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{count}, context.node().output_types[i].dtype));
  return context.output(i, shape);
}

}  // namespace troupe
