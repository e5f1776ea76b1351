// The Cholesky factorization of Hermitian positive definite matrices, in the last two dimensions; float, double, complex64 and
// complex128, by Eigen's LLT.
//   Cholesky(input)          the lower triangular L with L L^H = input; reads the lower triangle of the input only
//   CholeskyGrad(l, grad)    the gradient of Cholesky from L and the gradient of L, float and double: reads lower triangles only
// The gradient of Cholesky is symmetric, as in TensorFlow: half of it belongs to the upper triangle. It is L^-H P L^-1 with
// P the lower triangle of L^H grad with half its diagonal, plus its adjoint, halved (Murray, "Differentiation of the Cholesky
// decomposition", 2016). InvalidArgument, naming the matrix, if one is not positive definite. NaN gives NaN.
#include <Eigen/Cholesky>

#include "kernels/constructors.h"
#include "kernels/ops/linalg/matrices-inl.h"
#include "kernels/ops/linalg/matrix_gradients.h"

namespace troupe {
namespace {

struct CholeskyArguments {
  const Tensor& input;
  Tensor& output;
};

Result<CholeskyArguments> check_cholesky(KernelContext& context) {
  const Tensor& input = context.input(0);
  TROUPE_RETURN_IF_FAILED(square_matrix_shape(input.shape(), "input").status());
  TROUPE_ASSIGN(Tensor* const output, context.output(0, input.shape()));
  return CholeskyArguments{input, *output};
}

template <class T>
Status factorize(const CholeskyArguments& arguments, DeviceContext& device) {
  const Matrices<const T> input(arguments.input);
  const Matrices<T> output(arguments.output);
  const int64_t n = input.rows();
  return for_each_matrix(device.pool(), batch_size(arguments.input), n * n * n / 3, [&] {
    return [&, factors = Eigen::LLT<Matrix<T>>(n)](size_t i) mutable -> Status {
      factors.compute(input[i]);
      if (factors.info() != Eigen::Success)
        return matrix_error(arguments.input, "input", i,
                            "Cholesky decomposition was not successful. The input might not be valid: the "
                            "matrix is not positive definite.");
      output[i] = factors.matrixL();
      return {};
    };
  });
}

Status compute_cholesky(const CholeskyArguments& arguments, DeviceContext& device) {
  Status status;
  if (arguments.output.elements() != 0)
    with_type(MatrixTypes{}, arguments.input.dtype(),
              [&]<class T>(std::type_identity<T>) { status = factorize<T>(arguments, device); });
  return status;
}

void cholesky_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output l = context.output(0);
  const Output p = lower_triangle(
      scope, with_half_diagonal(scope, product(scope, l, context.gradient(), Factor::Adjoint)));
  const Output left = triangular_solve(scope, l, p, true, Factor::Adjoint);  // L^-H P
  const Output both = triangular_solve(scope, l, adjoint(scope, left), true, Factor::Adjoint);
  context.set(0, mul(scope, add(scope, both, adjoint(scope, both)), 0.5));
}

// ---- CholeskyGrad

struct CholeskyGradArguments {
  const Tensor &l, &grad;
  Tensor& output;
};

Status cholesky_grad_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto shape, merge(context.input(0), context.input(1)));
  TROUPE_ASSIGN(const MatrixShape matrices, square_matrix_shape(shape, "l"));
  context.set_output(0, matrices.with(matrices.rows, matrices.columns));
  return {};
}

Result<CholeskyGradArguments> check_cholesky_grad(KernelContext& context) {
  const Tensor &l = context.input(0), &grad = context.input(1);
  if (l.shape() != grad.shape())
    return invalid_argument("l is " + l.signature() + ", grad is " + grad.signature());
  TROUPE_RETURN_IF_FAILED(square_matrix_shape(l.shape(), "l").status());
  TROUPE_ASSIGN(Tensor* const output, context.output(0, l.shape()));
  return CholeskyGradArguments{l, grad, *output};
}

template <class T>
Status differentiate(const CholeskyGradArguments& arguments, DeviceContext& device) {
  const Matrices<const T> l(arguments.l), grad(arguments.grad);
  const Matrices<T> output(arguments.output);
  const int64_t n = l.rows();
  return for_each_matrix(device.pool(), batch_size(arguments.l), 2 * n * n * n, [&] {
    return [&, factor = Matrix<T>(n, n), lower = Matrix<T>(n, n), p = Matrix<T>(n, n)](size_t i) mutable {
      factor = l[i];
      lower = grad[i].template triangularView<Eigen::Lower>();
      p.noalias() = factor.template triangularView<Eigen::Lower>().adjoint() * lower;
      p.diagonal() *= T(0.5);
      p.template triangularView<Eigen::StrictlyUpper>().setZero();
      factor.template triangularView<Eigen::Lower>().adjoint().solveInPlace(p);
      lower = p.transpose();
      factor.template triangularView<Eigen::Lower>().adjoint().solveInPlace(lower);
      output[i] = (lower + lower.transpose()) * T(0.5);
      return Status();
    };
  });
}

Status compute_cholesky_grad(const CholeskyGradArguments& arguments, DeviceContext& device) {
  Status status;
  if (arguments.output.elements() != 0)
    with_type(FloatTypes{}, arguments.l.dtype(),
              [&]<class T>(std::type_identity<T>) { status = differentiate<T>(arguments, device); });
  return status;
}

}  // namespace

void add_cholesky_ops(OpLibrary& library) {
  library.op(OpDefBuilder("Cholesky")
                 .former_name("BatchCholesky")
                 .input("input: T")
                 .output("output: T")
                 .attr("T: {double, float, half, complex64, complex128}")
                 .constructor("cholesky(input)")
                 .shape(square_matrices_shape)
                 .gradient(cholesky_gradient));
  library.kernel(cpu_kernel("Cholesky", check_cholesky, compute_cholesky).on("T", dtypes(MatrixTypes{})));
  library.op(OpDefBuilder("CholeskyGrad")
                 .former_name("BatchCholeskyGrad")
                 .input("l: T")
                 .input("grad: T")
                 .output("output: T")
                 .attr("T: {half, float, double}")
                 .shape(cholesky_grad_shape));
  library.kernel(
      cpu_kernel("CholeskyGrad", check_cholesky_grad, compute_cholesky_grad).on("T", dtypes(FloatTypes{})));
}

}  // namespace troupe
