// MatrixSolveLs(matrix, rhs, l2_regularizer): for the matrices A [m, n] and B [m, k] in the last two dimensions, the X [n, k] that
// minimises |A X - B|^2 + l2_regularizer |X|^2; of several such X the one of least norm. The batch dimensions are equal. Float,
// double, complex64, complex128.
//   fast       by the normal equations and Cholesky's factorization: (A^H A + l I) X = A^H B, or for m < n
//              X = A^H (A A^H + l I)^-1 B. InvalidArgument, naming the matrix, if that factorization fails.
//   not fast   by Eigen's complete orthogonal decomposition, for matrices of any rank; the regularizer is not used
// InvalidArgument if the regularizer is negative or NaN. The gradients for matrix and rhs are those of TensorFlow, and exist
// for `fast` only. So does that of the regularizer, which TensorFlow leaves out.
#include <Eigen/Cholesky>
#include <Eigen/QR>

#include "graph/build/control_flow.h"
#include "kernels/constructors.h"
#include "kernels/ops/broadcast_gradients.h"
#include "kernels/ops/linalg/matrices-inl.h"
#include "kernels/ops/linalg/matrix_gradients.h"

namespace troupe {
namespace {

Result<PartialShape> least_squares_shape(const PartialShape& of_matrix, const PartialShape& of_rhs) {
  TROUPE_ASSIGN(const MatrixShape matrix, matrix_shape(of_matrix, "matrix"));
  TROUPE_ASSIGN(const MatrixShape rhs, matrix_shape(of_rhs, "rhs"));
  const auto batch = merge(matrix.batch, rhs.batch);
  if (!batch || !merge(PartialShape{matrix.rows}, PartialShape{rhs.rows}).ok())
    return invalid_argument("matrix of shape " + of_matrix.text() + " and rhs of shape " + of_rhs.text() +
                            " do not fit");
  return concatenate(*batch, PartialShape{matrix.columns, rhs.columns});
}

Status solve_ls_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(2, 0).status());
  TROUPE_ASSIGN(PartialShape shape, least_squares_shape(context.input(0), context.input(1)));
  context.set_output(0, std::move(shape));
  return {};
}

struct SolveLsArguments {
  const Tensor &matrix, &rhs;
  Tensor& output;
  double regularizer;
  bool fast;
};

Result<SolveLsArguments> check_solve_ls(KernelContext& context) {
  const Tensor &matrix = context.input(0), &rhs = context.input(1), &regularizer = context.input(2);
  if (!regularizer.shape().is_scalar())
    return invalid_argument("l2_regularizer of shape " + regularizer.shape().text() + " is not a scalar");
  const double l = regularizer.as<double>()[0];
  if (!(l >= 0)) return invalid_argument("l2_regularizer is " + std::to_string(l) + ", it must be 0 or more");
  TROUPE_ASSIGN(const PartialShape partial, least_squares_shape(matrix.shape(), rhs.shape()));
  TROUPE_ASSIGN(const Shape shape, partial.to_shape(rhs.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return SolveLsArguments{matrix, rhs, *output, l, context.node().attrs.get<bool>("fast")};
}

/// Returns whether the normal equations could be solved.
template <class T>
bool solve_fast(const Matrix<T>& a, const Matrix<T>& b, double regularizer, Matrix<T>& x) {
  const bool tall = a.rows() >= a.cols();
  Matrix<T> gram = tall ? Matrix<T>(a.adjoint() * a) : Matrix<T>(a * a.adjoint());
  gram.diagonal().array() += T(static_cast<typename Eigen::NumTraits<T>::Real>(regularizer));
  const Eigen::LLT<Matrix<T>> factors(gram);
  if (factors.info() != Eigen::Success) return false;
  if (tall)
    x = factors.solve(a.adjoint() * b);
  else
    x = a.adjoint() * factors.solve(b);
  return true;
}

template <class T>
Status solve_ls(const SolveLsArguments& arguments, DeviceContext& device) {
  const Matrices<const T> matrix(arguments.matrix), rhs(arguments.rhs);
  const Matrices<T> output(arguments.output);
  const int64_t least = std::min(matrix.rows(), matrix.columns());
  const int64_t operations = matrix.rows() * matrix.columns() * (least + rhs.columns()) + 1;
  return for_each_matrix(device.pool(), batch_size(arguments.output), operations, [&] {
    return [&, a = Matrix<T>(), b = Matrix<T>(), x = Matrix<T>()](size_t i) mutable -> Status {
      a = matrix[i];
      b = rhs[i];
      if (least == 0)
        x.setZero(a.cols(), b.cols());
      else if (!arguments.fast)
        x = a.completeOrthogonalDecomposition().solve(b);
      else if (!solve_fast(a, b, arguments.regularizer, x))
        return matrix_error(
            arguments.matrix, "matrix", i,
            "Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide "
            "a larger l2_regularizer > 0.");
      output[i] = x;
      return {};
    };
  });
}

Status compute_solve_ls(const SolveLsArguments& arguments, DeviceContext& device) {
  Status status;
  if (arguments.output.elements() != 0)
    with_type(MatrixTypes{}, arguments.rhs.dtype(),
              [&]<class T>(std::type_identity<T>) { status = solve_ls<T>(arguments, device); });
  return status;
}

// ---- Gradients

/// The nodes that both cases read.
struct Equations {
  Output a, b, l, x, g;

  /// Returns the solution of (gram + l I) y = right.
  Output solve(const Scope& scope, Output gram, Output right) const {
    const Output diagonal = add(scope, matrix_diag_part(scope, gram), cast(scope, l, scope.dtype(gram)));
    return scope.add_one("MatrixSolve", {matrix_set_diag(scope, gram, diagonal), right});
  }
  /// Returns minus the real part of the sum of conj(x) y, in double.
  Output less_inner_product(const Scope& scope, Output left, Output right) const {
    const Output products = mul(scope, conjugate(scope, left), right);
    const Output real =
        scope.dtype(products) == f32 || scope.dtype(products) == f64 ? products : real_part(scope, products);
    return neg(scope, cast(scope, sum(scope, real), f64));
  }
};

/// Returns the gradients of matrix, rhs and regularizer for m >= n.
std::vector<Output> tall_gradients(const Scope& scope, const Equations& e) {
  const Output z = e.solve(scope, product(scope, e.a, e.a, Factor::Adjoint), e.g);
  const Output az = product(scope, e.a, z);
  const Output rest = sub(scope, e.b, product(scope, e.a, e.x));
  const Output of_a = sub(scope, product(scope, rest, z, Factor::Plain, Factor::Adjoint),
                          product(scope, az, e.x, Factor::Plain, Factor::Adjoint));
  return {of_a, az, e.less_inner_product(scope, z, e.x)};
}

/// Returns the gradients for m < n.
std::vector<Output> wide_gradients(const Scope& scope, const Equations& e) {
  const Output gram = product(scope, e.a, e.a, Factor::Plain, Factor::Adjoint);
  const Output w = e.solve(scope, gram, product(scope, e.a, e.g)), y = e.solve(scope, gram, e.b);
  const Output rest = sub(scope, e.g, product(scope, e.a, w, Factor::Adjoint));
  const Output of_a = sub(scope, product(scope, y, rest, Factor::Plain, Factor::Adjoint),
                          product(scope, w, e.x, Factor::Plain, Factor::Adjoint));
  return {of_a, w, e.less_inner_product(scope, w, y)};
}

void solve_ls_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  if (!context.attr<bool>("fast"))
    throw Error(Status(Code::Unimplemented, "MatrixSolveLs has a gradient only if fast is true"));
  const Equations equations{context.input(0), context.input(1), context.input(2), context.output(0),
                            context.gradient()};
  const PartialShape shape = scope.shape(equations.a);
  std::vector<Output> gradients;
  if (shape.known_rank() && shape.dims().back() != unknown_dim && shape[shape.rank() - 2] != unknown_dim) {
    const bool tall = shape[shape.rank() - 2] >= shape.dims().back();
    gradients = tall ? tall_gradients(scope, equations) : wide_gradients(scope, equations);
  } else {
    const Output sizes = shape_of(scope, equations.a), count = rank(scope, equations.a);
    const Output rows = gather(scope, sizes, sub(scope, count, 2)),
                 columns = gather(scope, sizes, sub(scope, count, 1));
    gradients = cond(
        scope, greater_equal(scope, rows, columns),
        [&](const Scope& s) { return tall_gradients(s, equations); },
        [&](const Scope& s) { return wide_gradients(s, equations); });
  }
  for (size_t i = 0; i < 3; ++i) context.set(i, gradients[i]);
}

}  // namespace

void add_matrix_solve_ls(OpLibrary& library) {
  library.op(OpDefBuilder("MatrixSolveLs")
                 .former_name("BatchMatrixSolveLs")
                 .input("matrix: T")
                 .input("rhs: T")
                 .host_input("l2_regularizer: double")
                 .output("output: T")
                 .attr("T: {double, float, half, complex64, complex128}")
                 .attr("fast: bool = true")
                 .constructor("matrix_solve_ls(matrix, rhs, l2_regularizer = 0, fast)")
                 .shape(solve_ls_shape)
                 .gradient(solve_ls_gradient));
  library.kernel(
      cpu_kernel("MatrixSolveLs", check_solve_ls, compute_solve_ls).on("T", dtypes(MatrixTypes{})));
}

}  // namespace troupe
