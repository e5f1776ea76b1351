// Linear models of rows x [n, features] and targets y [n, outputs], float or double. Weights are [features, outputs]; add a column
// of ones to x for a bias.
#pragma once

#include <troupe/troupe.h>

namespace models {

using troupe::Output;
using troupe::Scope;

/// Returns the weights that minimise |x weights - y|^2 + penalty |weights|^2: linear regression for a penalty of 0, else ridge
/// regression. Solves the normal equations by a Cholesky decomposition, so the step fails with InvalidArgument if the columns of x
/// depend on each other and the penalty is 0.
Output regression_weights(const Scope& scope, Output x, Output y, double penalty = 0);

/// Returns the quantity that regression_weights() minimises, divided by n, for gradient descent.
Output regression_loss(const Scope& scope, Output x, Output y, Output weights, double penalty = 0);

}  // namespace models
