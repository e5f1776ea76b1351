#include "regression.h"

namespace models {

Output regression_weights(const Scope& g, Output x, Output y, double penalty) {
  return matrix_solve_ls(g, x, y, penalty);
}

Output regression_loss(const Scope& g, Output x, Output y, Output weights, double penalty) {
  const Output error = sum(g, square(g, sub(g, matmul(g, x, weights), y)));
  const Output total = add(g, error, mul(g, sum(g, square(g, weights)), penalty));
  return div(g, total, cast(g, slice(g, shape(g, x), {0}, {1}), g.dtype(x)));
}

}  // namespace models
