#include "apps/nn/ragged/splits.h"
#include "graph/build/call.h"

namespace troupe::nn::ragged {
namespace {

/// Returns 0, or the empty string.
Output nothing(const Scope& scope, DType dtype) {
  return scope.constant(dtype == DType::String ? Tensor::scalar(std::string())
                                               : value_or_throw(to_tensor(Argument(0), dtype)));
}

/// Pads values whose rows, outermost first, have these splits.
Output padded(const Scope& scope, const std::vector<Output>& splits, Output values,
              std::optional<Output> otherwise) {
  std::vector<Output> inputs = {scope.constant(Tensor::scalar<int64_t>(-1)), values,
                                otherwise ? *otherwise : nothing(scope, scope.dtype(values))};
  inputs.insert(inputs.end(), splits.begin(), splits.end());
  return scope.add_one("RaggedTensorToTensor", std::move(inputs),
                       {{"num_row_partition_tensors", static_cast<int64_t>(splits.size())},
                        {"row_partition_types", std::vector<std::string>(splits.size(), "ROW_SPLITS")}});
}

}  // namespace

Output to_dense(const Scope& scope, const Ragged& x, std::optional<Output> otherwise) {
  return padded(scope, {x.row_splits}, x.values, otherwise);
}

Output to_dense(const Scope& scope, const NestedRagged& x, std::optional<Output> otherwise) {
  return padded(scope, {x.row_splits, x.rows.row_splits}, x.rows.values, otherwise);
}

Sparse to_sparse(const Scope& scope, const Ragged& x) {
  const NodeId sparse =
      scope.add("RaggedTensorToSparse", {x.row_splits, x.values}, {{"RAGGED_RANK", int64_t{1}}});
  return {{sparse, 0}, {sparse, 1}, {sparse, 2}};
}

}  // namespace troupe::nn::ragged
