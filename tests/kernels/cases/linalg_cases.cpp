// Samples of the ops of linear algebra, of Fourier transforms and of complex numbers.
#include "tests/kernels/cases/linalg_case_support.h"

namespace troupe::test {
namespace {

// ---- Complex numbers

void add_complex_cases(OpCases& cases) {
  const Attributes wide{{"Tout", DType::Complex128}};
  cases.good("Complex", {filled(Shape{2, 3}), filled(Shape{2, 3}, 2)}, wide);
  cases.good("Complex", {filled(Shape{3, 1}), filled(Shape{7}, 2)}, wide);
  cases.good("Complex", {one(), one(2)}, wide);
  cases.good("Complex", {as_floats(filled(Shape{13})), as_floats(one())});
  cases.good("Complex", {as_floats(filled(Shape{0, 3})), as_floats(filled(Shape{1, 3}))});
  cases.good("Complex", {as_floats(filled(Shape{70001})), as_floats(filled(Shape{70001}, 2))});
  cases.bad("Complex", {one(), one()}, {}, "T is double and Tout is complex64");
  cases.bad("Complex", {filled(Shape{2}), filled(Shape{3})}, wide, "[2]");
  for (const char* op : {"Real", "Imag", "Angle", "ComplexAbs"}) {
    const Attributes real{{"Tout", DType::Double}};
    cases.good(op, {complex_numbers(Shape{3, 5})}, real);
    cases.good(op, {complex_numbers(Shape{})}, real);
    cases.good(op, {complex_numbers(Shape{0, 2})}, real);
    cases.good(op, {complex_numbers(Shape{70001}, 1, DType::Complex64)});
    cases.bad(op, {complex_numbers(Shape{2})}, {}, "T is complex128 and Tout is float");
    cases.bad(op, {complex_numbers(Shape{2}, 1, DType::Complex64)}, real,
              "T is complex64 and Tout is double");
  }
}

// ---- Square matrices

void add_square_cases(OpCases& cases) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor second_singular = doubles(Shape{1, 2, 2, 2}, {1, 0, 0, 1, 1, 2, 2, 4});
  add_squares(cases, "Cholesky");
  cases.bad("Cholesky", {doubles(Shape{2, 1, 1}, {1, -1})}, {},
            "input[1]: Cholesky decomposition was not successful");
  cases.bad("Cholesky", {second_singular}, {}, "input[0,1]: Cholesky");
  cases.bad("Cholesky", {doubles(Shape{1, 1}, {0})}, {}, "input: Cholesky");
  for (const bool adjoint : {false, true}) add_squares(cases, "MatrixInverse", {{"adjoint", adjoint}});
  cases.bad("MatrixInverse", {second_singular}, {}, "input[0,1]: Input is not invertible.");
  cases.bad("MatrixInverse", {doubles(Shape{1, 1}, {0})}, {}, "input: Input is not invertible.");
  cases.bad("MatrixInverse", {doubles(Shape{2, 2}, {nan, 1, 1, 1})}, {}, "Input is not invertible.");
  for (const char* op : {"MatrixDeterminant", "LogMatrixDeterminant"}) add_squares(cases, op);
  cases.good("MatrixDeterminant", {as_floats(second_singular)});
  cases.good("LogMatrixDeterminant", {as_floats(second_singular)});
}

void add_cholesky_grad_cases(OpCases& cases) {
  const char* const op = "CholeskyGrad";
  for (const DType dtype : {DType::Double, DType::Float})
    for (const Shape& shape : {Shape{3, 3}, Shape{2, 2, 2}, Shape{0, 0}, Shape{5, 0, 0}, Shape{70, 9, 9}})
      cases.good(op, {strong_matrices(shape, dtype), strong_matrices(shape, dtype, 2)});
  cases.bad(op, {filled(Shape{2, 3}), filled(Shape{2, 3})}, {}, "[2,3] holds matrices that are not square");
  cases.bad(op, {filled(Shape{2, 2}), filled(Shape{3, 3})}, {}, "[3,3]");
  cases.bad(op, {one(), one()}, {}, "holds no matrices");
}

// ---- Equations

void add_bad_equations(OpCases& cases, const char* op) {
  cases.bad(op, {filled(Shape{2, 3}), filled(Shape{2, 1})}, {}, "[2,3] holds matrices that are not square");
  cases.bad(op, {filled(Shape{2, 2}), filled(Shape{3, 1})}, {}, "rhs of shape [3,1]");
  cases.bad(op, {filled(Shape{2, 2}), filled(Shape{2})}, {}, "rhs of shape [2] holds no matrices");
  cases.bad(op, {filled(Shape{2, 2, 2}), filled(Shape{3, 2, 1})}, {}, "rhs of shape [3,2,1]");
  cases.bad(op, {one(), one()}, {}, "holds no matrices");
  cases.bad(op, {doubles(Shape{2, 1, 1}, {1, 0}), filled(Shape{2, 1, 1})}, {},
            "matrix[1]: Input matrix is not invertible.");
}

void add_equations(OpCases& cases, const char* op, const Attributes& attrs) {
  for (const DType dtype : matrix_types) {
    cases.good(op, {strong_matrices(Shape{3, 3}, dtype), strong_matrices(Shape{3, 2}, dtype, 2)}, attrs);
    cases.good(op, {strong_matrices(Shape{2, 1, 2, 2}, dtype), strong_matrices(Shape{2, 1, 2, 1}, dtype, 2)},
               attrs);
  }
  cases.good(op, {filled(Shape{0, 0}), filled(Shape{0, 3})}, attrs);
  cases.good(op, {strong_matrices(Shape{2, 2}), filled(Shape{2, 0})}, attrs);
  cases.good(op, {as_floats(filled(Shape{0, 3, 3})), as_floats(filled(Shape{0, 3, 2}))}, attrs);
  cases.good(op, {strong_matrices(Shape{300, 9, 9}, DType::Float), as_floats(filled(Shape{300, 9, 5}))},
             attrs);
}

void add_equation_cases(OpCases& cases) {
  for (const bool adjoint : {false, true}) {
    add_equations(cases, "MatrixSolve", {{"adjoint", adjoint}});
    for (const bool lower : {false, true}) {
      const Attributes attrs{{"adjoint", adjoint}, {"lower", lower}};
      add_equations(cases, "MatrixTriangularSolve", attrs);
      cases.good("MatrixTriangularSolve", {strong_matrices(Shape{2, 2}), filled(Shape{3, 2, 1})}, attrs);
      cases.good("MatrixTriangularSolve", {strong_matrices(Shape{2, 1, 2, 2}), filled(Shape{3, 2, 2})},
                 attrs);
    }
  }
  add_bad_equations(cases, "MatrixSolve");
  cases.bad("MatrixSolve", {filled(Shape{2, 2}), filled(Shape{3, 2, 1})}, {}, "do not fit");
  add_bad_equations(cases, "MatrixTriangularSolve");
}

void add_solve_ls_cases(OpCases& cases) {
  const char* const op = "MatrixSolveLs";
  const Attributes exact{{"fast", false}};
  for (const Shape& shape : {Shape{3, 3}, Shape{2, 4, 2}, Shape{2, 2, 4}}) {
    const Shape right = shape.rank() == 2 ? Shape{3, 2} : Shape{2, shape[1], 1};
    for (const DType dtype : matrix_types)
      cases.good(op, {strong_matrices(shape, dtype), strong_matrices(right, dtype, 2), one(0.5)});
    for (const DType dtype : {DType::Float, DType::Complex64})
      cases.good(op, {strong_matrices(shape, dtype), strong_matrices(right, dtype, 2), one()}, exact);
  }
  for (const auto& [left, right] : {std::pair{Shape{0, 3}, Shape{0, 2}},
                                    {Shape{3, 0}, Shape{3, 2}},
                                    {Shape{0, 3, 2}, Shape{0, 3, 1}},
                                    {Shape{99, 9, 7}, Shape{99, 9, 5}}})
    for (const Attributes& attrs : {Attributes{}, exact})
      cases.good(op, {as_floats(filled(left)), as_floats(filled(right, 2)), one(0)}, attrs);
  cases.bad(op, {filled(Shape{2, 3}), filled(Shape{3, 1}), one()}, {}, "rhs of shape [3,1]");
  cases.bad(op, {filled(Shape{2, 3}), filled(Shape{2}), one()}, {}, "rhs of shape [2] holds no matrices");
  cases.bad(op, {filled(Shape{2, 2, 3}), filled(Shape{1, 2, 3}), one()}, {}, "do not fit");
  cases.bad(op, {one(), one(), one()}, {}, "holds no matrices");
  cases.bad(op, {filled(Shape{2, 3}), filled(Shape{2, 1}), one(-1)}, {}, "l2_regularizer is -1");
  cases.bad(op, {filled(Shape{2, 3}), filled(Shape{2, 1}), one(std::numeric_limits<double>::quiet_NaN())}, {},
            "l2_regularizer is");
  cases.bad(op, {filled(Shape{2, 3}), filled(Shape{2, 1}), filled(Shape{1})}, {}, "l2_regularizer");
  cases.bad(op, {doubles(Shape{2, 1, 1}, {1, 0}), filled(Shape{2, 1, 1}), one(0)}, {},
            "matrix[1]: Input matrix was rank deficient");
}

// ---- Decompositions

void add_qr_cases(OpCases& cases) {
  const Attributes full{{"full_matrices", true}};
  const auto add = [&](const Shape& shape, DType dtype, const Attributes& attrs = {}) {
    cases.good("Qr", {strong_matrices(shape, dtype)}, attrs);
  };
  for (const Shape& shape : {Shape{3, 3}, Shape{2, 4, 2}, Shape{2, 2, 4}}) {
    add(shape, DType::Double);
    add(shape, DType::Complex128);
    add(shape, DType::Complex64, full);
  }
  for (const Shape& shape :
       {Shape{70, 9, 7}, Shape{67, 70}, Shape{0, 2, 2}, Shape{3, 0}, Shape{0, 3}, Shape{4, 3, 0}}) {
    add(shape, DType::Float);
    add(shape, DType::Float, full);
  }
  cases.bad("Qr", {filled(Shape{3})}, {}, "[3] holds no matrices");
  cases.bad("Qr", {one()}, {}, "[] holds no matrices");
  cases.bad("Qr", {filled(Shape{int64_t{1} << 30, 0})}, full, "", Code::ResourceExhausted);
}

/// The phases of eigenvectors and singular vectors of complex matrices are arbitrary, so only those of complex64, of which no
/// derivatives are taken, are computed with vectors.
void add_eig_cases(OpCases& cases) {
  const char* const op = "SelfAdjointEigV2";
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Attributes values{{"compute_v", false}};
  for (const Shape& shape : {Shape{3, 3}, Shape{2, 1, 2, 2}}) {
    for (const DType dtype : matrix_types) cases.good(op, {strong_matrices(shape, dtype)}, values);
    for (const DType dtype : {DType::Double, DType::Float, DType::Complex64})
      cases.good(op, {strong_matrices(shape, dtype)});
  }
  for (const Shape& shape :
       {Shape{1, 1}, Shape{0, 0}, Shape{0, 3, 3}, Shape{5, 0, 0}, Shape{67, 67}, Shape{99, 9, 9}})
    for (const Attributes& attrs : {Attributes{}, values})
      cases.good(op, {strong_matrices(shape, DType::Float)}, attrs);
  add_bad_squares(cases, op);
  cases.bad(op, {doubles(Shape{2, 1, 1}, {1, nan})}, {},
            "input[1]: Self-adjoint eigen decomposition was not successful");
  cases.bad(op, {doubles(Shape{1, 1}, {INFINITY})}, values, "input: Self-adjoint eigen");
}

void add_general_eig_cases(OpCases& cases) {
  const auto attrs = [](DType type, bool vectors) {
    const bool is_single = type == DType::Float || type == DType::Complex64;
    return Attributes{{"compute_v", vectors}, {"Tout", is_single ? DType::Complex64 : DType::Complex128}};
  };
  for (const Shape& shape : {Shape{3, 3}, Shape{2, 1, 2, 2}}) {
    for (const DType type : {DType::Float, DType::Double, DType::Complex64, DType::Complex128})
      cases.good("Eig", {strong_matrices(shape, type)}, attrs(type, false));
    for (const DType type : {DType::Float, DType::Complex64})
      cases.good("Eig", {strong_matrices(shape, type)}, attrs(type, true));
  }
  for (const Shape& shape :
       {Shape{1, 1}, Shape{0, 0}, Shape{0, 3, 3}, Shape{5, 0, 0}, Shape{30, 30}, Shape{99, 9, 9}})
    for (const bool vectors : {false, true})
      cases.good("Eig", {strong_matrices(shape, f32)}, attrs(f32, vectors));
  const Attributes doubled = attrs(DType::Double, true);
  cases.bad("Eig", {doubles({}, {1})}, doubled, "[]");
  cases.bad("Eig", {doubles(Shape{2, 3}, {1, 2, 3, 4, 5, 6})}, doubled, "[2,3]");
  cases.bad("Eig", {doubles(Shape{2, 1, 1}, {1, INFINITY})}, doubled,
            "input[1]: the eigenvalues cannot be computed");
  cases.bad("Eig", {doubles(Shape{1, 1}, {1})}, attrs(f32, true), "T and Tout differ in precision");
}

void add_svd_cases(OpCases& cases) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Attributes values{{"compute_uv", false}}, full{{"full_matrices", true}};
  for (const Shape& shape : {Shape{3, 3}, Shape{2, 4, 2}, Shape{2, 2, 4}}) {
    cases.good("Svd", {strong_matrices(shape)});
    for (const DType dtype : matrix_types) cases.good("Svd", {strong_matrices(shape, dtype)}, values);
    for (const Attributes& attrs : {Attributes{}, full})
      for (const DType dtype : {DType::Float, DType::Complex64})
        cases.good("Svd", {strong_matrices(shape, dtype)}, attrs);
  }
  for (const Shape& shape : {Shape{1, 1}, Shape{0, 2, 2}, Shape{3, 0}, Shape{0, 3}, Shape{4, 3, 0},
                             Shape{37, 41}, Shape{99, 9, 7}})
    for (const Attributes& attrs : {Attributes{}, values, full})
      cases.good("Svd", {strong_matrices(shape, DType::Float)}, attrs);
  cases.good("Svd", {floats(Shape{2, 2}, {1, static_cast<float>(nan), 0, 1})});
  cases.good("Svd", {floats(Shape{2, 2}, {0, 0, 0, 0})});
  cases.bad("Svd", {filled(Shape{3})}, {}, "[3] holds no matrices");
  cases.bad("Svd", {one()}, {}, "[] holds no matrices");
  cases.bad("Svd", {filled(Shape{int64_t{1} << 30, 0})}, full, "", Code::ResourceExhausted);
}

// ---- Fourier transforms

std::vector<int64_t> lines_of(size_t rank, std::initializer_list<int64_t> batch,
                              std::array<int64_t, 3> sizes) {
  std::vector<int64_t> dims(batch);
  dims.insert(dims.end(), sizes.end() - static_cast<std::ptrdiff_t>(rank), sizes.end());
  return dims;
}

Shape shape_with(size_t rank, std::initializer_list<int64_t> batch, std::array<int64_t, 3> sizes) {
  return value_or_throw(Shape::make(lines_of(rank, batch, sizes), DType::Complex128));
}

void add_complex_fft_cases(OpCases& cases, const std::string& op, size_t rank) {
  cases.good(op, {complex_numbers(shape_with(rank, {2}, {2, 3, 5}))});
  cases.good(op, {complex_numbers(shape_with(rank, {}, {3, 1, 7}))});
  cases.good(op, {complex_numbers(shape_with(rank, {3}, {4, 6, 67}), 1, DType::Complex64)});
  cases.good(op, {complex_numbers(shape_with(rank, {0}, {2, 3, 5}))});
  cases.good(op, {complex_numbers(shape_with(rank, {2}, {2, 3, 0}))});
  cases.good(op, {complex_numbers(shape_with(rank, {300}, {4, 6, 75}), 1, DType::Complex64)});
  cases.bad(op, {complex_numbers(Shape{})}, {}, "input of shape [] has fewer than");
  cases.bad(op, {one()}, {}, "Tcomplex is double");
}

void add_real_fft_cases(OpCases& cases, const std::string& op, size_t rank, bool inverse) {
  const Attributes wide{{"Treal", DType::Double}, {"Tcomplex", DType::Complex128}};
  const auto lengths = [&](std::array<int32_t, 3> sizes) {
    return Tensor::vector<int32_t>(std::span(sizes).last(rank));
  };
  const auto input = [&](std::initializer_list<int64_t> batch, std::array<int64_t, 3> sizes, bool is_wide) {
    const Shape shape = shape_with(rank, batch, sizes);
    if (inverse) return complex_numbers(shape, 1, is_wide ? DType::Complex128 : DType::Complex64);
    return converted(filled(shape), is_wide ? DType::Double : DType::Float);
  };
  const Tensor some = input({2}, {2, 3, 5}, true);
  cases.good(op, {some, lengths({2, 3, 5})}, wide);
  cases.good(op, {some, lengths({2, 2, 4})}, wide);
  cases.good(op, {input({}, {3, 1, 7}, true), lengths({3, 1, 7})}, wide);
  cases.good(op, {some, lengths({1, 1, 1})}, wide);
  cases.good(op, {input({}, {2, 3, 4}, true), lengths({2, 3, 3})}, wide);
  cases.good(op, {some, lengths({2, 3, 0})}, wide);
  cases.good(op, {input({0}, {2, 3, 5}, false), lengths({2, 3, 4})});
  cases.good(op, {input({300}, {2, 7, 75}, false), lengths({2, 7, 74})});
  cases.bad(op, {some, lengths({2, 3, 10})}, wide, "which fft_length needs");
  cases.bad(op, {some, lengths({2, 3, -1})}, wide, "is -1, which is not in [0, 2^27]");
  cases.bad(op, {some, lengths({2, 3, INT32_MAX})}, wide, "which is not in [0, 2^27]");
  cases.bad(op, {some, ints({1, 1, 1, 1})}, wide, "");
  cases.bad(op, {some, int_scalar(1)}, wide, "");
  cases.bad(
      op,
      {input({}, {2, 3, 5}, false).reshaped(Shape{1, shape_with(rank, {}, {2, 3, 5}).elements()}), ints({4})},
      {{"Treal", inverse ? DType::Double : DType::Float},
       {"Tcomplex", inverse ? DType::Complex64 : DType::Complex128}},
      "");
  cases.bad(op,
            {inverse ? complex_numbers(Shape{}, 1, DType::Complex64) : floats({}, {1}), lengths({1, 1, 1})},
            {}, "input of shape [] has fewer than");
}

void add_fft_cases(OpCases& cases) {
  for (const bool inverse : {false, true})
    for (const size_t rank : {1, 2, 3}) {
      const std::string suffix = rank == 1 ? "" : std::to_string(rank) + "D";
      add_complex_fft_cases(cases, (inverse ? "IFFT" : "FFT") + suffix, rank);
      add_real_fft_cases(cases, (inverse ? "IRFFT" : "RFFT") + suffix, rank, inverse);
    }
}

}  // namespace

void add_linalg_cases(OpCases& cases) {
  add_complex_cases(cases);
  add_square_cases(cases);
  add_cholesky_grad_cases(cases);
  add_equation_cases(cases);
  add_solve_ls_cases(cases);
  add_qr_cases(cases);
  add_eig_cases(cases);
  add_general_eig_cases(cases);
  add_svd_cases(cases);
  add_fft_cases(cases);
}

}  // namespace troupe::test
