#include "kernels/ops/sparse/sets.h"

#include "graph/build/signature.h"

namespace troupe {

Status check_set_rank(size_t rank, std::string_view name) {
  if (rank >= 2) return {};
  return invalid_argument(std::string(name) + " has the shape of a tensor of rank " + std::to_string(rank) +
                          ", which holds no sets: the rank must be 2 or more");
}

Result<Sets> dense_sets(const KernelContext& context, size_t input) {
  const Tensor& values = context.input(input);
  TROUPE_RETURN_IF_FAILED(check_set_rank(values.shape().rank(), argument_name(context.node(), input)));
  return Sets{values, std::nullopt, Dims(values.shape().dims())};
}

Result<Sets> sparse_sets(const KernelContext& context, size_t first) {
  TROUPE_ASSIGN(SparseTensor sparse, read_sparse(context, SparseInputs::from(first)));
  TROUPE_RETURN_IF_FAILED(check_set_rank(sparse.rank(), argument_name(context.node(), first + 2)));
  Dims dims = sparse.dims;
  return Sets{context.input(first + 1), std::move(sparse), std::move(dims)};
}

Status number_values(Sets& sets, DeviceContext& device) {
  if (!sets.sparse) return {};
  TROUPE_ASSIGN(sets.numbers, ascending_numbers_of(device, *sets.sparse));
  const auto numbers = sets.numbers.as<int64_t>();
  const auto found = std::ranges::adjacent_find(numbers);
  if (found == numbers.end()) return {};
  return invalid_argument(argument_name(sets.sparse->node, sets.sparse->indices_input) + '[' +
                          std::to_string(found - numbers.begin() + 1) +
                          "] is equal to the position before it");
}

}  // namespace troupe
