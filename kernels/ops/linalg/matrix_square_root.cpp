// MatrixSquareRoot(input): the principal square roots of square matrices, in the last two dimensions: the real parts of their
// eigenvalues are not negative. By a Schur decomposition and the recurrence for its triangular factor (Higham, "Computing real
// square roots of a real matrix", 1987). Float, double, complex64, complex128, computed in double. A matrix with an element that is
// not finite gives NaN, and so does one without such a root: a real one with a negative eigenvalue, or one whose eigenvalue 0 is
// defective. InvalidArgument, naming the matrix, if the decomposition does not converge.
// The gradient solves the equation of Sylvester R^H x + x R^H = g, where R is the root, as n^2 linear equations.
#include <limits>
#include <unsupported/Eigen/MatrixFunctions>

#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/ops/linalg/matrices-inl.h"
#include "kernels/ops/linalg/matrix_gradients.h"

namespace troupe {
namespace {

struct RootArguments {
  const Tensor& input;
  Tensor& output;
};

Result<RootArguments> check_root(KernelContext& context) {
  const Tensor& input = context.input(0);
  TROUPE_RETURN_IF_FAILED(square_matrix_shape(input.shape(), "input").status());
  TROUPE_ASSIGN(Tensor* const output, context.output(0, input.shape()));
  return RootArguments{input, *output};
}

/// Returns true if a real eigenvalue, a block of one element on the diagonal, is negative.
bool has_negative_eigenvalue(const Matrix<double>& t) {
  const int64_t n = t.rows();
  for (int64_t i = 0; i < n; ++i) {
    const bool is_pair = i + 1 < n && t(i + 1, i) != 0;
    if (!is_pair && t(i, i) < 0) return true;
    if (is_pair) ++i;
  }
  return false;
}

/// Sets `root`, which is zero, to the square root of the triangular factor of a decomposition; to NaN if there is none.
void root_of_factor(const Matrix<double>& t, Matrix<double>& root) {
  if (has_negative_eigenvalue(t))
    root.setConstant(std::numeric_limits<double>::quiet_NaN());
  else
    Eigen::matrix_sqrt_quasi_triangular(t, root);
}
void root_of_factor(const Matrix<std::complex<double>>& t, Matrix<std::complex<double>>& root) {
  Eigen::matrix_sqrt_triangular(t, root);
}

template <class T>
Status compute_roots(const RootArguments& arguments, DeviceContext& device) {
  using D = DoubleType<T>;
  using Schur =
      std::conditional_t<is_complex_type<T>, Eigen::ComplexSchur<Matrix<D>>, Eigen::RealSchur<Matrix<D>>>;
  const Matrices<const T> input(arguments.input);
  const Matrices<T> output(arguments.output);
  const int64_t n = input.rows();
  const T nan(std::numeric_limits<typename Eigen::NumTraits<T>::Real>::quiet_NaN());
  return for_each_matrix(device.pool(), batch_size(arguments.input), 30 * n * n * n, [&] {
    return
        [&, schur = Schur(n), matrix = Matrix<D>(n, n), root = Matrix<D>(n, n)](size_t i) mutable -> Status {
          matrix = input[i].template cast<D>();
          if (!matrix.allFinite()) {
            output[i].setConstant(nan);
            return {};
          }
          schur.compute(matrix);
          if (schur.info() != Eigen::Success)
            return matrix_error(arguments.input, "input", i, "the Schur decomposition did not converge");
          root.setZero();
          root_of_factor(schur.matrixT(), root);
          matrix.noalias() = schur.matrixU() * root * schur.matrixU().adjoint();
          output[i] = matrix.template cast<T>();
          return {};
        };
  });
}

Status compute_root(const RootArguments& arguments, DeviceContext& device) {
  Status status;
  if (arguments.output.elements() != 0)
    with_type(MatrixTypes{}, arguments.input.dtype(),
              [&]<class T>(std::type_identity<T>) { status = compute_roots<T>(arguments, device); });
  return status;
}

/// With the elements of x and g row by row, the equation of Sylvester is K^H x = g, where K = R (x) 1 + 1 (x) R^T.
void root_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output root = context.output(0), shape = shape_of(scope, root);
  const Output one = matrix_diag(scope, ones_like(scope, matrix_diag_part(scope, root)));
  const Output left = einsum(scope, "...ij,...kl->...ikjl", {root, one});
  const Output right = einsum(scope, "...ij,...lk->...ikjl", {one, root});
  const auto part = [&](int64_t begin, int64_t end, int64_t begin_mask, int64_t end_mask) {
    return strided_slice(scope, shape, integer_constants(scope, Dims{begin}),
                         integer_constants(scope, Dims{end}), integer_constants(scope, Dims{1}), begin_mask,
                         end_mask);
  };
  const Output batch = part(0, -2, 1, 0), n = part(-1, 0, 0, 1), count = mul(scope, n, n);
  const Output k = reshape(scope, add(scope, left, right), concat(scope, {batch, count, count}, 0));
  const Output g =
      reshape(scope, context.gradient(), concat(scope, {batch, count, integer_constants(scope, Dims{1})}, 0));
  context.set(0, reshape(scope, scope.add_one("MatrixSolve", {k, g}, {{"adjoint", true}}), shape));
}

}  // namespace

void add_matrix_square_root(OpLibrary& library) {
  library.op(OpDefBuilder("MatrixSquareRoot")
                 .input("input: T")
                 .output("output: T")
                 .attr("T: {double, float, half, complex64, complex128}")
                 .constructor("matrix_square_root(input)")
                 .shape(square_matrices_shape)
                 .gradient(root_gradient));
  library.kernel(cpu_kernel("MatrixSquareRoot", check_root, compute_root).on("T", dtypes(MatrixTypes{})));
}

}  // namespace troupe
