// Tridiagonal matrices, of which only the three diagonals are stored, each as a row of n elements. The last element of the upper
// diagonal and the first of the lower one are outside of the matrix and are not read. Batches of matrices, whose batch dimensions
// are equal; float, double, complex64, complex128.
//   TridiagonalMatMul(superdiag, maindiag, subdiag, rhs)   the product of the matrix and rhs [n, k]; the diagonals are [1, n]
//   TridiagonalSolve(diagonals, rhs)                       X with matrix X = rhs; the diagonals are the rows of a matrix [3, n]
// With partial_pivoting TridiagonalSolve exchanges neighbouring rows where the lower one has the greater pivot (LAPACK's gtsv);
// without it, by the algorithm of Thomas. InvalidArgument, naming the matrix, if a pivot is zero. NaN gives NaN.
#include <array>
#include <vector>

#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/ops/broadcast_gradients.h"
#include "kernels/ops/linalg/matrices-inl.h"
#include "kernels/ops/linalg/matrix_gradients.h"

namespace troupe {
namespace {

/// Returns the shape of rhs as far as diagonals of shape [..., rows, n] tell it.
Result<PartialShape> right_shape(const PartialShape& of_diagonals, std::string_view name, int64_t rows,
                                 const PartialShape& of_rhs) {
  TROUPE_ASSIGN(const MatrixShape diagonals, matrix_shape(of_diagonals, name));
  TROUPE_ASSIGN(const MatrixShape rhs, matrix_shape(of_rhs, "rhs"));
  const auto batch = merge(diagonals.batch, rhs.batch);
  const auto sizes = merge(PartialShape{diagonals.rows, diagonals.columns}, PartialShape{rows, rhs.rows});
  if (batch && sizes) return concatenate(*batch, PartialShape{(*sizes)[1], rhs.columns});
  return invalid_argument(std::string(name) + " of shape " + of_diagonals.text() + " and rhs of shape " +
                          of_rhs.text() + " do not fit: they must have shapes [...," + std::to_string(rows) +
                          ",n] and [...,n,k]");
}

/// Adds `factor` times a row to another.
template <class T>
void add_times(T* row, const T* other, T factor, int64_t columns) {
  for (int64_t j = 0; j < columns; ++j) row[j] += factor * other[j];
}

template <class T>
void divide(T* row, T divisor, int64_t columns) {
  for (int64_t j = 0; j < columns; ++j) row[j] /= divisor;
}

// ---- TridiagonalMatMul

constexpr std::array diagonal_names = {"superdiag", "maindiag", "subdiag"};

Result<PartialShape> product_shape(std::array<const PartialShape*, 3> diagonals, const PartialShape& rhs) {
  PartialShape result = rhs;
  for (size_t i = 0; i < 3; ++i) {
    TROUPE_ASSIGN(result, right_shape(*diagonals[i], diagonal_names[i], 1, result));
  }
  return result;
}

Status matmul_shape(ShapeContext& context) {
  TROUPE_ASSIGN(PartialShape shape,
                product_shape({&context.input(0), &context.input(1), &context.input(2)}, context.input(3)));
  context.set_output(0, std::move(shape));
  return {};
}

struct ProductArguments {
  const Tensor &upper, &main, &lower, &rhs;
  Tensor& output;
};

Result<ProductArguments> check_matmul(KernelContext& context) {
  const PartialShape upper = context.input(0).shape(), main = context.input(1).shape(),
                     lower = context.input(2).shape();
  const Tensor& rhs = context.input(3);
  TROUPE_RETURN_IF_FAILED(product_shape({&upper, &main, &lower}, rhs.shape()).status());
  TROUPE_ASSIGN(Tensor* const output, context.output(0, rhs.shape()));
  return ProductArguments{context.input(0), context.input(1), context.input(2), rhs, *output};
}

template <class T>
void multiply(const ProductArguments& arguments, Pool& pool) {
  const auto dims = arguments.rhs.shape().dims();
  const int64_t n = dims[dims.size() - 2], columns = dims.back();
  const T *const upper = arguments.upper.as<T>().data(), *const main = arguments.main.as<T>().data(),
                 *const lower = arguments.lower.as<T>().data(), *const rhs = arguments.rhs.as<T>().data();
  T* const output = arguments.output.write<T>().data();
  const auto rows = static_cast<size_t>(arguments.rhs.elements() / columns);
  parallel_rows(pool, rows, 4 * sizeof(T) * static_cast<size_t>(columns), [&](size_t begin, size_t end) {
    for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
      const T* const from = rhs + i * columns;
      T* const to = output + i * columns;
      for (int64_t j = 0; j < columns; ++j) to[j] = main[i] * from[j];
      if (i % n != 0) add_times(to, from - columns, lower[i], columns);
      if (i % n != n - 1) add_times(to, from + columns, upper[i], columns);
    }
  });
}

void compute_matmul(const ProductArguments& arguments, DeviceContext& device) {
  if (arguments.output.elements() == 0) return;
  with_type(MatrixTypes{}, arguments.rhs.dtype(),
            [&]<class T>(std::type_identity<T>) { multiply<T>(arguments, device.pool()); });
}

// ---- TridiagonalSolve

Status solve_shape(ShapeContext& context) {
  TROUPE_ASSIGN(PartialShape shape, right_shape(context.input(0), "diagonals", 3, context.input(1)));
  context.set_output(0, std::move(shape));
  return {};
}

struct SolveArguments {
  const Tensor &diagonals, &rhs;
  Tensor& output;
  bool pivots;
};

Result<SolveArguments> check_solve(KernelContext& context) {
  const Tensor &diagonals = context.input(0), &rhs = context.input(1);
  TROUPE_RETURN_IF_FAILED(right_shape(diagonals.shape(), "diagonals", 3, rhs.shape()).status());
  TROUPE_ASSIGN(Tensor* const output, context.output(0, rhs.shape()));
  return SolveArguments{diagonals, rhs, *output, context.node().attrs.get<bool>("partial_pivoting")};
}

/// Linear equations, whose right-hand sides become the solution.
template <class T>
struct Equations {
  const T *upper, *main, *lower;
  T* x;
  int64_t n, columns;

  T* row(int64_t i) const { return x + i * columns; }
};

/// Eliminates row by row and exchanges neighbouring rows. Returns false if a pivot is zero. A row of `factors` has the elements of
/// the triangular factor from the diagonal on.
template <class T>
bool solve_with_pivots(const Equations<T>& of, std::vector<std::array<T, 3>>& factors) {
  std::array<T, 3> row = {of.main[0], of.n > 1 ? of.upper[0] : T(0), T(0)};
  for (int64_t i = 0; i + 1 < of.n; ++i) {
    std::array<T, 3> below = {of.lower[i + 1], of.main[i + 1], i + 2 < of.n ? of.upper[i + 1] : T(0)};
    if (!(std::abs(row[0]) >= std::abs(below[0]))) {
      std::swap(row, below);
      std::swap_ranges(of.row(i), of.row(i + 1), of.row(i + 1));
    }
    if (row[0] == T(0)) return false;
    const T factor = below[0] / row[0];
    add_times(of.row(i + 1), of.row(i), -factor, of.columns);
    factors[static_cast<size_t>(i)] = row;
    row = {below[1] - factor * row[1], below[2] - factor * row[2], T(0)};
  }
  if (row[0] == T(0)) return false;
  factors[static_cast<size_t>(of.n - 1)] = row;
  for (int64_t i = of.n - 1; i >= 0; --i) {
    const auto& [pivot, next, second] = factors[static_cast<size_t>(i)];
    if (i + 1 < of.n) add_times(of.row(i), of.row(i + 1), -next, of.columns);
    if (i + 2 < of.n) add_times(of.row(i), of.row(i + 2), -second, of.columns);
    divide(of.row(i), pivot, of.columns);
  }
  return true;
}

/// The algorithm of Thomas. Returns false if a pivot is zero. The second element of a row of `factors` is the one beside the
/// diagonal of the triangular factor, whose diagonal is 1.
template <class T>
bool solve_without_pivots(const Equations<T>& of, std::vector<std::array<T, 3>>& factors) {
  T beside(0);
  for (int64_t i = 0; i < of.n; ++i) {
    const T pivot = i == 0 ? of.main[0] : of.main[i] - of.lower[i] * beside;
    if (pivot == T(0)) return false;
    if (i > 0) add_times(of.row(i), of.row(i - 1), -of.lower[i], of.columns);
    divide(of.row(i), pivot, of.columns);
    beside = of.upper[i] / pivot;
    factors[static_cast<size_t>(i)][1] = beside;
  }
  for (int64_t i = of.n - 2; i >= 0; --i)
    add_times(of.row(i), of.row(i + 1), -factors[static_cast<size_t>(i)][1], of.columns);
  return true;
}

template <class T>
Status solve(const SolveArguments& arguments, DeviceContext& device) {
  const Matrices<const T> diagonals(arguments.diagonals), rhs(arguments.rhs);
  const Matrices<T> output(arguments.output);
  const int64_t n = rhs.rows(), columns = rhs.columns();
  const std::string_view text = arguments.pivots
                                    ? "The matrix is not invertible."
                                    : "The matrix is either not invertible, or requires pivoting. "
                                      "Try setting partial_pivoting = True.";
  return for_each_matrix(device.pool(), batch_size(arguments.output), 8 * n * (columns + 2), [&] {
    return [&, text,
            factors = std::vector<std::array<T, 3>>(static_cast<size_t>(n))](size_t i) mutable -> Status {
      const T* const upper = diagonals[i].data();
      std::copy_n(rhs[i].data(), n * columns, output[i].data());
      const Equations<T> equations{upper, upper + n, upper + 2 * n, output[i].data(), n, columns};
      const bool solved =
          arguments.pivots ? solve_with_pivots(equations, factors) : solve_without_pivots(equations, factors);
      return solved ? Status() : matrix_error(arguments.diagonals, "diagonals", i, text);
    };
  });
}

Status compute_solve(const SolveArguments& arguments, DeviceContext& device) {
  Status status;
  if (arguments.output.elements() != 0)
    with_type(MatrixTypes{}, arguments.rhs.dtype(),
              [&]<class T>(std::type_identity<T>) { status = solve<T>(arguments, device); });
  return status;
}

// ---- Gradients

/// Rows `begin` to `end` of the matrices; without limit where a mask has bit 2.
Output rows_between(const Scope& scope, Output x, int64_t begin, int64_t end, int64_t begin_mask,
                    int64_t end_mask) {
  return strided_slice(scope, x, integer_constants(scope, Dims{0, begin, 0}),
                       integer_constants(scope, Dims{0, end, 0}), integer_constants(scope, Dims{1, 1, 1}),
                       begin_mask | 4, end_mask | 4, 1);
}

/// The matrices with row i + 1, or i - 1, in place of row i, and a row of zeros at the end.
Output rows_after(const Scope& scope, Output x) {
  const Output zeros = zeros_like(scope, rows_between(scope, x, 0, 1, 2, 0));
  return concat(scope, {rows_between(scope, x, 1, 0, 0, 2), zeros}, -2);
}
Output rows_before(const Scope& scope, Output x) {
  const Output zeros = zeros_like(scope, rows_between(scope, x, 0, 1, 2, 0));
  return concat(scope, {zeros, rows_between(scope, x, 0, -1, 2, 0)}, -2);
}

/// The same for columns.
Output columns_after(const Scope& scope, Output x) {
  const Output one = integer_constant(scope, 1);
  return concat(scope, {other_columns(scope, x, one), zeros_like(scope, first_columns(scope, x, one))}, -1);
}
Output columns_before(const Scope& scope, Output x) {
  const Output one = integer_constant(scope, 1), minus_one = integer_constant(scope, -1);
  return concat(scope, {zeros_like(scope, first_columns(scope, x, one)), first_columns(scope, x, minus_one)},
                -1);
}

/// The three diagonals of a product z x^H, each as a row.
std::array<Output, 3> diagonals_of_product(const Scope& scope, Output z, Output x) {
  const Output conjugated = conjugate(scope, x);
  std::array<Output, 3> result = {rows_after(scope, conjugated), conjugated, rows_before(scope, conjugated)};
  for (Output& diagonal : result) diagonal = expand_dims(scope, sum(scope, mul(scope, z, diagonal), -1), -2);
  return result;
}

/// The three diagonals of the adjoint of a matrix.
std::array<Output, 3> adjoint_diagonals(const Scope& scope, Output upper, Output main, Output lower) {
  return {conjugate(scope, columns_after(scope, lower)), conjugate(scope, main),
          conjugate(scope, columns_before(scope, upper))};
}

/// The gradient of the matrix is g rhs^H, and that of rhs is matrix^H g.
void matmul_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output g = context.gradient();
  const auto diagonals = diagonals_of_product(scope, g, context.input(3));
  for (size_t i = 0; i < 3; ++i) context.set(i, diagonals[i]);
  const auto [upper, main, lower] =
      adjoint_diagonals(scope, context.input(0), context.input(1), context.input(2));
  context.set(3, scope.add_one("TridiagonalMatMul", {upper, main, lower, g}));
}

/// With X the solution and Z that of the adjoint equations for the gradient: Z for rhs, and -Z X^H for the matrix.
void solve_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output diagonals = context.input(0);
  const auto row = [&](int64_t i) { return rows_between(scope, diagonals, i, i + 1, 0, 0); };
  const auto [upper, main, lower] = adjoint_diagonals(scope, row(0), row(1), row(2));
  const Output z =
      scope.add_one("TridiagonalSolve", {concat(scope, {upper, main, lower}, -2), context.gradient()},
                    {{"partial_pivoting", context.attr<bool>("partial_pivoting")}});
  const auto of_matrix = diagonals_of_product(scope, z, context.output(0));
  context.set(0, neg(scope, concat(scope, {of_matrix[0], of_matrix[1], of_matrix[2]}, -2)));
  context.set(1, z);
}

}  // namespace

void add_tridiagonal_ops(OpLibrary& library) {
  library.op(OpDefBuilder("TridiagonalMatMul")
                 .input("superdiag: T")
                 .input("maindiag: T")
                 .input("subdiag: T")
                 .input("rhs: T")
                 .output("output: T")
                 .attr("T: {double, float, complex64, complex128}")
                 .constructor("tridiagonal_mat_mul(superdiag, maindiag, subdiag, rhs)")
                 .shape(matmul_shape)
                 .gradient(matmul_gradient));
  library.kernel(cpu_kernel("TridiagonalMatMul", check_matmul, compute_matmul));
  library.op(OpDefBuilder("TridiagonalSolve")
                 .input("diagonals: T")
                 .input("rhs: T")
                 .output("output: T")
                 .attr("partial_pivoting: bool = true")
                 .attr("T: {double, float, complex64, complex128}")
                 .constructor("tridiagonal_solve(diagonals, rhs, partial_pivoting)")
                 .shape(solve_shape)
                 .gradient(solve_gradient));
  library.kernel(cpu_kernel("TridiagonalSolve", check_solve, compute_solve));
}

}  // namespace troupe
