#include "kernels/ops/linalg/matrix_gradients.h"

#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/ops/broadcast_gradients.h"

namespace troupe {

Output product(const Scope& scope, Output x, Output y, Factor of_x, Factor of_y) {
  return batch_matmul(scope, x, y, of_x == Factor::Adjoint, of_y == Factor::Adjoint);
}

Output adjoint(const Scope& scope, Output x) { return conjugate(scope, einsum(scope, "...ij->...ji", {x})); }

Output lower_triangle(const Scope& scope, Output x) { return matrix_band_part(scope, x, -1, 0); }

Output with_half_diagonal(const Scope& scope, Output x) {
  return matrix_set_diag(scope, x, mul(scope, matrix_diag_part(scope, x), 0.5));
}

Output as_matrices(const Scope& scope, Output numbers) {
  return expand_dims(scope, expand_dims(scope, numbers, -1), -1);
}

Output triangular_solve(const Scope& scope, Output matrix, Output right, bool lower, Factor of_matrix) {
  return scope.add_one("MatrixTriangularSolve", {matrix, right},
                       {{"lower", lower}, {"adjoint", of_matrix == Factor::Adjoint}});
}

Output safe_reciprocal(const Scope& scope, Output x) {
  return mul(scope, x, reciprocal(scope, add(scope, mul(scope, x, x), 1e-20)));
}

Output reciprocal_differences(const Scope& scope, Output v) {
  const Output differences = sub(scope, expand_dims(scope, v, -2), expand_dims(scope, v, -1));
  return matrix_set_diag(scope, safe_reciprocal(scope, differences), zeros_like(scope, v));
}

namespace {

/// Columns `begin` to `end` of the matrices; without limit where the mask of that end has bit 1.
Output columns_between(const Scope& scope, Output x, Output begin, Output end, int64_t begin_mask,
                       int64_t end_mask) {
  const Output zero = integer_constant(scope, 0);
  return scope.add_one(
      "StridedSlice",
      {x, stack(scope, {zero, begin}), stack(scope, {zero, end}), integer_constants(scope, Dims{1, 1})},
      {{"ellipsis_mask", int64_t{1}}, {"begin_mask", begin_mask}, {"end_mask", end_mask}});
}

Output part(const Scope& scope, const char* op, Output z) {
  return scope.add_one(op, {z}, {{"Tout", scope.dtype(z) == DType::Complex64 ? f32 : f64}});
}

}  // namespace

Output first_columns(const Scope& scope, Output x, Output count) {
  return columns_between(scope, x, count, count, 2, 0);
}
Output other_columns(const Scope& scope, Output x, Output count) {
  return columns_between(scope, x, count, count, 0, 2);
}

Output real_part(const Scope& scope, Output z) { return part(scope, "Real", z); }
Output imaginary_part(const Scope& scope, Output z) { return part(scope, "Imag", z); }

}  // namespace troupe
