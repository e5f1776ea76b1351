#include "apps/nn/initializers.h"

#include <algorithm>
#include <cmath>

#include "graph/build/call.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

// The standard deviation of a normal distribution truncated at two standard deviations, relative to that of the whole distribution.
constexpr double truncated_stddev = 0.87962566103423978;

Output scaled(const Scope& scope, Output random, double factor, double offset) {
  return add(scope, mul(scope, random, factor), offset);
}

/// The numbers of inputs and outputs of weights of shape [..., in, out]. The leading dimensions multiply both.
struct Fans {
  double in = 1, out = 1;
};

Fans fans(const PartialShape& partial, DType dtype) {
  const Shape shape = value_or_throw(partial.to_shape(dtype));
  if (shape.rank() == 0) return {};
  if (shape.rank() == 1) return {static_cast<double>(shape[0]), static_cast<double>(shape[0])};
  double field = 1;
  for (size_t i = 0; i + 2 < shape.rank(); ++i) field *= static_cast<double>(shape[i]);
  return {field * static_cast<double>(shape[shape.rank() - 2]),
          field * static_cast<double>(shape[shape.rank() - 1])};
}

}  // namespace

Output constant_value(const Scope& scope, const PartialShape& shape, DType dtype, double value) {
  return fill(scope, shape, value_or_throw(to_tensor(value, dtype)));
}

Output uniform(const Scope& scope, const PartialShape& shape, DType dtype, double minimum, double maximum) {
  return scaled(scope, random_uniform(scope, shape, dtype), maximum - minimum, minimum);
}

Output small_uniform(const Scope& scope, const PartialShape& shape, DType dtype) {
  return uniform(scope, shape, dtype, -0.05, 0.05);
}

Output normal(const Scope& scope, const PartialShape& shape, DType dtype, double mean, double stddev) {
  return scaled(scope, random_normal(scope, shape, dtype), stddev, mean);
}

Output truncated_normal(const Scope& scope, const PartialShape& shape, DType dtype, double mean,
                        double stddev) {
  return scaled(scope, troupe::truncated_normal(scope, shape, dtype), stddev, mean);
}

Output glorot_uniform(const Scope& scope, const PartialShape& shape, DType dtype) {
  const Fans size = fans(shape, dtype);
  const double limit = std::sqrt(6 / (size.in + size.out));
  return uniform(scope, shape, dtype, -limit, limit);
}

Output glorot_normal(const Scope& scope, const PartialShape& shape, DType dtype) {
  const Fans size = fans(shape, dtype);
  return truncated_normal(scope, shape, dtype, 0, std::sqrt(2 / (size.in + size.out)) / truncated_stddev);
}

Output he_uniform(const Scope& scope, const PartialShape& shape, DType dtype) {
  const double limit = std::sqrt(6 / fans(shape, dtype).in);
  return uniform(scope, shape, dtype, -limit, limit);
}

Output he_normal(const Scope& scope, const PartialShape& shape, DType dtype) {
  return truncated_normal(scope, shape, dtype, 0, std::sqrt(2 / fans(shape, dtype).in) / truncated_stddev);
}

Output lecun_normal(const Scope& scope, const PartialShape& shape, DType dtype) {
  return truncated_normal(scope, shape, dtype, 0, std::sqrt(1 / fans(shape, dtype).in) / truncated_stddev);
}

Output orthogonal(const Scope& scope, const PartialShape& shape, DType dtype) {
  const Shape whole = value_or_throw(shape.to_shape(dtype));
  if (whole.rank() < 2)
    throw Error(invalid_argument("orthogonal: the weights have shape " + whole.text() +
                                 "; they must have two dimensions or more"));
  const int64_t columns = whole[whole.rank() - 1], rows = columns == 0 ? 0 : whole.elements() / columns;
  const DType computed = dtype == DType::Double ? dtype : f32;
  const Output random =
      random_normal(scope, PartialShape{std::max(rows, columns), std::min(rows, columns)}, computed);
  const NodeId factors = scope.add("Qr", {random}, {{"full_matrices", false}});
  // With positive elements on the diagonal of R, Q is one of all such matrices with equal probability.
  const Output signs = sign(scope, scope.add_one("MatrixDiagPart", {Output{factors, 1}}));
  const Output matrix = mul(scope, Output{factors, 0}, signs);
  return cast(scope, reshape(scope, rows < columns ? transpose(scope, matrix, {1, 0}) : matrix, shape),
              dtype);
}

Initial all_equal(double value) {
  return [value](const Scope& scope, const PartialShape& shape, DType dtype) {
    return constant_value(scope, shape, dtype, value);
  };
}

Initial find_initializer(std::string_view name) {
  if (name == "zeros") return all_equal(0);
  if (name == "ones") return all_equal(1);
  if (name == "glorot_uniform") return glorot_uniform;
  if (name == "glorot_normal") return glorot_normal;
  if (name == "he_uniform") return he_uniform;
  if (name == "he_normal") return he_normal;
  if (name == "lecun_normal") return lecun_normal;
  if (name == "orthogonal") return orthogonal;
  return nullptr;
}

}  // namespace troupe::nn
