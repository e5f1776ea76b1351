// Qr(input): input = q r for the matrices [m, n] in the last two dimensions, by Householder reflections (Eigen's HouseholderQR).
// The columns of q are orthonormal and r is upper triangular with a real diagonal, of either sign. With p = min(m, n), q is [m, p]
// and r is [p, n]; with full_matrices q is [m, m] and r is [m, n]. Float, double, complex64, complex128. NaN gives NaN.
// The gradient is that of Roberts and Roberts, "QR and LQ decomposition matrix backpropagation algorithms for square, wide, and
// deep matrices" (2020). As in TensorFlow, with full_matrices it needs a known shape and m <= n.
#include <Eigen/QR>

#include "kernels/constructors.h"
#include "kernels/ops/broadcast_gradients.h"
#include "kernels/ops/linalg/matrices-inl.h"
#include "kernels/ops/linalg/matrix_gradients.h"

namespace troupe {
namespace {

/// Returns the shape of the input; `inner` is set to the number of columns of q and rows of r.
Result<MatrixShape> factor_shape(const PartialShape& input, bool full, int64_t& inner) {
  TROUPE_ASSIGN(MatrixShape shape, matrix_shape(input, "input"));
  inner = full ? shape.rows : shape.least();
  return shape;
}

Status qr_shape(ShapeContext& context) {
  int64_t inner = unknown_dim;
  TROUPE_ASSIGN(const MatrixShape input,
                factor_shape(context.input(0), context.attr<bool>("full_matrices"), inner));
  context.set_output(0, input.with(input.rows, inner));
  context.set_output(1, input.with(inner, input.columns));
  return {};
}

struct QrArguments {
  const Tensor& input;
  Tensor &q, &r;
};

Result<QrArguments> check_qr(KernelContext& context) {
  const Tensor& input = context.input(0);
  int64_t inner = 0;
  TROUPE_ASSIGN(const MatrixShape shape,
                factor_shape(input.shape(), context.node().attrs.get<bool>("full_matrices"), inner));
  TROUPE_ASSIGN(const Shape q_shape, shape.with(shape.rows, inner).to_shape(input.dtype()));
  TROUPE_ASSIGN(const Shape r_shape, shape.with(inner, shape.columns).to_shape(input.dtype()));
  TROUPE_ASSIGN(Tensor* const q, context.output(0, q_shape));
  TROUPE_ASSIGN(Tensor* const r, context.output(1, r_shape));
  return QrArguments{input, *q, *r};
}

template <class T>
Status factorize(const QrArguments& arguments, DeviceContext& device) {
  const Matrices<const T> input(arguments.input);
  const Matrices<T> q(arguments.q), r(arguments.r);
  const int64_t rows = input.rows(), columns = input.columns(), least = std::min(rows, columns);
  const int64_t operations = rows * (columns * least + q.columns() * least + 1);
  return for_each_matrix(device.pool(), batch_size(arguments.q), operations, [&] {
    return [&, factors = Eigen::HouseholderQR<Matrix<T>>(rows, columns),
            left = Matrix<T>(rows, q.columns())](size_t i) mutable {
      left.setIdentity();
      if (least != 0) {
        factors.compute(input[i]);
        left.applyOnTheLeft(factors.householderQ());
        r[i].setZero();
        r[i].topRows(least) = factors.matrixQR().topRows(least).template triangularView<Eigen::Upper>();
      }
      q[i] = left;
      return Status();
    };
  });
}

Status compute_qr(const QrArguments& arguments, DeviceContext& device) {
  Status status;
  if (arguments.q.elements() != 0)
    with_type(MatrixTypes{}, arguments.input.dtype(),
              [&]<class T>(std::type_identity<T>) { status = factorize<T>(arguments, device); });
  return status;
}

// ---- Gradient

/// x R^-H.
Output over_adjoint(const Scope& scope, Output x, Output r) {
  return adjoint(scope, triangular_solve(scope, r, adjoint(scope, x), false, Factor::Plain));
}

/// The gradient for m >= n and factors q [m, n] and r [n, n], from theirs.
Output deep_gradient(const Scope& scope, Output q, Output r, Output dq, Output dr) {
  const Output q_dq = product(scope, q, dq, Factor::Adjoint);
  const Output r_dr = product(scope, r, dr, Factor::Plain, Factor::Adjoint);
  const Output sums =
      add(scope, sub(scope, q_dq, adjoint(scope, q_dq)), sub(scope, r_dr, adjoint(scope, r_dr)));
  const Output triangle = over_adjoint(scope, lower_triangle(scope, sums), r);
  const Output inside = product(scope, q, add(scope, dr, triangle));
  const Output outside = over_adjoint(scope, sub(scope, dq, product(scope, q, q_dq)), r);
  const Output result = add(scope, inside, outside);
  if (!is_complex(scope.dtype(q))) return result;
  // The diagonal of r is real: the imaginary part of its gradient turns the columns of q instead.
  const Output diagonal = matrix_diag_part(scope, sub(scope, r_dr, adjoint(scope, q_dq)));
  const Output real = cast(scope, real_part(scope, diagonal), scope.dtype(q));
  const Output turn = adjoint(scope, matrix_diag(scope, sub(scope, diagonal, real)));
  return add(scope, result, over_adjoint(scope, product(scope, q, turn), r));
}

void qr_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output a = context.input(0), q = context.output(0), r = context.output(1);
  if (context.attr<bool>("full_matrices")) {
    const PartialShape shape = scope.shape(a);
    const size_t rank = shape.rank();
    if (!shape.fully_known() || shape[rank - 2] > shape[rank - 1])
      throw Error(Status(Code::Unimplemented, "Qr with full_matrices has no gradient for input of shape " +
                                                  shape.text() +
                                                  ", unless no matrix has more rows than columns"));
  }
  // a = [x, y] and r = [u, v], where u is square, x = q u and v = q^H y. If m >= n, y and v have no columns.
  const Output dq = context.gradient(0), dr = context.gradient(1);
  const Output inner = gather(scope, shape_of(scope, r), sub(scope, rank(scope, r), 2));
  const Output y = other_columns(scope, a, inner), dv = other_columns(scope, dr, inner);
  const Output of_q = add(scope, dq, product(scope, y, dv, Factor::Plain, Factor::Adjoint));
  const Output dx =
      deep_gradient(scope, q, first_columns(scope, r, inner), of_q, first_columns(scope, dr, inner));
  context.set(0, concat(scope, {dx, product(scope, q, dv)}, -1));
}

}  // namespace

void add_qr(OpLibrary& library) {
  library.op(OpDefBuilder("Qr")
                 .input("input: T")
                 .output("q: T")
                 .output("r: T")
                 .attr("full_matrices: bool = false")
                 .attr("T: {double, float, half, complex64, complex128}")
                 .constructor("qr(input, full_matrices) -> q")
                 .shape(qr_shape)
                 .gradient(qr_gradient));
  library.kernel(cpu_kernel("Qr", check_qr, compute_qr).on("T", dtypes(MatrixTypes{})));
}

}  // namespace troupe
