// Systems of linear equations, whose matrices are in the last two dimensions: float, double, complex64 and complex128, by Eigen.
//   MatrixSolve(matrix, rhs)             X with matrix X = rhs, by LU factorization with partial pivoting; the batch dimensions
//                                        of matrix and rhs are equal
//   MatrixTriangularSolve(matrix, rhs)   the same for matrices of which only the lower triangle (attribute lower), or the upper
//                                        one, is read, by substitution; the batch dimensions broadcast
// With `adjoint` the equations are matrix^H X = rhs. InvalidArgument, naming the matrix, if one is not invertible: a pivot, or an
// element on the diagonal of a triangle, is zero or, in MatrixSolve, NaN.
#include <Eigen/LU>
#include <vector>

#include "kernels/constructors.h"
#include "kernels/loops/broadcast.h"
#include "kernels/ops/broadcast_gradients.h"
#include "kernels/ops/linalg/matrices-inl.h"
#include "kernels/ops/linalg/matrix_gradients.h"

namespace troupe {
namespace {

/// How the batch dimensions of two inputs combine: merge or broadcast.
using BatchRule = Result<PartialShape> (*)(const PartialShape&, const PartialShape&);

Result<PartialShape> solution_shape(const PartialShape& of_matrix, const PartialShape& of_rhs,
                                    BatchRule batch_rule) {
  TROUPE_ASSIGN(const MatrixShape matrix, square_matrix_shape(of_matrix, "matrix"));
  TROUPE_ASSIGN(const MatrixShape rhs, matrix_shape(of_rhs, "rhs"));
  const auto batch = batch_rule(matrix.batch, rhs.batch);
  const auto rows = merge(PartialShape{matrix.rows}, PartialShape{rhs.rows});
  if (!batch || !rows)
    return invalid_argument("matrix of shape " + of_matrix.text() + " and rhs of shape " + of_rhs.text() +
                            " do not fit");
  return concatenate(*batch, PartialShape{(*rows)[0], rhs.columns});
}

template <BatchRule batch_rule>
Status solve_shape(ShapeContext& context) {
  TROUPE_ASSIGN(PartialShape shape, solution_shape(context.input(0), context.input(1), batch_rule));
  context.set_output(0, std::move(shape));
  return {};
}

struct SolveArguments {
  const Tensor &matrix, &rhs;
  Tensor& output;
  bool adjoint = false, lower = false;
};

template <BatchRule batch_rule>
Result<SolveArguments> check_solve(KernelContext& context) {
  const Tensor &matrix = context.input(0), &rhs = context.input(1);
  TROUPE_ASSIGN(const PartialShape partial, solution_shape(matrix.shape(), rhs.shape(), batch_rule));
  TROUPE_ASSIGN(const Shape shape, partial.to_shape(rhs.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  const Attributes& attrs = context.node().attrs;
  return SolveArguments{matrix, rhs, *output, attrs.get<bool>("adjoint"),
                        attrs.find("lower") && attrs.get<bool>("lower")};
}

template <class T>
Status solve(const SolveArguments& arguments, DeviceContext& device) {
  const Matrices<const T> matrix(arguments.matrix), rhs(arguments.rhs);
  const Matrices<T> output(arguments.output);
  const int64_t n = rhs.rows();
  return for_each_matrix(device.pool(), batch_size(arguments.output), n * n * (n / 3 + rhs.columns()), [&] {
    return [&, factors = Eigen::PartialPivLU<Matrix<T>>(n), right = Matrix<T>(n, rhs.columns()),
            solution = Matrix<T>(n, rhs.columns())](size_t i) mutable -> Status {
      if (arguments.adjoint)
        factors.compute(matrix[i].adjoint());
      else
        factors.compute(matrix[i]);
      if (!(factors.matrixLU().diagonal().array().abs() > 0).all())
        return matrix_error(arguments.matrix, "matrix", i, "Input matrix is not invertible.");
      right = rhs[i];
      solution = factors.solve(right);
      output[i] = solution;
      return {};
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

// ---- MatrixTriangularSolve

/// For each matrix of the output the numbers of the matrix and of the right-hand side from which it is computed.
using Sources = std::vector<std::array<size_t, 2>>;

Result<Sources> sources_of(const SolveArguments& arguments) {
  const auto batch_of = [](const Tensor& tensor) {
    return tensor.shape().dims().first(tensor.shape().rank() - 2);
  };
  TROUPE_ASSIGN(const auto batch, Broadcast<2>::make({batch_of(arguments.matrix), batch_of(arguments.rhs)},
                                                     arguments.rhs.dtype()));
  Sources sources;
  batch.walk(0, batch_size(arguments.output), [&](const auto& from, size_t, size_t n) {
    const auto& steps = batch.inner().steps;
    for (size_t i = 0; i < n; ++i) sources.push_back({from[0] + i * steps[0], from[1] + i * steps[1]});
  });
  return sources;
}

template <class T>
Status substitute(const SolveArguments& arguments, const Sources& sources, DeviceContext& device) {
  const Matrices<const T> matrix(arguments.matrix), rhs(arguments.rhs);
  const Matrices<T> output(arguments.output);
  const int64_t n = rhs.rows();
  const bool lower = arguments.lower != arguments.adjoint;
  return for_each_matrix(device.pool(), sources.size(), n * n * (1 + rhs.columns()), [&] {
    return [&, factor = Matrix<T>(n, n), solution = Matrix<T>(n, rhs.columns())](size_t i) mutable -> Status {
      const auto [left, right] = sources[i];
      if (arguments.adjoint)
        factor = matrix[left].adjoint();
      else
        factor = matrix[left];
      if ((factor.diagonal().array() == T(0)).any())
        return matrix_error(arguments.matrix, "matrix", left, "Input matrix is not invertible.");
      solution = rhs[right];
      if (lower)
        factor.template triangularView<Eigen::Lower>().solveInPlace(solution);
      else
        factor.template triangularView<Eigen::Upper>().solveInPlace(solution);
      output[i] = solution;
      return {};
    };
  });
}

Status compute_triangular_solve(const SolveArguments& arguments, DeviceContext& device) {
  if (arguments.output.elements() == 0) return {};
  TROUPE_ASSIGN(const Sources sources, sources_of(arguments));
  Status status;
  with_type(MatrixTypes{}, arguments.rhs.dtype(),
            [&]<class T>(std::type_identity<T>) { status = substitute<T>(arguments, sources, device); });
  return status;
}

// ---- Gradients

/// With X the solution and Z that of the adjoint equations for the gradient g: Z for the right-hand side, -Z X^H for the matrix,
/// and -X Z^H for a matrix whose adjoint the equations have.
Output gradient_of_matrix(GradientContext& context, Output z) {
  const Scope& scope = context.scope();
  const Output x = context.output(0);
  const bool of_adjoint = context.attr<bool>("adjoint");
  return neg(scope, product(scope, of_adjoint ? x : z, of_adjoint ? z : x, Factor::Plain, Factor::Adjoint));
}

void solve_gradient(GradientContext& context) {
  const Output z = context.scope().add_one("MatrixSolve", {context.input(0), context.gradient()},
                                           {{"adjoint", !context.attr<bool>("adjoint")}});
  context.set(0, gradient_of_matrix(context, z));
  context.set(1, z);
}

void triangular_solve_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const bool lower = context.attr<bool>("lower");
  const Output matrix = context.input(0);
  const Output z = triangular_solve(scope, matrix, context.gradient(), lower,
                                    context.attr<bool>("adjoint") ? Factor::Plain : Factor::Adjoint);
  const Output all = gradient_of_matrix(context, z);
  const Output triangle = matrix_band_part(scope, all, lower ? -1 : 0, lower ? 0 : -1);
  context.set(0, summed_to_shape_of(scope, triangle, matrix));
  context.set(1, summed_to_shape_of(scope, z, context.input(1)));
}

}  // namespace

void add_matrix_solve_ops(OpLibrary& library) {
  library.op(OpDefBuilder("MatrixSolve")
                 .former_name("BatchMatrixSolve")
                 .input("matrix: T")
                 .input("rhs: T")
                 .output("output: T")
                 .attr("adjoint: bool = false")
                 .attr("T: {double, float, half, complex64, complex128}")
                 .constructor("matrix_solve(matrix, rhs, adjoint)")
                 .shape(solve_shape<merge>)
                 .gradient(solve_gradient));
  library.kernel(cpu_kernel("MatrixSolve", check_solve<merge>, compute_solve).on("T", dtypes(MatrixTypes{})));
  library.op(OpDefBuilder("MatrixTriangularSolve")
                 .former_name("BatchMatrixTriangularSolve")
                 .input("matrix: T")
                 .input("rhs: T")
                 .output("output: T")
                 .attr("lower: bool = true")
                 .attr("adjoint: bool = false")
                 .attr("T: {bfloat16, double, float, half, complex64, complex128}")
                 .constructor("matrix_triangular_solve(matrix, rhs, lower, adjoint)")
                 .shape(solve_shape<broadcast>)
                 .gradient(triangular_solve_gradient));
  library.kernel(cpu_kernel("MatrixTriangularSolve", check_solve<broadcast>, compute_triangular_solve)
                     .on("T", dtypes(MatrixTypes{})));
}

}  // namespace troupe
