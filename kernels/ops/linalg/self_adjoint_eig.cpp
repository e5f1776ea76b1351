// SelfAdjointEigV2(input): the eigenvalues e, in ascending order, and with `compute_v` orthonormal eigenvectors, the columns of v,
// of the Hermitian matrices in the last two dimensions; only their lower triangles are read. Without `compute_v`, v is an empty
// vector. By Eigen's SelfAdjointEigenSolver (tridiagonalization, then QR iterations); the sign of an eigenvector, or its phase
// if it is complex, is arbitrary. Float, double, complex64, complex128, computed in double. InvalidArgument, naming the matrix,
// for elements that are not finite, and if the iterations do not converge.
// The gradient is v (diag(de) + F o (v^H dv)) v^H for the lower triangle, with F(i, j) = 1 / (e(j) - e(i)) (Giles, "An extended
// collection of matrix derivative results", 2008).
// SelfAdjointEig(input), which SelfAdjointEigV2 replaced, has both in one output of n + 1 rows for matrices of n rows: the
// eigenvalues, and below them v. Float and double. As in TensorFlow, it has no gradient.
#include <Eigen/Eigenvalues>

#include "kernels/constructors.h"
#include "kernels/ops/linalg/matrices-inl.h"
#include "kernels/ops/linalg/matrix_gradients.h"

namespace troupe {
namespace {

Status eig_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const MatrixShape input, square_matrix_shape(context.input(0), "input"));
  context.set_output(0, input.with(input.rows));
  context.set_output(
      1, context.attr<bool>("compute_v") ? input.with(input.rows, input.rows) : PartialShape::vector(0));
  return {};
}

/// SelfAdjointEig has one output, which is e and v. Both hold something else between what belongs to two matrices.
struct EigArguments {
  const Tensor& input;
  Tensor& e;
  Tensor* v;               ///< null: only the eigenvalues are wanted
  int64_t e_step, v_step;  ///< the number of elements from one matrix to the next
  int64_t v_begin = 0;     ///< the first element of the eigenvectors of the first matrix
};

Result<EigArguments> check_eig(KernelContext& context) {
  const Tensor& input = context.input(0);
  TROUPE_ASSIGN(const MatrixShape shape, square_matrix_shape(input.shape(), "input"));
  TROUPE_ASSIGN(const Shape e_shape, shape.with(shape.rows).to_shape(input.dtype()));
  const bool computes_v = context.node().attrs.get<bool>("compute_v");
  TROUPE_ASSIGN(Tensor* const e, context.output(0, e_shape));
  TROUPE_ASSIGN(Tensor* const v, context.output(1, computes_v ? input.shape() : Shape::vector(0)));
  return EigArguments{input, *e, computes_v ? v : nullptr, shape.rows, shape.rows * shape.rows};
}

// ---- SelfAdjointEig

/// The shape of the eigenvalues above the eigenvectors.
Result<PartialShape> joined_shape(const PartialShape& input) {
  TROUPE_ASSIGN(const MatrixShape shape, square_matrix_shape(input, "input"));
  if (shape.rows == INT64_MAX) return invalid_argument("input of shape " + input.text() + " is too large");
  return shape.with(shape.rows == unknown_dim ? unknown_dim : shape.rows + 1, shape.rows);
}

Status joined_eig_shape(ShapeContext& context) {
  TROUPE_ASSIGN(PartialShape shape, joined_shape(context.input(0)));
  context.set_output(0, std::move(shape));
  return {};
}

Result<EigArguments> check_joined_eig(KernelContext& context) {
  const Tensor& input = context.input(0);
  TROUPE_ASSIGN(const PartialShape partial, joined_shape(input.shape()));
  TROUPE_ASSIGN(const Shape shape, partial.to_shape(input.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  const int64_t n = shape[shape.rank() - 1];
  return EigArguments{input, *output, output, (n + 1) * n, (n + 1) * n, n};
}

// ---- Computing

template <class T>
Status decompose(const EigArguments& arguments, DeviceContext& device) {
  using D = DoubleType<T>;
  const Matrices<const T> input(arguments.input);
  const int64_t n = input.rows();
  T* const e = arguments.e.write<T>().data();
  T* const v = arguments.v ? arguments.v->write<T>().data() + arguments.v_begin : nullptr;
  const int mode = arguments.v ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly;
  return for_each_matrix(device.pool(), batch_size(arguments.input), 9 * n * n * n, [&] {
    return [&, solver = Eigen::SelfAdjointEigenSolver<Matrix<D>>(n),
            lower = Matrix<D>(n, n)](size_t i) mutable -> Status {
      lower = input[i].template cast<D>();
      lower.template triangularView<Eigen::StrictlyUpper>().setZero();
      const bool is_finite = lower.allFinite();
      if (is_finite) solver.compute(lower, mode);
      if (!is_finite || solver.info() != Eigen::Success)
        return matrix_error(
            arguments.input, "input", i,
            "Self-adjoint eigen decomposition was not successful. The input might not be valid.");
      const auto matrix = static_cast<int64_t>(i);
      for (int64_t k = 0; k < n; ++k)
        e[matrix * arguments.e_step + k] =
            static_cast<typename Eigen::NumTraits<T>::Real>(solver.eigenvalues()[k]);
      if (v)
        Eigen::Map<MatrixByRows<T>>(v + matrix * arguments.v_step, n, n) =
            solver.eigenvectors().template cast<T>();
      return {};
    };
  });
}

Status compute_eig(const EigArguments& arguments, DeviceContext& device) {
  Status status;
  if (arguments.input.elements() != 0)
    with_type(MatrixTypes{}, arguments.input.dtype(),
              [&]<class T>(std::type_identity<T>) { status = decompose<T>(arguments, device); });
  return status;
}

// ---- Gradient of SelfAdjointEigV2

void eig_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  Output v = context.output(1), inner = matrix_diag(scope, context.gradient(0));
  if (context.attr<bool>("compute_v")) {
    const Output turns = product(scope, v, context.gradient(1), Factor::Adjoint);
    inner = add(scope, inner, mul(scope, reciprocal_differences(scope, context.output(0)), turns));
  } else {
    const NodeId decomposition = scope.add("SelfAdjointEigV2", {context.input(0)}, {{"compute_v", true}});
    v = {decomposition, 1};
  }
  const Output right = product(scope, inner, v, Factor::Plain, Factor::Adjoint);
  const Output all = product(scope, v, right);
  const Output both = add(scope, all, adjoint(scope, all));
  context.set(0, with_half_diagonal(scope, lower_triangle(scope, both)));
}

}  // namespace

void add_self_adjoint_eig(OpLibrary& library) {
  library.op(OpDefBuilder("SelfAdjointEigV2")
                 .former_name("BatchSelfAdjointEigV2")
                 .input("input: T")
                 .output("e: T")
                 .output("v: T")
                 .attr("compute_v: bool = true")
                 .attr("T: {double, float, half, complex64, complex128}")
                 .constructor("self_adjoint_eig(input, compute_v) -> e")
                 .shape(eig_shape)
                 .gradient(eig_gradient));
  library.kernel(cpu_kernel("SelfAdjointEigV2", check_eig, compute_eig).on("T", dtypes(MatrixTypes{})));
  library.op(OpDefBuilder("SelfAdjointEig")
                 .former_name("BatchSelfAdjointEig")
                 .input("input: T")
                 .output("output: T")
                 .attr("T: {double, float, half}")
                 .shape(joined_eig_shape));
  library.kernel(cpu_kernel("SelfAdjointEig", check_joined_eig, compute_eig).on("T", dtypes(FloatTypes{})));
}

}  // namespace troupe
