#include "kernels/ops/ragged/splits.h"

#include "kernels/core/arguments.h"
#include "kernels/ops/sparse/sparse_tensor.h"

namespace troupe {
namespace {

Status check_values(const PartialShape& values) {
  if (!values.has_rank(0)) return {};
  return invalid_argument("the values are a scalar; they must have at least one dimension");
}

}  // namespace

Status check_ascending_splits(std::span<const int64_t> splits, int64_t limit, std::string_view name) {
  const std::string argument(name);
  if (splits.empty()) return invalid_argument(argument + " is empty; it must have at least one element");
  if (splits.front() < 0 || splits.back() > limit)
    return invalid_argument(argument + " begins with " + std::to_string(splits.front()) + " and ends with " +
                            std::to_string(splits.back()) + ", beyond [0, " + std::to_string(limit) + "]");
  for (size_t i = 1; i < splits.size(); ++i)
    if (splits[i] < splits[i - 1])
      return invalid_argument(argument + '[' + std::to_string(i) + "] = " + std::to_string(splits[i]) +
                              " is less than " + std::to_string(splits[i - 1]) + ", the one before");
  return {};
}

Status check_splits(std::span<const int64_t> splits, int64_t values, std::string_view name) {
  if (!splits.empty() && (splits.front() != 0 || splits.back() != values))
    return invalid_argument(std::string(name) + " begins with " + std::to_string(splits.front()) +
                            " and ends with " + std::to_string(splits.back()) +
                            ", expected 0 and the number of values, " + std::to_string(values));
  return check_ascending_splits(splits, values, name);
}

NestedSplits nested_splits(std::span<const Slot> inputs) {
  NestedSplits result;
  for (const Slot& input : inputs) {
    const Dims splits = integers(input.tensor);
    result.emplace_back(splits.begin(), splits.end());
  }
  return result;
}

Status check_ragged_shapes(const ShapeContext& context, size_t count) {
  for (size_t i = 0; i < count; ++i) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 1).status());
  return check_values(context.input(count));
}

Status check_ragged(const KernelContext& context, size_t count) {
  for (size_t i = 0; i < count; ++i) TROUPE_RETURN_IF_FAILED(check_rank(context, i, 1));
  return check_values(context.input(count).shape());
}

Status check_fits(int64_t values, DType splits) {
  if (splits == DType::Int64 || values <= INT32_MAX) return {};
  return invalid_argument("there are " + std::to_string(values) +
                          " values, which splits of int32 cannot count");
}

void write_integers(std::span<const int64_t> values, Tensor& output) {
  with_type(SplitTypes{}, output.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto to = output.write<T>();
    for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<T>(values[i]);
  });
}

}  // namespace troupe
