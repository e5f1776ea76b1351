#include "kernels/ops/ragged/numbers_in_rows.h"

#include "kernels/core/arguments.h"
#include "kernels/ops/ragged/splits.h"
#include "kernels/ops/sparse/sparse_tensor.h"

namespace troupe {
namespace {

size_t numbers_input(NumberForm form) { return form == NumberForm::Dense ? 0 : 1; }
constexpr size_t dense_shape_input = 2;

Status check_rank_of_rows(size_t rank) {
  if (rank == 1 || rank == 2) return {};
  return invalid_argument("the numbers have rank " + std::to_string(rank) +
                          "; they must be those of a vector or of a matrix");
}

/// Returns the dimensions of the vector or matrix of numbers.
Result<Dims> dense_dims(const KernelContext& context, NumberForm form) {
  const Tensor& numbers = context.input(numbers_input(form));
  if (form == NumberForm::Dense) return Dims(numbers.shape().dims());
  TROUPE_RETURN_IF_FAILED(check_rank(context, 1, 1));
  if (form == NumberForm::Ragged) {
    TROUPE_RETURN_IF_FAILED(check_rank(context, 0, 1));
    const int64_t splits = context.input(0).elements();
    if (splits == 0) return check_splits({}, 0, "splits");
    return Dims{splits - 1, unknown_dim};
  }
  TROUPE_ASSIGN(const Dims dims, integer_vector(context.input(dense_shape_input), "dense_shape"));
  TROUPE_RETURN_IF_FAILED(check_dense_shape(dims, "dense_shape"));
  const PartialShape expected{numbers.elements(), static_cast<int64_t>(dims.size())};
  TROUPE_RETURN_IF_FAILED(merge(context.input(0).shape(), expected).status());
  return dims;
}

}  // namespace

NumberForm form_of(const Node& node) {
  const std::string& type = node.type();
  return type[0] == 'D' ? NumberForm::Dense : type[0] == 'R' ? NumberForm::Ragged : NumberForm::Sparse;
}

Result<PartialShape> row_shape(const ShapeContext& context, NumberForm form) {
  if (form == NumberForm::Ragged) {
    TROUPE_ASSIGN(const PartialShape splits, context.with_rank(0, 1));
    TROUPE_RETURN_IF_FAILED(context.with_rank(1, 1).status());
    return PartialShape{std::max(splits[0] - 1, unknown_dim)};
  }
  PartialShape dims = context.input(0);
  if (form == NumberForm::Sparse) {
    TROUPE_RETURN_IF_FAILED(context.with_rank(0, 2).status());
    TROUPE_RETURN_IF_FAILED(context.with_rank(1, 1).status());
    TROUPE_ASSIGN(dims, shape_from_input(context, dense_shape_input));
  }
  if (!dims.known_rank()) return PartialShape();
  TROUPE_RETURN_IF_FAILED(check_rank_of_rows(dims.rank()));
  return dims.rank() == 1 ? PartialShape::scalar() : PartialShape{dims[0]};
}

Result<NumbersInRows> check_numbers_in_rows(const KernelContext& context, NumberForm form) {
  const Tensor &numbers = context.input(numbers_input(form)), &weights = context.input(context.inputs() - 1);
  TROUPE_ASSIGN(const Dims dims, dense_dims(context, form));
  TROUPE_RETURN_IF_FAILED(check_rank_of_rows(dims.size()));
  if (weights.elements() != 0 && !(weights.shape() == numbers.shape()))
    return invalid_argument("weights of shape " + weights.shape().text() + " for numbers of shape " +
                            numbers.shape().text());
  const bool is_vector = dims.size() == 1;
  return NumbersInRows{form,
                       form == NumberForm::Dense ? nullptr : &context.input(0),
                       numbers,
                       weights.elements() == 0 ? nullptr : &weights,
                       is_vector ? 1 : dims[0],
                       is_vector};
}

Result<std::vector<int64_t>> rows_of_numbers(const NumbersInRows& numbers) {
  const int64_t count = numbers.numbers.elements();
  std::vector<int64_t> rows(static_cast<size_t>(count));
  if (numbers.form == NumberForm::Dense) {
    const int64_t row = count / std::max<int64_t>(numbers.rows, 1);
    for (int64_t i = 0; i < count; ++i) rows[static_cast<size_t>(i)] = i / row;
  } else if (numbers.form == NumberForm::Ragged) {
    const Dims splits = integers(*numbers.where);
    TROUPE_RETURN_IF_FAILED(check_splits(splits, count, "splits"));
    for (size_t i = 0; i + 1 < splits.size(); ++i)
      std::fill(rows.begin() + splits[i], rows.begin() + splits[i + 1], static_cast<int64_t>(i));
  } else if (!numbers.is_vector) {
    const auto indices = numbers.where->as<int64_t>();
    for (size_t i = 0; i < rows.size(); ++i) {
      rows[i] = indices[2 * i];
      if (rows[i] < 0 || rows[i] >= numbers.rows)
        return invalid_argument("indices[" + std::to_string(i) + ",0] = " + std::to_string(rows[i]) +
                                " is not in [0, " + std::to_string(numbers.rows) + ")");
    }
  }
  return rows;
}

Status negative_number(const Tensor& numbers, size_t i, int64_t number) {
  return invalid_argument(element_name("values", numbers.shape(), static_cast<int64_t>(i)) + " = " +
                          std::to_string(number) + " is negative");
}

}  // namespace troupe
