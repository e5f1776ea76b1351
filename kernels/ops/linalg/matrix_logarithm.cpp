// MatrixLogarithm(input): the principal logarithms of square matrices, in the last two dimensions: the imaginary parts of their
// eigenvalues are in (-pi, pi]. complex64 and complex128, computed in complex128, by a Schur decomposition (Eigen's ComplexSchur)
// and inverse scaling and squaring of its triangular factor (Higham, "Functions of matrices", 2008, algorithm 11.9). A matrix that
// is singular, or has an element that is not finite, has no logarithm: it gives NaN. InvalidArgument, naming the matrix, if the
// decomposition does not converge. As in TensorFlow, there is no gradient.
#include <array>
#include <cmath>
#include <limits>
#include <unsupported/Eigen/MatrixFunctions>

#include "kernels/ops/linalg/matrices-inl.h"

namespace troupe {
namespace {

using Number = std::complex<double>;

struct LogarithmArguments {
  const Tensor& input;
  Tensor& output;
};

Result<LogarithmArguments> check_logarithm(KernelContext& context) {
  const Tensor& input = context.input(0);
  TROUPE_RETURN_IF_FAILED(square_matrix_shape(input.shape(), "input").status());
  TROUPE_ASSIGN(Tensor* const output, context.output(0, input.shape()));
  return LogarithmArguments{input, *output};
}

/// Returns log(1 + x) for an upper triangular x of norm 0.264 or less: the integral of x / (1 + t x) over t from 0 to 1, by the
/// Gauss-Legendre rule of seven points, which is the Padé approximant of degree 7.
Matrix<Number> near_logarithm(const Matrix<Number>& x) {
  struct Node {
    double place, weight;  ///< on [-1, 1]
  };
  constexpr std::array<Node, 7> nodes = {{{0, 0.4179591836734694},
                                          {-0.4058451513773972, 0.3818300505051189},
                                          {0.4058451513773972, 0.3818300505051189},
                                          {-0.7415311855993945, 0.2797053914892766},
                                          {0.7415311855993945, 0.2797053914892766},
                                          {-0.9491079123427585, 0.1294849661688697},
                                          {0.9491079123427585, 0.1294849661688697}}};
  Matrix<Number> result = Matrix<Number>::Zero(x.rows(), x.cols()), term, divisor;
  for (const Node& node : nodes) {
    divisor = (1 + node.place) / 2 * x;
    divisor.diagonal().array() += 1;
    term = x;
    divisor.triangularView<Eigen::Upper>().solveInPlace(term);
    result += node.weight / 2 * term;
  }
  return result;
}

/// Returns the logarithm of an upper triangular matrix without zeros on its diagonal.
Matrix<Number> triangular_logarithm(Matrix<Number> t) {
  constexpr double near = 0.264;
  constexpr int most_roots = 1100;  // which bring any number to 1
  const Eigen::VectorXcd eigenvalues = t.diagonal();
  const auto identity = Matrix<Number>::Identity(t.rows(), t.cols());
  Matrix<Number> root = Matrix<Number>::Zero(t.rows(), t.cols());
  int roots = 0;
  for (; (t - identity).norm() > near && roots < most_roots; ++roots) {
    Eigen::matrix_sqrt_triangular(t, root);
    t = root;
  }
  Matrix<Number> result = near_logarithm(t - identity) * std::ldexp(1.0, roots);
  result.diagonal() = eigenvalues.array().log();
  return result;
}

template <class T>
Status compute_logarithms(const LogarithmArguments& arguments, DeviceContext& device) {
  const Matrices<const T> input(arguments.input);
  const Matrices<T> output(arguments.output);
  const int64_t n = input.rows();
  constexpr auto nan = std::numeric_limits<typename T::value_type>::quiet_NaN();
  return for_each_matrix(device.pool(), batch_size(arguments.input), 40 * n * n * n, [&] {
    return [&, schur = Eigen::ComplexSchur<Matrix<Number>>(n),
            matrix = Matrix<Number>(n, n)](size_t i) mutable -> Status {
      matrix = input[i].template cast<Number>();
      const bool is_finite = matrix.allFinite();
      if (is_finite) schur.compute(matrix);
      if (is_finite && schur.info() != Eigen::Success)
        return matrix_error(arguments.input, "input", i, "the Schur decomposition did not converge");
      if (!is_finite || !(schur.matrixT().diagonal().array().abs() > 0).all()) {
        output[i].setConstant(T(nan, nan));
        return {};
      }
      const Matrix<Number> upper = schur.matrixT().template triangularView<Eigen::Upper>();
      matrix.noalias() = schur.matrixU() * triangular_logarithm(upper) * schur.matrixU().adjoint();
      output[i] = matrix.cast<T>();
      return {};
    };
  });
}

Status compute_logarithm(const LogarithmArguments& arguments, DeviceContext& device) {
  Status status;
  if (arguments.output.elements() != 0)
    with_type(ComplexTypes{}, arguments.input.dtype(),
              [&]<class T>(std::type_identity<T>) { status = compute_logarithms<T>(arguments, device); });
  return status;
}

}  // namespace

void add_matrix_logarithm(OpLibrary& library) {
  library.op(OpDefBuilder("MatrixLogarithm")
                 .input("input: T")
                 .output("output: T")
                 .attr("T: {complex64, complex128}")
                 .constructor("matrix_logarithm(input)")
                 .shape(square_matrices_shape));
  library.kernel(cpu_kernel("MatrixLogarithm", check_logarithm, compute_logarithm));
}

}  // namespace troupe
