// Matrix products.
//   MatMul(a, b)        of two matrices, each transposed on request; the inner dimension may be empty: zeros
//   BatchMatMul(x, y)   of the last two dimensions, for all others, which must agree; adj_x, adj_y: the adjoint
//                       (transposed and, if complex, conjugated)
#include <algorithm>

#include "kernels/all_ops.h"
#include "kernels/arguments.h"
#include "kernels/gemm.h"
#include "kernels/type_dispatch.h"

namespace troupe {
namespace {

using MatMulTypes = TypeList<float, double, int32_t, Half, std::complex<float>, std::complex<double>>;

/// Rows, inner dimension and columns of a product; InvalidArgument when the inner dimensions differ.
struct Sizes {
  int64_t rows, inner, columns;
};
Result<Sizes> product_sizes(std::span<const int64_t> a, std::span<const int64_t> b, bool transpose_a,
                            bool transpose_b) {
  const size_t last_a = a.size() - 1, last_b = b.size() - 1;
  const int64_t rows = a[transpose_a ? last_a : last_a - 1], inner_a = a[transpose_a ? last_a - 1 : last_a];
  const int64_t inner_b = b[transpose_b ? last_b : last_b - 1],
                columns = b[transpose_b ? last_b - 1 : last_b];
  if (inner_a != inner_b && inner_a != unknown_dim && inner_b != unknown_dim)
    return invalid_argument("a " + PartialShape({a.begin(), a.end()}).text() +
                            (transpose_a ? " transposed" : "") + " x b " +
                            PartialShape({b.begin(), b.end()}).text() + (transpose_b ? " transposed" : "") +
                            ": inner dimensions differ");
  return Sizes{rows, std::max(inner_a, inner_b), columns};
}

/// The matrices that an input's last two dimensions hold.
template <class T>
MatrixView<T> matrix(const Tensor& tensor, bool transposed) {
  const size_t last = tensor.shape().rank() - 1;
  return MatrixView<T>::of(tensor.as<T>().data(), tensor.shape()[last - 1], tensor.shape()[last], transposed);
}

// ---- MatMul

Status matmul_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto a, context.with_rank(0, 2));
  TROUPE_ASSIGN(const auto b, context.with_rank(1, 2));
  TROUPE_ASSIGN(const Sizes sizes, product_sizes(a.dims(), b.dims(), context.attr<bool>("transpose_a"),
                                                 context.attr<bool>("transpose_b")));
  context.set_output(0, PartialShape{sizes.rows, sizes.columns});
  return {};
}

class MatMulKernel final : public Kernel {
 public:
  static Result<std::unique_ptr<Kernel>> prepare(const PrepareContext& context) {
    return std::unique_ptr<Kernel>(
        new MatMulKernel(context.attr<bool>("transpose_a"), context.attr<bool>("transpose_b")));
  }
  MatMulKernel(bool transpose_a, bool transpose_b) : transpose_a_(transpose_a), transpose_b_(transpose_b) {}

  Outcome run(KernelContext& context) const override {
    const Tensor &a = context.input(0), &b = context.input(1);
    if (a.shape().rank() != 2 || b.shape().rank() != 2)
      return invalid_argument("a " + a.shape().text() + " x b " + b.shape().text() +
                              ": both must be matrices");
    const auto sizes = product_sizes(a.shape().dims(), b.shape().dims(), transpose_a_, transpose_b_);
    if (!sizes) return sizes.status();
    const auto shape = Shape::make(Dims{sizes->rows, sizes->columns}, a.dtype());
    if (!shape) return shape.status();
    const auto output = context.output(0, *shape);
    if (!output) return output.status();
    Status status;
    with_type(MatMulTypes{}, a.dtype(), [&]<class T>(std::type_identity<T>) {
      status = gemm<T>(context.device(), 1, matrix<T>(a, transpose_a_), matrix<T>(b, transpose_b_),
                       (*output)->write<T>().data());
    });
    return status;
  }

 private:
  bool transpose_a_, transpose_b_;
};

Output conjugate(const Scope& scope, Output x) {
  return is_complex(scope.dtype(x)) ? scope.add_one("Conj", {x}) : x;
}

/// With g the gradient of c = A B, where A and B are a and b or their transposes: dA = g B', dB = A' g.
void matmul_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const bool ta = context.attr<bool>("transpose_a"), tb = context.attr<bool>("transpose_b");
  const Output g = context.gradient(), a = conjugate(scope, context.input(0)),
               b = conjugate(scope, context.input(1));
  const auto product = [&](Output x, Output y, bool transpose_x, bool transpose_y) {
    return scope.add_one("MatMul", {x, y}, {{"transpose_a", transpose_x}, {"transpose_b", transpose_y}});
  };
  context.set(0, ta ? product(b, g, tb, true) : product(g, b, false, !tb));
  context.set(1, tb ? product(g, a, true, ta) : product(a, g, !ta, false));
}

// ---- BatchMatMul

Status batch_matmul_shape(ShapeContext& context) {
  const PartialShape &x = context.input(0), &y = context.input(1);
  if (!x.known_rank() || !y.known_rank()) return {};
  if (x.rank() < 2 || x.rank() != y.rank())
    return invalid_argument("x " + x.text() + " x y " + y.text() + ": equal ranks of at least 2 are needed");
  const size_t batch_rank = x.rank() - 2;
  TROUPE_ASSIGN(const auto batch,
                merge(partial(x.dims().first(batch_rank)), partial(y.dims().first(batch_rank))));
  TROUPE_ASSIGN(const Sizes sizes,
                product_sizes(x.dims(), y.dims(), context.attr<bool>("adj_x"), context.attr<bool>("adj_y")));
  context.set_output(0, concatenate(batch, PartialShape{sizes.rows, sizes.columns}));
  return {};
}

/// The tensor conjugated, when it is complex and `adjoint`.
Result<Tensor> conjugated(KernelContext& context, const Tensor& tensor, bool adjoint) {
  if (!adjoint || !is_complex(tensor.dtype())) return tensor;
  TROUPE_ASSIGN(Tensor copy, context.scratch(tensor.dtype(), tensor.shape()));
  with_type(TypeList<std::complex<float>, std::complex<double>>{}, tensor.dtype(),
            [&]<class T>(std::type_identity<T>) {
              std::ranges::transform(tensor.as<T>(), copy.write<T>().begin(),
                                     [](const T& value) { return std::conj(value); });
            });
  return copy;
}

Status run_batch_matmul(KernelContext& context) {
  const bool adj_x = context.node().attrs.get<bool>("adj_x"), adj_y = context.node().attrs.get<bool>("adj_y");
  const auto x_dims = context.input(0).shape().dims(), y_dims = context.input(1).shape().dims();
  if (x_dims.size() < 2 || y_dims.size() < 2)
    return invalid_argument("x " + text_of(x_dims) + " x y " + text_of(y_dims) + ": both must hold matrices");
  if (x_dims.size() != y_dims.size() ||
      !std::ranges::equal(x_dims.first(x_dims.size() - 2), y_dims.first(x_dims.size() - 2)))
    return invalid_argument("x " + text_of(x_dims) + " x y " + text_of(y_dims) +
                            ": all but the last two dimensions must agree");
  TROUPE_ASSIGN(const Sizes sizes, product_sizes(x_dims, y_dims, adj_x, adj_y));
  Dims dims(x_dims.first(x_dims.size() - 2));
  size_t count = 1;
  for (const int64_t dim : dims) count *= static_cast<size_t>(dim);
  dims.append(Dims{sizes.rows, sizes.columns});
  TROUPE_ASSIGN(const Tensor x, conjugated(context, context.input(0), adj_x));
  TROUPE_ASSIGN(const Tensor y, conjugated(context, context.input(1), adj_y));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, x.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  Status status;
  with_type(MatMulTypes{}, x.dtype(), [&]<class T>(std::type_identity<T>) {
    status =
        gemm<T>(context.device(), count, matrix<T>(x, adj_x), matrix<T>(y, adj_y), output->write<T>().data());
  });
  return status;
}

void batch_matmul_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const bool ax = context.attr<bool>("adj_x"), ay = context.attr<bool>("adj_y");
  const Output g = context.gradient(), x = context.input(0), y = context.input(1);
  const auto product = [&](Output left, Output right, bool adj_left, bool adj_right) {
    return scope.add_one("BatchMatMul", {left, right}, {{"adj_x", adj_left}, {"adj_y", adj_right}});
  };
  context.set(0, ax ? product(y, g, ay, true) : product(g, y, false, !ay));
  context.set(1, ay ? product(g, x, true, ax) : product(x, g, !ax, false));
}

}  // namespace

void add_matmul_ops(OpLibrary& library) {
  const std::string types = "T: {half, float, double, int32, complex64, complex128}";
  library.op(OpDefBuilder("MatMul")
                 .input("a: T")
                 .input("b: T")
                 .output("product: T")
                 .attr("transpose_a: bool = false")
                 .attr("transpose_b: bool = false")
                 .attr(types)
                 .constructor("matmul(a, b, transpose_a, transpose_b)")
                 .shape(matmul_shape)
                 .gradient(matmul_gradient));
  library.kernel(cpu_kernel<MatMulKernel>("MatMul"));
  library.op(OpDefBuilder("BatchMatMul")
                 .input("x: T")
                 .input("y: T")
                 .output("output: T")
                 .attr(types)
                 .attr("adj_x: bool = false")
                 .attr("adj_y: bool = false")
                 .constructor("batch_matmul(x, y, adj_x, adj_y)")
                 .shape(batch_matmul_shape)
                 .gradient(batch_matmul_gradient));
  library.kernel(cpu_kernel("BatchMatMul", run_batch_matmul));
}

}  // namespace troupe
