// MatrixInverse(input): the inverses of square matrices, in the last two dimensions, by LU factorization with partial pivoting
// (Eigen's PartialPivLU); with `adjoint` the inverses of their adjoints. Float, double, complex64, complex128. InvalidArgument,
// naming the matrix, if a pivot is zero or NaN.
#include <Eigen/LU>

#include "kernels/constructors.h"
#include "kernels/ops/linalg/matrices-inl.h"
#include "kernels/ops/linalg/matrix_gradients.h"

namespace troupe {
namespace {

struct InverseArguments {
  const Tensor& input;
  Tensor& output;
  bool adjoint;
};

Result<InverseArguments> check_inverse(KernelContext& context) {
  const Tensor& input = context.input(0);
  TROUPE_RETURN_IF_FAILED(square_matrix_shape(input.shape(), "input").status());
  TROUPE_ASSIGN(Tensor* const output, context.output(0, input.shape()));
  return InverseArguments{input, *output, context.node().attrs.get<bool>("adjoint")};
}

template <class T>
Status invert(const InverseArguments& arguments, DeviceContext& device) {
  const Matrices<const T> input(arguments.input);
  const Matrices<T> output(arguments.output);
  const int64_t n = input.rows();
  return for_each_matrix(device.pool(), batch_size(arguments.input), n * n * n, [&] {
    return [&, factors = Eigen::PartialPivLU<Matrix<T>>(n),
            inverse = Matrix<T>(n, n)](size_t i) mutable -> Status {
      if (arguments.adjoint)
        factors.compute(input[i].adjoint());
      else
        factors.compute(input[i]);
      if (!(factors.matrixLU().diagonal().array().abs() > 0).all())
        return matrix_error(arguments.input, "input", i, "Input is not invertible.");
      inverse = factors.inverse();
      output[i] = inverse;
      return {};
    };
  });
}

Status compute_inverse(const InverseArguments& arguments, DeviceContext& device) {
  Status status;
  if (arguments.output.elements() != 0)
    with_type(MatrixTypes{}, arguments.input.dtype(),
              [&]<class T>(std::type_identity<T>) { status = invert<T>(arguments, device); });
  return status;
}

/// With X the inverse: -X^H g X^H, and for the inverse of the adjoint -X g^H X.
void inverse_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const bool of_adjoint = context.attr<bool>("adjoint");
  const Factor x = of_adjoint ? Factor::Plain : Factor::Adjoint,
               g = of_adjoint ? Factor::Adjoint : Factor::Plain;
  const Output inverse = context.output(0);
  const Output right = product(scope, context.gradient(), inverse, g, x);
  context.set(0, neg(scope, product(scope, inverse, right, x)));
}

}  // namespace

void add_matrix_inverse(OpLibrary& library) {
  library.op(OpDefBuilder("MatrixInverse")
                 .former_name("BatchMatrixInverse")
                 .input("input: T")
                 .output("output: T")
                 .attr("adjoint: bool = false")
                 .attr("T: {double, float, half, complex64, complex128}")
                 .constructor("matrix_inverse(input, adjoint)")
                 .shape(square_matrices_shape)
                 .gradient(inverse_gradient));
  library.kernel(cpu_kernel("MatrixInverse", check_inverse, compute_inverse).on("T", dtypes(MatrixTypes{})));
}

}  // namespace troupe
