#include "kernels/ops/linalg/matrices-inl.h"

namespace troupe {

Result<MatrixShape> matrix_shape(const PartialShape& shape, std::string_view argument) {
  if (!shape.known_rank()) return MatrixShape{};
  const auto dims = shape.dims();
  if (dims.size() < 2)
    return invalid_argument(std::string(argument) + " of shape " + shape.text() + " holds no matrices");
  return MatrixShape{partial(dims.first(dims.size() - 2)), dims[dims.size() - 2], dims.back()};
}

Result<MatrixShape> square_matrix_shape(const PartialShape& shape, std::string_view argument) {
  TROUPE_ASSIGN(MatrixShape result, matrix_shape(shape, argument));
  if (result.rows == unknown_dim) result.rows = result.columns;
  if (result.columns == unknown_dim) result.columns = result.rows;
  if (result.rows != result.columns)
    return invalid_argument(std::string(argument) + " of shape " + shape.text() +
                            " holds matrices that are not square");
  return result;
}

Status square_matrices_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const MatrixShape input,
                square_matrix_shape(context.input(0), context.node().op->inputs[0].name));
  context.set_output(0, input.with(input.rows, input.columns));
  return {};
}

Status matrix_error(const Tensor& tensor, std::string_view argument, size_t i, std::string_view text) {
  const auto dims = tensor.shape().dims();
  TROUPE_ASSIGN(const Shape batch, Shape::make(dims.first(dims.size() - 2), tensor.dtype()));
  return invalid_argument(element_name(argument, batch, static_cast<int64_t>(i)) + ": " + std::string(text));
}

}  // namespace troupe
