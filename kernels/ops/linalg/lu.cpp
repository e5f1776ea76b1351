// Lu(input): the factors of square matrices, in the last two dimensions, by Gaussian elimination with partial pivoting (Eigen's
// PartialPivLU). A matrix whose rows are input[p[0]], input[p[1]], ... is L U: lu holds the upper triangular U, and below its
// diagonal the lower triangular L, whose diagonal is 1. Float, double, complex64, complex128. InvalidArgument, naming the matrix,
// if a pivot is zero or NaN. As in TensorFlow 1.x, there is no gradient.
#include <Eigen/LU>

#include "kernels/ops/linalg/matrices-inl.h"

namespace troupe {
namespace {

Status lu_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const MatrixShape input, square_matrix_shape(context.input(0), "input"));
  context.set_output(0, input.with(input.rows, input.rows));
  context.set_output(1, input.with(input.rows));
  return {};
}

struct LuArguments {
  const Tensor& input;
  Tensor &lu, &p;
};

Result<LuArguments> check_lu(KernelContext& context) {
  const Tensor& input = context.input(0);
  TROUPE_ASSIGN(const MatrixShape matrices, square_matrix_shape(input.shape(), "input"));
  TROUPE_ASSIGN(const Shape p_shape,
                matrices.with(matrices.rows).to_shape(context.node().output_types[1].dtype));
  TROUPE_ASSIGN(Tensor* const lu, context.output(0, input.shape()));
  TROUPE_ASSIGN(Tensor* const p, context.output(1, p_shape));
  return LuArguments{input, *lu, *p};
}

/// Writes for each row of the factors the row of the matrix from which it comes.
void write_rows(const Eigen::PermutationMatrix<Eigen::Dynamic>& permutation, Tensor& p, size_t matrix) {
  const auto n = static_cast<size_t>(permutation.size());
  with_type(TypeList<int32_t, int64_t>{}, p.dtype(), [&]<class Index>(std::type_identity<Index>) {
    Index* const rows = p.write<Index>().data() + matrix * n;
    for (size_t row = 0; row < n; ++row)
      rows[permutation.indices()[static_cast<int64_t>(row)]] = static_cast<Index>(row);
  });
}

template <class T>
Status factorize_lu(const LuArguments& arguments, DeviceContext& device) {
  const Matrices<const T> input(arguments.input);
  const Matrices<T> lu(arguments.lu);
  const int64_t n = input.rows();
  return for_each_matrix(device.pool(), batch_size(arguments.input), n * n * n / 3, [&] {
    return [&, factors = Eigen::PartialPivLU<Matrix<T>>(n)](size_t i) mutable -> Status {
      factors.compute(input[i]);
      if (!(factors.matrixLU().diagonal().array().abs() > 0).all())
        return matrix_error(arguments.input, "input", i, "Input is not invertible.");
      lu[i] = factors.matrixLU();
      write_rows(factors.permutationP(), arguments.p, i);
      return {};
    };
  });
}

Status compute_lu(const LuArguments& arguments, DeviceContext& device) {
  Status status;
  if (arguments.input.elements() != 0)
    with_type(MatrixTypes{}, arguments.input.dtype(),
              [&]<class T>(std::type_identity<T>) { status = factorize_lu<T>(arguments, device); });
  return status;
}

}  // namespace

void add_lu(OpLibrary& library) {
  library.op(OpDefBuilder("Lu")
                 .input("input: T")
                 .output("lu: T")
                 .output("p: output_idx_type")
                 .attr("T: {double, float, half, complex64, complex128}")
                 .attr("output_idx_type: {int32, int64} = int32")
                 .shape(lu_shape));
  library.kernel(cpu_kernel("Lu", check_lu, compute_lu).on("T", dtypes(MatrixTypes{})));
}

}  // namespace troupe
