// Numbers, each of which belongs to a row: what ops share that count numbers in the rows of a matrix, of a ragged matrix or
// of a sparse one. Pure functions; any thread may call them.
#pragma once

#include <vector>

#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {

/// How an op takes its numbers; the weights are its last input.
enum class NumberForm : uint8_t {
  Dense,   ///< values, a vector, which is one row, or a matrix
  Ragged,  ///< splits, values
  Sparse,  ///< indices, values, dense_shape, of a vector, which is one row, or a matrix
};

using CountedTypes = TypeList<int32_t, int64_t>;
using CountWeightTypes = TypeList<int32_t, int64_t, float, double>;

struct NumbersInRows {
  NumberForm form;
  const Tensor* where;  ///< splits or indices, not checked yet; null for Dense
  const Tensor& numbers;
  const Tensor* weights;  ///< one for each number; null: each weighs 1
  int64_t rows;
  bool is_vector;  ///< whether there is one row because there are no rows
};

/// Returns the form of the numbers of an op, with whose first letter the type of the op begins.
NumberForm form_of(const Node& node);

/// For shape functions: returns what is known of the shape [rows] of the result, or [] for a vector. Fails with
/// InvalidArgument if the ranks of the inputs are wrong.
Result<PartialShape> row_shape(const ShapeContext& context, NumberForm form);

/// Fails with InvalidArgument if the shapes of the inputs do not fit each other.
Result<NumbersInRows> check_numbers_in_rows(const KernelContext& context, NumberForm form);

/// Returns the row of each number. Fails with InvalidArgument for splits that do not ascend from 0 to the number of numbers,
/// and for a row that is outside of the dense shape.
Result<std::vector<int64_t>> rows_of_numbers(const NumbersInRows& numbers);

/// The error for number i, which is negative.
Status negative_number(const Tensor& numbers, size_t i, int64_t number);

}  // namespace troupe
