#include "actors/services/replicas/combined_gradients.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/core/type_dispatch.h"
#include "kernels/loops/weighted_mean.h"

namespace troupe {
namespace {

/// Returns the gradients as the rows of a matrix.
Result<Tensor> stacked(const std::vector<Tensor>& gradients, Allocator& memory) {
  const Tensor& first = gradients.front();
  const Shape shape{static_cast<int64_t>(gradients.size()), first.elements()};
  TROUPE_ASSIGN(Tensor matrix, Tensor::allocate(first.dtype(), shape, memory));
  std::byte* to = matrix.mutable_data();
  for (const Tensor& gradient : gradients) {
    if (gradient.bytes() > 0) std::memcpy(to, gradient.data(), gradient.bytes());
    to += gradient.bytes();
  }
  return matrix;
}

/// Returns the numbers as a matrix with one column.
Result<Tensor> column(DType dtype, const std::vector<int64_t>& numbers, Allocator& memory) {
  TROUPE_ASSIGN(Tensor result,
                Tensor::allocate(dtype, Shape{static_cast<int64_t>(numbers.size()), 1}, memory));
  const bool is_float = with_type(AllFloatTypes{}, dtype, [&]<class T>(std::type_identity<T>) {
    using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
    std::ranges::transform(numbers, result.write<T>().begin(),
                           [](int64_t number) { return T(static_cast<Wide>(number)); });
  });
  if (is_float) return result;
  return invalid_argument("the gradients are " + std::string(name(dtype)) +
                          "; to be combined they must be half, bfloat16, float or double");
}

}  // namespace

Result<PureFunction> prepare_combination(const Graph& graph, const std::string& name,
                                         const OpLibrary& library) {
  const Function* const function = graph.find_function(name);
  if (!function || !function->body)
    return not_found("the graph has no function '" + name + "', which the attribute combine names");
  if (function->arguments.size() != 2 || function->results.size() != 1)
    return invalid_argument(
        "function " + name + " has " + std::to_string(function->arguments.size()) + " arguments and " +
        std::to_string(function->results.size()) +
        " results; a function that combines gradients takes the gradients and the numbers of "
        "samples, and returns one tensor");
  return PureFunction::prepare(*function, library);
}

Result<Tensor> combined(const PureFunction& function, std::span<const Tensor> gradients,
                        std::span<const int64_t> samples, DeviceContext& device) {
  TROUPE_RETURN_IF_FAILED(sum_of_weights(samples).status());
  std::vector<Tensor> counting;
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < gradients.size(); ++i)
    if (samples[i] > 0) {
      counting.push_back(gradients[i]);
      numbers.push_back(samples[i]);
    }
  const Tensor& first = counting.front();
  TROUPE_ASSIGN(const Tensor matrix, stacked(counting, device.memory()));
  TROUPE_ASSIGN(const Tensor weights, column(first.dtype(), numbers, device.memory()));
  TROUPE_ASSIGN(const auto results, function.compute(std::vector{matrix, weights}, device));
  const Tensor& result = results.front();
  if (result.dtype() == first.dtype() && result.elements() == first.elements())
    return result.reshaped(first.shape());
  return invalid_argument("function " + function.function().name + " made " + result.signature() +
                          " of gradients " + matrix.signature() + "; it must make " +
                          std::to_string(first.elements()) + " elements of the same dtype");
}

}  // namespace troupe
