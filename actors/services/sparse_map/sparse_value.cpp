#include "actors/services/sparse_map/sparse_value.h"

#include <algorithm>
#include <array>

#include "kernels/ops/sparse/sparse_tensor.h"

namespace troupe {
namespace {

constexpr int64_t max_empty_rows = 1 << 16;

/// Returns the indices of entries [begin, end) without their first column.
Result<Tensor> indices_in_row(const SparseValue& sparse, int64_t begin, int64_t end) {
  const int64_t rank = sparse.indices.shape()[1];
  TROUPE_ASSIGN(Tensor result, Tensor::allocate(DType::Int64, Shape{end - begin, rank - 1}));
  const int64_t* from = sparse.indices.as<int64_t>().data() + begin * rank;
  int64_t* to = result.write<int64_t>().data();
  for (int64_t i = begin; i < end; ++i, from += rank) to = std::copy_n(from + 1, rank - 1, to);
  return result;
}

Result<Tensor> copy_of(const Tensor& tensor, Pool& pool) {
  TROUPE_ASSIGN(Tensor copy, Tensor::allocate(tensor.dtype(), tensor.shape()));
  copy_elements(pool, tensor, copy);
  return copy;
}

/// Fails unless the indices are inside of the shape and in ascending order, each of them once.
Status check_indices(const SparseValue& sparse) {
  const auto indices = sparse.indices.as<int64_t>(), dims = sparse.shape.as<int64_t>();
  const size_t rank = dims.size();
  for (size_t at = 0; at < indices.size(); at += rank) {
    const auto entry = indices.subspan(at, rank);
    for (size_t d = 0; d < rank; ++d)
      if (entry[d] < 0 || entry[d] >= dims[d])
        return invalid_argument("index " + std::to_string(entry[d]) + " of entry " +
                                std::to_string(at / rank) + " in dimension " + std::to_string(d) +
                                " is not in [0, " + std::to_string(dims[d]) + ")");
    if (at != 0 && !std::ranges::lexicographical_compare(indices.subspan(at - rank, rank), entry))
      return invalid_argument("entry " + std::to_string(at / rank) +
                              " does not come after the one before it");
  }
  return {};
}

/// Returns the shape of the stack of tensors.
Result<Tensor> stacked_shape(std::span<const SparseValue> tensors) {
  const auto rank = static_cast<size_t>(tensors[0].shape.elements());
  TROUPE_ASSIGN(Tensor shape, Tensor::allocate(DType::Int64, Shape::vector(static_cast<int64_t>(rank) + 1)));
  const auto dims = shape.write<int64_t>();
  std::ranges::fill(dims, int64_t{0});
  dims[0] = static_cast<int64_t>(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto other = tensors[i].shape.as<int64_t>();
    if (other.size() != rank)
      return invalid_argument("sparse tensor " + std::to_string(i) + " has rank " +
                              std::to_string(other.size()) + ", but sparse tensor 0 has rank " +
                              std::to_string(rank));
    for (size_t d = 0; d < rank; ++d) dims[d + 1] = std::max(dims[d + 1], other[d]);
  }
  return shape;
}

}  // namespace

Status check_sparse(const SparseValue& sparse) {
  const Shape &indices = sparse.indices.shape(), &values = sparse.values.shape(),
              &shape = sparse.shape.shape();
  const bool fits = sparse.indices.dtype() == DType::Int64 && sparse.shape.dtype() == DType::Int64 &&
                    indices.rank() == 2 && values.rank() == 1 && shape.rank() == 1 &&
                    indices[0] == values[0] && indices[1] == shape[0];
  if (!fits)
    return invalid_argument("indices " + sparse.indices.signature() + ", values " +
                            sparse.values.signature() + " and shape " + sparse.shape.signature() +
                            " are no sparse tensor; they must be int64[n,rank], [n] and int64[rank]");
  for (const int64_t dim : sparse.shape.as<int64_t>())
    if (dim < 0) return invalid_argument("the dense shape has the dimension " + std::to_string(dim));
  return {};
}

Result<std::vector<SparseValue>> rows_of(const SparseValue& sparse, Pool& pool) {
  const auto dims = sparse.shape.as<int64_t>();
  if (dims.size() < 2)
    return invalid_argument("the sparse tensor has rank " + std::to_string(dims.size()) +
                            "; it must be at least 2");
  TROUPE_RETURN_IF_FAILED(check_indices(sparse));
  const int64_t entries = sparse.values.elements(), rank = static_cast<int64_t>(dims.size());
  if (dims[0] > entries + max_empty_rows)
    return resource_exhausted("a sparse tensor of " + std::to_string(dims[0]) + " rows has " +
                              std::to_string(entries) + " entries; it may have at most " +
                              std::to_string(max_empty_rows) + " rows more");
  const Tensor shape = Tensor::vector(dims.subspan(1));
  const auto indices = sparse.indices.as<int64_t>();
  std::vector<SparseValue> rows;
  rows.reserve(static_cast<size_t>(dims[0]));
  for (int64_t row = 0, end = 0; row < dims[0]; ++row) {
    const int64_t begin = end;
    while (end < entries && indices[static_cast<size_t>(end * rank)] == row) ++end;
    TROUPE_ASSIGN(Tensor positions, indices_in_row(sparse, begin, end));
    TROUPE_ASSIGN(Tensor values, copy_of(sparse.values.rows(begin, end), pool));
    rows.push_back({std::move(positions), std::move(values), shape});
  }
  return rows;
}

Result<SparseValue> stacked(std::span<const SparseValue> tensors, DType dtype, Pool& pool) {
  if (tensors.empty()) return invalid_argument("there must be at least one handle");
  SparseValue result;
  TROUPE_ASSIGN(result.shape, stacked_shape(tensors));
  int64_t entries = 0;
  for (const SparseValue& tensor : tensors) {
    if (tensor.values.dtype() != dtype)
      return invalid_argument("the map has a sparse tensor of " + std::string(name(tensor.values.dtype())) +
                              ", but the op takes " + std::string(name(dtype)));
    entries += tensor.values.elements();
  }
  const int64_t rank = result.shape.elements();
  TROUPE_ASSIGN(const Shape all_indices, Shape::make(std::array{entries, rank}, DType::Int64));
  TROUPE_ASSIGN(result.indices, Tensor::allocate(DType::Int64, all_indices));
  TROUPE_ASSIGN(result.values, Tensor::allocate(dtype, Shape::vector(entries)));
  int64_t* to = result.indices.write<int64_t>().data();
  int64_t first = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const int64_t* from = tensors[i].indices.as<int64_t>().data();
    for (int64_t entry = 0; entry < tensors[i].values.elements(); ++entry, from += rank - 1) {
      *to++ = static_cast<int64_t>(i);
      to = std::copy_n(from, rank - 1, to);
    }
    copy_elements(pool, tensors[i].values, result.values, first);
    first += tensors[i].values.elements();
  }
  return result;
}

}  // namespace troupe
