#include "kernels/core/arguments.h"

#include <algorithm>
#include <utility>

#include "kernels/core/type_dispatch.h"

namespace troupe {

Dims integers(const Tensor& tensor) {
  Dims values(static_cast<size_t>(tensor.elements()));
  if (tensor.dtype() == DType::Int64) {
    std::ranges::copy(tensor.as<int64_t>(), values.begin());
  } else {
    std::ranges::copy(tensor.as<int32_t>(), values.begin());
  }
  return values;
}

Result<int64_t> integer_scalar(const Tensor& tensor, std::string_view argument) {
  if (tensor.elements() != 1 || tensor.shape().rank() > 1)
    return invalid_argument(std::string(argument) + " of shape " + tensor.shape().text() +
                            " is not a scalar");
  return tensor.dtype() == DType::Int64 ? tensor.as<int64_t>()[0] : int64_t{tensor.as<int32_t>()[0]};
}

Result<Dims> integer_vector(const Tensor& tensor, std::string_view argument) {
  if (tensor.shape().rank() != 1)
    return invalid_argument(std::string(argument) + " of shape " + tensor.shape().text() +
                            " is not a vector");
  return integers(tensor);
}

std::string element_name(std::string_view argument, const Shape& shape, int64_t element) {
  return std::string(argument) + (shape.is_scalar() ? "" : position_text(element, shape));
}

Status check_indices(const Tensor& indices, int64_t limit, std::string_view argument) {
  Status status;
  with_type(IntegerTypes{}, indices.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto values = indices.as<T>();
    const auto outside = [&](T value) {
      return std::cmp_less(value, 0) || std::cmp_greater_equal(value, limit);
    };
    const auto found = std::ranges::find_if(values, outside);
    if (found != values.end())
      status = invalid_argument(element_name(argument, indices.shape(), found - values.begin()) + " = " +
                                std::to_string(*found) + " is not in [0, " + std::to_string(limit) + ")");
  });
  return status;
}

std::optional<int64_t> constant_integer(const ShapeContext& context, size_t i) {
  const auto values = context.constant_integers(i);
  if (!values || values->size() != 1) return std::nullopt;
  return values->front();
}

Result<PartialShape> shape_from_input(const ShapeContext& context, size_t i) {
  TROUPE_ASSIGN(const auto vector, context.with_rank(i, 1));
  if (auto values = context.partial_integers(i)) return PartialShape::make(std::move(*values));
  if (vector[0] == unknown_dim) return PartialShape{};
  if (vector[0] > static_cast<int64_t>(Shape::max_rank))
    return invalid_argument("a shape of rank " + std::to_string(vector[0]) +
                            " is not supported; the maximum rank is 255");
  return PartialShape::of_rank(static_cast<size_t>(vector[0]));
}

PartialShape partial(std::span<const int64_t> dims) {
  std::vector<int64_t> values(dims.begin(), dims.end());
  return PartialShape(std::move(values));
}

Output shape_of(const Scope& scope, Output x, DType dtype) {
  const PartialShape& shape = scope.shape(x);
  const auto fits = [&](int64_t dim) { return dtype == DType::Int64 || dim <= INT32_MAX; };
  if (shape.fully_known() && std::ranges::all_of(shape.dims(), fits))
    return integer_constants(scope, shape.dims(), dtype);
  return scope.add_one("Shape", {x}, {{"out_type", dtype}});
}

Output integer_constant(const Scope& scope, int64_t value, DType dtype) {
  if (dtype == DType::Int64) return scope.constant(Tensor::scalar(value));
  return scope.constant(Tensor::scalar(static_cast<int32_t>(value)));
}

Output integer_constants(const Scope& scope, std::span<const int64_t> values, DType dtype) {
  if (dtype == DType::Int64) return scope.constant(Tensor::vector(values));
  const std::vector<int32_t> narrow(values.begin(), values.end());
  return scope.constant(Tensor::vector(std::span<const int32_t>(narrow)));
}

}  // namespace troupe
