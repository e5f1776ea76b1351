#include "actors/services/batch/batch_rows.h"

#include <algorithm>

#include "kernels/core/dims.h"

namespace troupe {
namespace {

bool alike(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape().rank() == b.shape().rank() &&
         std::ranges::equal(a.shape().dims().subspan(1), b.shape().dims().subspan(1));
}

Status check_alike(const std::vector<Tensor>& first, const std::vector<Tensor>& other) {
  if (first.size() != other.size())
    return invalid_argument("tuples of " + std::to_string(first.size()) + " and " +
                            std::to_string(other.size()) + " tensors cannot be in one batch");
  for (size_t i = 0; i < first.size(); ++i)
    if (!alike(first[i], other[i]))
      return invalid_argument("tensors " + first[i].signature() + " and " + other[i].signature() +
                              " cannot be in one batch: they may only differ in their first dimension");
  return {};
}

}  // namespace

Result<ElementQueue> batched_rows(std::span<const std::vector<Tensor>> tuples) {
  ElementQueue rows;
  for (const std::vector<Tensor>& tuple : tuples) {
    TROUPE_RETURN_IF_FAILED(check_alike(tuples[0], tuple));
    const int64_t count = tuple[0].shape()[0];
    if (count != 0) rows.push_back({std::make_shared<std::vector<Tensor>>(tuple), 0, count});
  }
  return rows;
}

Result<std::vector<Tensor>> without_rows(std::span<const Tensor> tensors) {
  std::vector<Tensor> empty;
  for (const Tensor& tensor : tensors) {
    Dims dims(tensor.shape().dims());
    dims[0] = 0;
    TROUPE_ASSIGN(const Shape shape, Shape::make(dims, tensor.dtype()));
    TROUPE_ASSIGN(Tensor none, Tensor::allocate(tensor.dtype(), shape));
    empty.push_back(std::move(none));
  }
  return empty;
}

Result<std::vector<BatchPart>> parts_of(const Tensor& index) {
  constexpr int64_t columns = 3;
  if (index.dtype() != DType::Int64 || index.shape().rank() != 2 || index.shape()[1] != columns)
    return invalid_argument("batch_index is " + index.signature() + ", but must be int64[n,3]");
  std::vector<BatchPart> parts;
  const auto values = index.as<int64_t>();
  for (size_t at = 0; at < values.size(); at += columns) {
    const int64_t begin = values[at + 1], end = values[at + 2];
    if (begin < 0 || end < begin)
      return invalid_argument("batch_index has a part from row " + std::to_string(begin) + " to row " +
                              std::to_string(end));
    parts.push_back({values[at], end - begin});
  }
  return parts;
}

Result<int64_t> id_of(const Tensor& id) {
  if (id.dtype() == DType::Int64 && id.elements() == 1) return id.as<int64_t>()[0];
  return invalid_argument("id is " + id.signature() + ", but must be int64[]");
}

}  // namespace troupe
