// Eig(input): the eigenvalues e, and with `compute_v` the eigenvectors, the columns of v, each of norm 1, of the square matrices in
// the last two dimensions, which need not be symmetric. Without `compute_v`, v is an empty vector. T is float, double, complex64 or
// complex128, and the results are complex, of the same precision. By Eigen's EigenSolver and ComplexEigenSolver (Hessenberg form,
// then QR iterations), computed in double; the phase of an eigenvector is arbitrary. InvalidArgument, naming the matrix, for
// elements that are not finite, and if the iterations do not converge.
// The gradient is that of TensorFlow: v^-H (diag(de) + F^* o (v^H dv - v^H v diag(real(v^H dv)))) v^H, with
// F(i, j) = 1 / (e(j) - e(i)), of whose diagonal the real parts count, since the norms stay 1 (Boeddeker et al., "On the
// computation of complex-valued gradients with application to statistically optimum beamforming", 2017).
#include <Eigen/Eigenvalues>
#include <type_traits>

#include "kernels/constructors.h"
#include "kernels/ops/broadcast_gradients.h"
#include "kernels/ops/linalg/matrices-inl.h"
#include "kernels/ops/linalg/matrix_gradients.h"

namespace troupe {
namespace {

Status general_eig_shape(ShapeContext& context) {
  const DType from = context.attr<DType>("T"), to = context.attr<DType>("Tout");
  if ((from == f32 || from == DType::Complex64) != (to == DType::Complex64))
    return invalid_argument("T and Tout differ in precision");
  TROUPE_ASSIGN(const MatrixShape input, square_matrix_shape(context.input(0), "input"));
  context.set_output(0, input.with(input.rows));
  context.set_output(
      1, context.attr<bool>("compute_v") ? input.with(input.rows, input.rows) : PartialShape::vector(0));
  return {};
}

struct GeneralEigArguments {
  const Tensor& input;
  Tensor &e, &v;
  bool computes_v;
};

Result<GeneralEigArguments> check_general_eig(KernelContext& context) {
  const Tensor& input = context.input(0);
  const DType type = context.node().output_types[0].dtype;
  TROUPE_ASSIGN(const MatrixShape shape, square_matrix_shape(input.shape(), "input"));
  TROUPE_ASSIGN(const Shape e_shape, shape.with(shape.rows).to_shape(type));
  const bool computes_v = context.node().attrs.get<bool>("compute_v");
  TROUPE_ASSIGN(Tensor* const e, context.output(0, e_shape));
  TROUPE_ASSIGN(Tensor* const v, context.output(1, computes_v ? input.shape() : Shape::vector(0)));
  return GeneralEigArguments{input, *e, *v, computes_v};
}

using Complex = std::complex<double>;

/// The solvers order the eigenvalues as TensorFlow does: those of real matrices as they are found, others by their absolute values.
template <class T>
using EigSolver = std::conditional_t<is_complex_type<T>, Eigen::ComplexEigenSolver<Matrix<Complex>>,
                                     Eigen::EigenSolver<Matrix<double>>>;

/// From and To are the types of the elements of the input and of the outputs.
template <class From, class To>
Status decompose_general(const GeneralEigArguments& arguments, DeviceContext& device) {
  const Matrices<const From> input(arguments.input);
  const int64_t n = input.rows();
  To* const e = arguments.e.write<To>().data();
  To* const v = arguments.computes_v ? arguments.v.write<To>().data() : nullptr;
  return for_each_matrix(device.pool(), batch_size(arguments.input), 25 * n * n * n, [&] {
    return [&, solver = EigSolver<From>(n),
            matrix = Matrix<DoubleType<From>>(n, n)](size_t i) mutable -> Status {
      matrix = input[i].template cast<DoubleType<From>>();
      const bool is_finite = matrix.allFinite();
      if (is_finite) solver.compute(matrix, v != nullptr);
      if (!is_finite || solver.info() != Eigen::Success)
        return matrix_error(arguments.input, "input", i,
                            "the eigenvalues cannot be computed; all elements must be finite");
      const auto at = static_cast<int64_t>(i);
      for (int64_t k = 0; k < n; ++k) e[at * n + k] = static_cast<To>(solver.eigenvalues()[k]);
      if (v) Eigen::Map<MatrixByRows<To>>(v + at * n * n, n, n) = solver.eigenvectors().template cast<To>();
      return {};
    };
  });
}

Status compute_general_eig(const GeneralEigArguments& arguments, DeviceContext& device) {
  Status status;
  if (arguments.input.elements() == 0) return status;
  with_type(TypeList<float, double, std::complex<float>, Complex>{}, arguments.input.dtype(),
            [&]<class T>(std::type_identity<T>) {
              using Real = typename Eigen::NumTraits<T>::Real;
              status = decompose_general<T, std::complex<Real>>(arguments, device);
            });
  return status;
}

/// Returns the diagonals of the matrices, as matrices that are 0 elsewhere.
Output diagonal_of(const Scope& scope, Output x) { return matrix_diag(scope, matrix_diag_part(scope, x)); }

void general_eig_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const DType type = context.attr<DType>("Tout");
  Output v = context.output(1), inner = matrix_diag(scope, context.gradient(0));
  if (context.attr<bool>("compute_v")) {
    const Output turns = product(scope, v, context.gradient(1), Factor::Adjoint);
    const Output lengths = cast(scope, real_part(scope, diagonal_of(scope, turns)), type);
    const Output kept = product(scope, product(scope, v, v, Factor::Adjoint), lengths);
    const Output weights = conjugate(scope, reciprocal_differences(scope, context.output(0)));
    inner = add(scope, inner, mul(scope, weights, sub(scope, turns, kept)));
  } else {
    const NodeId decomposition = scope.add("Eig", {context.input(0)}, {{"compute_v", true}, {"Tout", type}});
    v = {decomposition, 1};
  }
  const Output right = product(scope, inner, v, Factor::Plain, Factor::Adjoint);
  const Output gradient = scope.add_one("MatrixSolve", {v, right}, {{"adjoint", true}});
  const DType wanted = context.attr<DType>("T");
  context.set(0, wanted == type ? gradient : real_part(scope, gradient));
}

}  // namespace

void add_eig(OpLibrary& library) {
  library.op(OpDefBuilder("Eig")
                 .input("input: T")
                 .output("e: Tout")
                 .output("v: Tout")
                 .attr("compute_v: bool = true")
                 .attr("T: {float, double, complex64, complex128}")
                 .attr("Tout: {complex64, complex128}")
                 .shape(general_eig_shape)
                 .gradient(general_eig_gradient));
  library.kernel(cpu_kernel("Eig", check_general_eig, compute_general_eig));
}

}  // namespace troupe
