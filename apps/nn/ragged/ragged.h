// Ragged tensors in the graph builder: rows of different lengths without padding, as a tensor of all values, one row behind the
// other, and the splits between the rows. Rows may be empty, and there may be no rows. Everything here is composed of ops, so the
// gradients of values are those of the ops. What concerns single values (activations, dense layers, products with a matrix)
// is applied to `values` as it is. Failures throw Error, as in the graph builder. Public header; one thread at a time per graph.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "graph/build/scope.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

/// Row i has the values row_splits[i] to row_splits[i + 1] - 1.
struct Ragged {
  Output values;  ///< [values, ...]
  /// int32 or int64 [rows + 1]: they begin with 0, never fall, and end with the number of values.
  Output row_splits;
};

/// Two levels of rows: outer row i has the inner rows row_splits[i] to row_splits[i + 1] - 1.
struct NestedRagged {
  Ragged rows;
  Output row_splits;  ///< [outer rows + 1], of the type of the inner splits
};

namespace ragged {

// ---- Making (apps/nn/ragged/make.cpp). Steps fail with InvalidArgument if the splits, lengths or ids do not fit the values.

Ragged from_row_splits(const Scope& scope, Output values, Output row_splits);
/// `lengths`, int32 or int64 [rows], are those of the rows.
Ragged from_lengths(const Scope& scope, Output values, Output lengths);
/// `row_ids` [values], int32 or int64, has the row of each value in ascending order; `rows`, a scalar of that type, says how
/// many rows there are.
Ragged from_row_ids(const Scope& scope, Output values, Output row_ids, Output rows);
/// Takes the first lengths[i] elements of row i of a dense tensor [rows, elements, ...].
Ragged from_dense(const Scope& scope, Output dense, Output lengths);
/// Takes the values of a sparse matrix. Steps fail unless the values of each row are its first ones, in order.
Ragged from_sparse(const Scope& scope, Output indices, Output values, Output dense_shape);

// ---- Converting (apps/nn/ragged/convert.cpp)

/// Returns [rows, longest row, ...]; behind the end of a row stands `otherwise`, a scalar, which is zero if it is not given.
Output to_dense(const Scope& scope, const Ragged& x, std::optional<Output> otherwise = {});
/// Returns [outer rows, most inner rows, longest inner row, ...].
Output to_dense(const Scope& scope, const NestedRagged& x, std::optional<Output> otherwise = {});

struct Sparse {
  Output indices, values, dense_shape;
};
/// Returns all elements, zeros too, in row-major order.
Sparse to_sparse(const Scope& scope, const Ragged& x);

// ---- Rows (apps/nn/ragged/rows.cpp). Numbers of rows and values have the type of the splits.

Output rows(const Scope& scope, const Ragged& x);         ///< a scalar, the number of rows
Output row_lengths(const Scope& scope, const Ragged& x);  ///< [rows]
Output row_ids(const Scope& scope, const Ragged& x);      ///< [values]: the row of each value
/// Returns rows by their numbers, a vector, in that order. Steps fail with InvalidArgument for a number that no row has.
Ragged gather_rows(const Scope& scope, const Ragged& x, Output numbers);
NestedRagged gather_rows(const Scope& scope, const NestedRagged& x, Output numbers);
/// Returns for each value the element of `of_rows` [rows, ...] for its row: [values, ...].
Output spread(const Scope& scope, Output of_rows, const Ragged& x);
/// Returns all rows of the first tensor, then those of the second, and so on.
Ragged concat_batch(const Scope& scope, const std::vector<Ragged>& parts);
/// Returns rows that are row i of the first tensor, then row i of the second, and so on. Steps fail with InvalidArgument if the
/// numbers of rows differ.
Ragged concat_rows(const Scope& scope, const std::vector<Ragged>& parts);
/// Returns the outer rows, without the splits between the inner ones.
Ragged merge_rows(const Scope& scope, const NestedRagged& x);

// ---- Computing with rows (apps/nn/ragged/reduce.cpp): from [values, ...] to [rows, ...]

Output sum(const Scope& scope, const Ragged& x);
/// An empty row has mean 0.
Output mean(const Scope& scope, const Ragged& x);
/// The greatest and the least value of an empty row are 0, too.
Output max(const Scope& scope, const Ragged& x);
Output min(const Scope& scope, const Ragged& x);
/// Returns values that are positive and whose sum over each row is 1, for each element of a value on its own.
Ragged softmax(const Scope& scope, const Ragged& x);

// ---- Computing with values (apps/nn/ragged/map.cpp)

/// Returns row ids[...] of the weights [n, ...] for each id.
Ragged lookup(const Scope& scope, Output weights, const Ragged& ids);
/// Returns x with the values [values, n] multiplied with a matrix [n, m].
Ragged matmul(const Scope& scope, const Ragged& x, Output matrix);
/// Applies a function to the values; it must keep their number.
Ragged map(const Scope& scope, const Ragged& x, const std::function<Output(const Scope&, Output)>& function);
/// Applies a function of two values, such as add, to the values of two tensors. Steps fail with InvalidArgument if their rows
/// differ in length.
Ragged zip(const Scope& scope, const Ragged& x, const Ragged& y,
           const std::function<Output(const Scope&, Output, Output)>& function);

}  // namespace ragged
}  // namespace troupe::nn
#pragma GCC visibility pop
