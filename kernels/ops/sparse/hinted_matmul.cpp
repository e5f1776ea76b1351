// SparseMatMul(a, b): the product of two dense matrices of float or bfloat16, each transposed on request, in float. a_is_sparse
// and b_is_sparse are hints that many elements are 0; they change nothing. Fails with InvalidArgument if the inner dimensions
// differ.
#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "kernels/loops/cast.h"
#include "kernels/loops/gemm.h"
#include "kernels/ops/math/matmul.h"

namespace troupe {
namespace {

/// Returns a view of a matrix of floats.
MatrixView<float> view(const Tensor& matrix, bool transposed) {
  return MatrixView<float>::of(matrix.as<float>().data(), matrix.shape()[0], matrix.shape()[1], transposed);
}

Status compute_hinted_matmul(const MatMulArguments& arguments, DeviceContext& device) {
  TROUPE_ASSIGN(const Tensor a, converted(device, arguments.a, DType::Float));
  TROUPE_ASSIGN(const Tensor b, converted(device, arguments.b, DType::Float));
  return gemm<float>(device, 1, view(a, arguments.transpose_a), view(b, arguments.transpose_b),
                     arguments.product.write<float>().data());
}

/// If g is the gradient of c = A B, where A and B are a and b or their transposes: dA = g B', dB = A' g.
void hinted_matmul_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const bool ta = context.attr<bool>("transpose_a"), tb = context.attr<bool>("transpose_b"),
             a_is_sparse = context.attr<bool>("a_is_sparse"), b_is_sparse = context.attr<bool>("b_is_sparse");
  struct Factor {
    Output matrix;
    bool is_sparse;
  };
  const Factor a{context.input(0), a_is_sparse}, b{context.input(1), b_is_sparse},
      g{context.gradient(), false};
  const auto set = [&](size_t i, const Factor& x, const Factor& y, bool transpose_x, bool transpose_y) {
    const Output product = scope.add_one("SparseMatMul", {x.matrix, y.matrix},
                                         {{"transpose_a", transpose_x},
                                          {"transpose_b", transpose_y},
                                          {"a_is_sparse", x.is_sparse},
                                          {"b_is_sparse", y.is_sparse}});
    context.set(i, cast(scope, product, scope.dtype(context.input(i))));
  };
  ta ? set(0, b, g, tb, true) : set(0, g, b, false, !tb);
  tb ? set(1, g, a, true, ta) : set(1, a, g, !ta, false);
}

}  // namespace

void add_hinted_matmul(OpLibrary& library) {
  library.op(OpDefBuilder("SparseMatMul")
                 .input("a: Ta")
                 .input("b: Tb")
                 .output("product: float")
                 .attr("transpose_a: bool = false")
                 .attr("transpose_b: bool = false")
                 .attr("a_is_sparse: bool = false")
                 .attr("b_is_sparse: bool = false")
                 .attr("Ta: {float, bfloat16} = float")
                 .attr("Tb: {float, bfloat16} = float")
                 .shape(matmul_shape)
                 .gradient(hinted_matmul_gradient));
  library.kernel(cpu_kernel<MatMulCheck>("SparseMatMul", compute_hinted_matmul));
}

}  // namespace troupe
