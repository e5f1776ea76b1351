#include "apps/nn/initializers.h"

#include <cmath>

#include "graph/call.h"

namespace troupe::nn {
namespace {

// The part of a normal distribution within two standard deviations has a smaller one.
constexpr double truncated_stddev = 0.87962566103423978;

Output dims_of(const Scope& scope, const Shape& shape) {
  const std::vector<int32_t> dims(shape.dims().begin(), shape.dims().end());
  return scope.constant(Tensor::vector<int32_t>(std::span<const int32_t>(dims)));
}

Output number(const Scope& scope, DType dtype, double value) {
  return scope.constant(value_or_throw(to_tensor(Argument(value), dtype)));
}

/// random * factor + offset
Output scaled(const Scope& scope, std::string_view op, const Shape& shape, DType dtype, double factor,
              double offset) {
  const Output random = scope.add_one(op, {dims_of(scope, shape)}, {{"dtype", dtype}});
  const Output stretched = scope.add_one("Mul", {random, number(scope, dtype, factor)});
  return scope.add_one("Add", {stretched, number(scope, dtype, offset)});
}

}  // namespace

Output constant_value(const Scope& scope, const Shape& shape, DType dtype, double value) {
  return scope.add_one("Fill", {dims_of(scope, shape), number(scope, dtype, value)});
}

Output uniform(const Scope& scope, const Shape& shape, DType dtype, double minimum, double maximum) {
  return scaled(scope, "RandomUniform", shape, dtype, maximum - minimum, minimum);
}

Output normal(const Scope& scope, const Shape& shape, DType dtype, double mean, double stddev) {
  return scaled(scope, "RandomStandardNormal", shape, dtype, stddev, mean);
}

Output truncated_normal(const Scope& scope, const Shape& shape, DType dtype, double mean, double stddev) {
  return scaled(scope, "TruncatedNormal", shape, dtype, stddev, mean);
}

Fans fans(const Shape& shape) {
  Fans fans;
  if (shape.rank() == 0) return fans;
  if (shape.rank() == 1) return {static_cast<double>(shape[0]), static_cast<double>(shape[0])};
  double field = 1;
  for (size_t i = 0; i + 2 < shape.rank(); ++i) field *= static_cast<double>(shape[i]);
  fans.in = field * static_cast<double>(shape[shape.rank() - 2]);
  fans.out = field * static_cast<double>(shape[shape.rank() - 1]);
  return fans;
}

Output glorot_uniform(const Scope& scope, const Shape& shape, DType dtype) {
  const Fans size = fans(shape);
  const double limit = std::sqrt(6 / (size.in + size.out));
  return uniform(scope, shape, dtype, -limit, limit);
}

Output glorot_normal(const Scope& scope, const Shape& shape, DType dtype) {
  const Fans size = fans(shape);
  return truncated_normal(scope, shape, dtype, 0, std::sqrt(2 / (size.in + size.out)) / truncated_stddev);
}

Output he_normal(const Scope& scope, const Shape& shape, DType dtype) {
  return truncated_normal(scope, shape, dtype, 0, std::sqrt(2 / fans(shape).in) / truncated_stddev);
}

}  // namespace troupe::nn
