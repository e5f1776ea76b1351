// Samples of factors and functions of matrices, and of the ops of tridiagonal matrices.
#include <limits>

#include "tests/kernels/cases/linalg_case_support.h"

namespace troupe::test {
namespace {

const double nan = std::numeric_limits<double>::quiet_NaN();

void add_lu_cases(OpCases& cases) {
  for (const DType index : {DType::Int32, DType::Int64})
    add_squares(cases, "Lu", {{"output_idx_type", index}});
  cases.bad("Lu", {doubles(Shape{1, 2, 2, 2}, {1, 0, 0, 1, 1, 2, 2, 4})}, {},
            "input[0,1]: Input is not invertible.");
  cases.bad("Lu", {doubles(Shape{1, 1}, {0})}, {}, "input: Input is not invertible.");
  cases.bad("Lu", {doubles(Shape{2, 2}, {nan, 1, 1, 1})}, {}, "Input is not invertible.");
}

void add_function_of_matrix_cases(OpCases& cases) {
  constexpr std::array complex_types = {DType::Complex128, DType::Complex64};
  add_squares(cases, "MatrixLogarithm", {}, complex_types);
  add_squares(cases, "MatrixSquareRoot");
  for (const char* op : {"MatrixLogarithm", "MatrixSquareRoot"})
    for (const Tensor& matrix :
         {doubles(Shape{3, 3}, {0, 0, 0, 0, 0, 0, 0, 0, 0}), doubles(Shape{2, 2}, {0, 1, 0, 0}),
          doubles(Shape{2, 2}, {-1, 0, 0, 4}), doubles(Shape{2, 2}, {nan, 1, 0, 1}),
          doubles(Shape{2, 2}, {HUGE_VAL, 1, 0, 1}), doubles(Shape{1, 1}, {-4}),
          doubles(Shape{3, 3}, {1, 1e300, 0, 0, 1, 1e300, 0, 0, 1}),
          doubles(Shape{4, 4}, {0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0})})
      cases.good(op, {converted(matrix, DType::Complex64)});
  cases.good("MatrixSquareRoot", {converted(doubles(Shape{2, 2}, {0, 1, -1, 0}), f32)});
  cases.good("MatrixSquareRoot", {converted(doubles(Shape{2, 2}, {-1, 0, 0, 4}), f32)});
}

/// The eigenvectors of samples that are differentiated are those of SelfAdjointEigV2.
void add_joined_eig_cases(OpCases& cases) {
  const char* const op = "SelfAdjointEig";
  constexpr std::array real_types = {DType::Double, DType::Float};
  add_squares(cases, op, {}, real_types);
  cases.bad(op, {doubles(Shape{2, 1, 1}, {1, nan})}, {},
            "input[1]: Self-adjoint eigen decomposition was not successful");
  cases.bad(op, {doubles(Shape{1, 1}, {INFINITY})}, {}, "input: Self-adjoint eigen");
}

// ---- Tridiagonal matrices

void add_tridiagonal_product_cases(OpCases& cases) {
  const char* const op = "TridiagonalMatMul";
  const auto inputs = [](const Shape& diagonal, const Shape& rhs, DType dtype) {
    return std::vector<Tensor>{
        converted(complex_numbers(diagonal, 1), dtype), converted(complex_numbers(diagonal, 2), dtype),
        converted(complex_numbers(diagonal, 3), dtype), converted(complex_numbers(rhs, 4), dtype)};
  };
  for (const DType dtype : matrix_types) {
    cases.good(op, inputs(Shape{1, 5}, Shape{5, 3}, dtype));
    cases.good(op, inputs(Shape{2, 1, 1, 3}, Shape{2, 1, 3, 2}, dtype));
    cases.good(op, inputs(Shape{1, 1}, Shape{1, 2}, dtype));
    cases.good(op, inputs(Shape{1, 2}, Shape{2, 1}, dtype));
  }
  for (const auto& [diagonal, rhs] : {std::pair{Shape{1, 0}, Shape{0, 3}},
                                      {Shape{1, 3}, Shape{3, 0}},
                                      {Shape{0, 1, 3}, Shape{0, 3, 2}},
                                      {Shape{7, 1, 501}, Shape{7, 501, 33}}})
    cases.good(op, inputs(diagonal, rhs, DType::Float));
  const Tensor row = filled(Shape{1, 3}), rhs = filled(Shape{3, 2});
  cases.bad(op, {filled(Shape{1, 2}), row, row, rhs}, {}, "superdiag of shape [1,2] and rhs of shape [3,2]");
  cases.bad(op, {row, filled(Shape{2, 3}), row, rhs}, {}, "maindiag of shape [2,3] and rhs of shape [3,2]");
  cases.bad(op, {row, row, filled(Shape{2, 1, 3}), rhs}, {}, "subdiag of shape [2,1,3] and rhs");
  cases.bad(op, {row, row, filled(Shape{3}), rhs}, {}, "subdiag of shape [3] holds no matrices");
  cases.bad(op, {row, row, row, one()}, {}, "rhs of shape [] holds no matrices");
}

/// Diagonals of matrices that are far from singular, with and without exchanges of rows.
Tensor strong_diagonals(const Shape& shape, bool exchanges, DType dtype) {
  const Tensor numbers = complex_numbers(shape);
  const auto n = static_cast<size_t>(shape[shape.rank() - 1]);
  Tensor result = numbers.copy();
  const auto values = result.write<std::complex<double>>();
  for (size_t i = 0; i < values.size(); ++i)
    if (const size_t row = i / n % 3; row == (exchanges ? 2 : 1)) values[i] += 4;
  return converted(result, dtype);
}

void add_tridiagonal_solve_cases(OpCases& cases) {
  const char* const op = "TridiagonalSolve";
  for (const bool pivots : {false, true}) {
    const Attributes attrs{{"partial_pivoting", pivots}};
    const auto add = [&](const Shape& diagonals, const Shape& rhs, DType dtype) {
      cases.good(op, {strong_diagonals(diagonals, false, dtype), complex_numbers(rhs, 2, dtype)}, attrs);
    };
    for (const DType dtype : matrix_types) {
      add(Shape{3, 5}, Shape{5, 3}, dtype);
      add(Shape{2, 1, 3, 3}, Shape{2, 1, 3, 2}, dtype);
      add(Shape{3, 1}, Shape{1, 2}, dtype);
      add(Shape{3, 2}, Shape{2, 1}, dtype);
    }
    add(Shape{3, 0}, Shape{0, 3}, DType::Float);
    add(Shape{3, 3}, Shape{3, 0}, DType::Float);
    add(Shape{0, 3, 3}, Shape{0, 3, 2}, DType::Float);
    add(Shape{70, 3, 101}, Shape{70, 101, 5}, DType::Float);
    cases.good(op,
               {floats(Shape{3, 2}, {1, 9, static_cast<float>(nan), 1, 9, 1}), floats(Shape{2, 1}, {1, 1})},
               attrs);
    cases.bad(op, {filled(Shape{2, 3}), filled(Shape{3, 1})}, attrs, "diagonals of shape [2,3] and rhs");
    cases.bad(op, {filled(Shape{3, 3}), filled(Shape{2, 1})}, attrs, "rhs of shape [2,1] do not fit");
    cases.bad(op, {filled(Shape{2, 3, 3}), filled(Shape{3, 3, 1})}, attrs, "do not fit");
    cases.bad(op, {filled(Shape{3, 3}), filled(Shape{3})}, attrs, "rhs of shape [3] holds no matrices");
    cases.bad(op, {one(), one()}, attrs, "diagonals of shape [] holds no matrices");
    cases.bad(op, {doubles(Shape{2, 3, 1}, {0, 1, 0, 0, 0, 0}), filled(Shape{2, 1, 1})}, attrs,
              "diagonals[1]: The matrix is");
    cases.bad(op, {doubles(Shape{3, 2}, {2, 0, 1, 4, 0, 2}), filled(Shape{2, 1})}, attrs, "not invertible");
  }
  for (const DType dtype : {DType::Double, DType::Complex128})
    cases.good(op, {strong_diagonals(Shape{3, 5}, true, dtype), complex_numbers(Shape{5, 2}, 2, dtype)});
  cases.good(op, {doubles(Shape{3, 2}, {1, 0, 0, 0, 0, 1}), filled(Shape{2, 3})});
  cases.bad(op, {doubles(Shape{3, 2}, {1, 0, 0, 0, 0, 1}), filled(Shape{2, 3})},
            {{"partial_pivoting", false}}, "Try setting partial_pivoting = True.");
}

}  // namespace

void add_matrix_cases(OpCases& cases) {
  add_lu_cases(cases);
  add_function_of_matrix_cases(cases);
  add_joined_eig_cases(cases);
  add_tridiagonal_product_cases(cases);
  add_tridiagonal_solve_cases(cases);
}

}  // namespace troupe::test
