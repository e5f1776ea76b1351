// What the gradients of linear algebra are made of: ops on the matrices in the last two dimensions, in notation close to that of
// formulas. Free functions; the thread that builds the graph calls them. They throw Error, as the graph builder does.
#pragma once

#include "graph/build/gradients.h"

namespace troupe {

/// Whether a factor of a product is the matrix or its adjoint, which is transposed and, if complex, conjugated.
enum class Factor : uint8_t { Plain, Adjoint };

/// Returns the product of two matrices, x y.
Output product(const Scope& scope, Output x, Output y, Factor of_x = Factor::Plain,
               Factor of_y = Factor::Plain);
/// Returns the adjoint of the matrices.
Output adjoint(const Scope& scope, Output x);
/// Returns the lower triangles of the matrices, and zeros above.
Output lower_triangle(const Scope& scope, Output x);
/// Returns the matrices with their diagonals halved.
Output with_half_diagonal(const Scope& scope, Output x);
/// Returns the numbers of a batch as matrices of one row and column, which broadcast.
Output as_matrices(const Scope& scope, Output numbers);
/// Returns the solution of triangular systems (op MatrixTriangularSolve).
Output triangular_solve(const Scope& scope, Output matrix, Output right, bool lower, Factor of_matrix);
/// Returns 1 / x, but a number near 0 where x is 0, so that equal eigenvalues give a finite gradient, as in TensorFlow.
Output safe_reciprocal(const Scope& scope, Output x);
/// Returns matrices whose element (i, j) is safe_reciprocal(v[j] - v[i]), with zeros on the diagonal.
Output reciprocal_differences(const Scope& scope, Output v);
/// Return the first columns of the matrices, `count` of them, and the columns after those. The count is an int32 scalar.
Output first_columns(const Scope& scope, Output x, Output count);
Output other_columns(const Scope& scope, Output x, Output count);
/// Return the real or imaginary part of a complex tensor.
Output real_part(const Scope& scope, Output z);
Output imaginary_part(const Scope& scope, Output z);

}  // namespace troupe
