#include "apps/nn/gradient_combination.h"

#include "graph/build/functions.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

Output number_of_shards(const Scope& scope, const ShardGradients& of) {
  return gather(scope, shape(scope, of.gradients), 0);
}

Output in_dtype(const Scope& scope, Output x, DType dtype) {
  return scope.dtype(x) == dtype ? x : cast(scope, x, dtype);
}

}  // namespace

Output mean_gradient(const Scope& scope, const ShardGradients& of) {
  return div(scope, sum(scope, mul(scope, of.gradients, of.samples), 0), sum(scope, of.samples));
}

Output sorted_gradients(const Scope& scope, const ShardGradients& of) {
  const Output by_element = scope.constant(Tensor::vector<int32_t>({1, 0}));
  const Output falling =
      top_k(scope, transpose(scope, neg(scope, of.gradients), by_element), number_of_shards(scope, of));
  return neg(scope, transpose(scope, falling, by_element));
}

Output median_gradient(const Scope& scope, const ShardGradients& of) {
  const Output sorted = sorted_gradients(scope, of), shards = number_of_shards(scope, of);
  const Output middle =
      stack(scope, {floor_div(scope, sub(scope, shards, 1), 2), floor_div(scope, shards, 2)});
  return mean(scope, gather(scope, sorted, middle), 0);
}

Output combined_gradient(const Scope& scope, const std::vector<Output>& gradients,
                         const std::vector<Output>& samples, const Combination& combination) {
  std::vector<Output> rows;
  for (const Output& gradient : gradients) rows.push_back(reshape(scope, gradient, {-1}));
  const Output numbers = in_dtype(scope, stack(scope, samples), scope.dtype(gradients.front()));
  const Output counting = squeeze(scope, scope.add_one("Where", {greater(scope, numbers, 0.0)}), {1});
  const Output combined = combination(scope, {gather(scope, stack(scope, rows), counting),
                                              expand_dims(scope, gather(scope, numbers, counting), 1)});
  return reshape(scope, combined, shape(scope, gradients.front()));
}

std::string combining_function(const Scope& scope, DType dtype, const Combination& combination) {
  const FunctionSignature signature{"combine_" + std::string(name(dtype)), {dtype, dtype}, {dtype}};
  if (!scope.graph().find_function(signature.name))
    define_function(scope.graph(), signature, [&](const Scope& inside, const std::vector<Output>& arguments) {
      return std::vector{combination(inside, {arguments[0], arguments[1]})};
    });
  return signature.name;
}

}  // namespace troupe::nn
