// Matrix products.
//   MatMul(a, b)          of two matrices, each transposed on request; if the inner dimension is 0, the product is zeros
//   BatchMatMul(x, y)     of the matrices in the last two dimensions; all other dimensions must be equal. adj_x, adj_y: the
//                         adjoint (transposed and, if complex, conjugated)
//   BatchMatMulV2(x, y)   like BatchMatMul, but all other dimensions broadcast
#include "kernels/ops/math/matmul.h"

#include <algorithm>

#include "kernels/core/arguments.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/gemm.h"
#include "kernels/loops/packed_gemm.h"
#include "kernels/ops/broadcast_gradients.h"

namespace troupe {
namespace {

using MatMulTypes = Joined<AllFloatTypes, Joined<TypeList<int32_t, int64_t, int16_t>, ComplexTypes>>;

/// Returns rows, inner dimension and columns of a product. Fails with InvalidArgument if the inner dimensions differ.
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

/// Returns a view of the matrices in the last two dimensions of an input.
template <class T>
MatrixView<T> matrix(const Tensor& tensor, bool transposed) {
  const size_t last = tensor.shape().rank() - 1;
  return MatrixView<T>::of(tensor.as<T>().data(), tensor.shape()[last - 1], tensor.shape()[last], transposed);
}

// ---- MatMul

/// If g is the gradient of c = A B, where A and B are a and b or their transposes: dA = g B', dB = A' g.
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

/// Returns the batch dimensions of the result, from those of both inputs.
using BatchDims = Result<PartialShape> (*)(const PartialShape&, const PartialShape&);

template <BatchDims batch_dims>
Status batch_matmul_shape(ShapeContext& context) {
  const PartialShape &x = context.input(0), &y = context.input(1);
  if (!x.known_rank() || !y.known_rank()) return {};
  if (x.rank() < 2 || y.rank() < 2)
    return invalid_argument("x " + x.text() + " x y " + y.text() + ": both must have at least 2 dimensions");
  TROUPE_ASSIGN(const auto batch,
                batch_dims(partial(x.dims().first(x.rank() - 2)), partial(y.dims().first(y.rank() - 2))));
  TROUPE_ASSIGN(const Sizes sizes,
                product_sizes(x.dims(), y.dims(), context.attr<bool>("adj_x"), context.attr<bool>("adj_y")));
  context.set_output(0, concatenate(batch, PartialShape{sizes.rows, sizes.columns}));
  return {};
}

/// Returns the conjugate of the tensor if it is complex and `adjoint` is set, else the tensor.
Result<Tensor> conjugated(DeviceContext& device, const Tensor& tensor, bool adjoint) {
  if (!adjoint || !is_complex(tensor.dtype())) return tensor;
  TROUPE_ASSIGN(Tensor copy, Tensor::allocate(tensor.dtype(), tensor.shape(), device.memory()));
  with_type(ComplexTypes{}, tensor.dtype(), [&]<class T>(std::type_identity<T>) {
    std::ranges::transform(tensor.as<T>(), copy.write<T>().begin(),
                           [](const T& value) { return std::conj(value); });
  });
  return copy;
}

/// Computes the `count` products of a line of the batch, along which one input may be repeated.
template <class T>
Status multiply_line(DeviceContext& device, std::array<size_t, 2> steps, size_t count, MatrixView<T> x,
                     MatrixView<T> y, T* out) {
  if (steps[0] == 1 && steps[1] == 1) return gemm(device, count, x, y, out);
  const bool row_after_row = x.column_stride == 1 && (x.row_stride == x.columns || x.rows == 1);
  if (steps[1] == 0 && row_after_row) {  // the rows of all matrices are rows of one matrix
    x.row_stride = x.columns;
    x.rows *= static_cast<int64_t>(count);
    return gemm(device, 1, x, y, out);
  }
  for (size_t i = 0; i < count; ++i) {
    TROUPE_RETURN_IF_FAILED(gemm(device, 1, x, y, out));
    x.data += steps[0] * static_cast<size_t>(x.rows * x.columns);
    y.data += steps[1] * static_cast<size_t>(y.rows * y.columns);
    out += x.rows * y.columns;
  }
  return {};
}

template <class T>
Status multiply_batch(DeviceContext& device, const Broadcast<2>& batch, const MatrixView<T>& x,
                      const MatrixView<T>& y, T* out) {
  Status status;
  const auto count = static_cast<size_t>(batch.shape().elements());
  batch.walk(0, count, [&](const auto& from, size_t at, size_t n) {
    MatrixView<T> left = x, right = y;
    left.data += from[0] * static_cast<size_t>(x.rows * x.columns);
    right.data += from[1] * static_cast<size_t>(y.rows * y.columns);
    if (status.ok())
      status = multiply_line(device, batch.inner().steps, n, left, right,
                             out + at * static_cast<size_t>(x.rows * y.columns));
  });
  return status;
}

Status compute_batch_matmul(const BatchMatMulArguments& arguments, DeviceContext& device) {
  TROUPE_ASSIGN(const Tensor x, conjugated(device, arguments.x, arguments.adj_x));
  TROUPE_ASSIGN(const Tensor y, conjugated(device, arguments.y, arguments.adj_y));
  Status status;
  with_type(MatMulTypes{}, x.dtype(), [&]<class T>(std::type_identity<T>) {
    status = multiply_batch(device, arguments.batch, matrix<T>(x, arguments.adj_x),
                            matrix<T>(y, arguments.adj_y), arguments.output.write<T>().data());
  });
  return status;
}

bool broadcasts(const Node& node) { return node.type() == "BatchMatMulV2"; }

void batch_matmul_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const bool ax = context.attr<bool>("adj_x"), ay = context.attr<bool>("adj_y");
  const Output g = context.gradient(), x = context.input(0), y = context.input(1);
  const auto product = [&](Output left, Output right, bool adj_left, bool adj_right) {
    return scope.add_one(context.node().type(), {left, right}, {{"adj_x", adj_left}, {"adj_y", adj_right}});
  };
  const Output to_x = ax ? product(y, g, ay, true) : product(g, y, false, !ay);
  const Output to_y = ay ? product(g, x, true, ax) : product(x, g, !ax, false);
  const bool summed = broadcasts(context.node());
  context.set(0, summed ? summed_to_shape_of(scope, to_x, x) : to_x);
  context.set(1, summed ? summed_to_shape_of(scope, to_y, y) : to_y);
}

}  // namespace

Status MatMulCompute::operator()(const MatMulArguments& arguments, DeviceContext& device) const {
  if (arguments.a.dtype() == f32) return with_post_ops(arguments, {}, device);
  Status status;
  with_type(MatMulTypes{}, arguments.a.dtype(), [&]<class T>(std::type_identity<T>) {
    status = gemm<T>(device, 1, matrix<T>(arguments.a, arguments.transpose_a),
                     matrix<T>(arguments.b, arguments.transpose_b), arguments.product.write<T>().data());
  });
  return status;
}

Status MatMulCompute::with_post_ops(const MatMulArguments& arguments, const PostOps& post,
                                    DeviceContext& device) const {
  const auto a = matrix<float>(arguments.a, arguments.transpose_a),
             b = matrix<float>(arguments.b, arguments.transpose_b);
  float* const product = arguments.product.write<float>().data();
  if (panel_gemm_pays(a, b)) return panel_gemm(device, a, b, arguments.b, *weights_, post, product);
  if (packed_gemm_pays(a, b)) return packed_gemm(device, a, b, post, product);
  TROUPE_RETURN_IF_FAILED(gemm<float>(device, 1, a, b, product));
  if (post.any() && arguments.product.elements() != 0)
    apply_post_ops(device.pool(), post, a.rows, b.columns, product);
  return {};
}

Status matmul_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto a, context.with_rank(0, 2));
  TROUPE_ASSIGN(const auto b, context.with_rank(1, 2));
  TROUPE_ASSIGN(const Sizes sizes, product_sizes(a.dims(), b.dims(), context.attr<bool>("transpose_a"),
                                                 context.attr<bool>("transpose_b")));
  context.set_output(0, PartialShape{sizes.rows, sizes.columns});
  return {};
}

Result<MatMulArguments> MatMulCheck::operator()(KernelContext& context) const {
  const Tensor &a = context.input(0), &b = context.input(1);
  if (a.shape().rank() != 2 || b.shape().rank() != 2)
    return invalid_argument("a " + a.shape().text() + " x b " + b.shape().text() + ": both must be matrices");
  TROUPE_ASSIGN(const Sizes sizes,
                product_sizes(a.shape().dims(), b.shape().dims(), transpose_a_, transpose_b_));
  TROUPE_ASSIGN(const Shape shape,
                Shape::make(Dims{sizes.rows, sizes.columns}, context.node().output_types[0].dtype));
  TROUPE_ASSIGN(Tensor* const product, context.output(0, shape));
  return MatMulArguments{a, b, *product, transpose_a_, transpose_b_};
}

Result<BatchMatMulArguments> check_batch_matmul(KernelContext& context) {
  const Node& node = context.node();
  const bool adj_x = node.attrs.get<bool>("adj_x"), adj_y = node.attrs.get<bool>("adj_y");
  const Tensor &x = context.input(0), &y = context.input(1);
  const auto x_dims = x.shape().dims(), y_dims = y.shape().dims();
  if (x_dims.size() < 2 || y_dims.size() < 2)
    return invalid_argument("x " + text_of(x_dims) + " x y " + text_of(y_dims) +
                            ": both must have at least 2 dimensions");
  const auto x_batch = x_dims.first(x_dims.size() - 2), y_batch = y_dims.first(y_dims.size() - 2);
  if (!broadcasts(node) && !std::ranges::equal(x_batch, y_batch))
    return invalid_argument("x " + text_of(x_dims) + " x y " + text_of(y_dims) +
                            ": all dimensions but the last two must be equal");
  TROUPE_ASSIGN(const Sizes sizes, product_sizes(x_dims, y_dims, adj_x, adj_y));
  TROUPE_ASSIGN(auto batch, Broadcast<2>::make({x_batch, y_batch}, x.dtype()));
  Dims dims(batch.shape().dims());
  dims.append(Dims{sizes.rows, sizes.columns});
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, x.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return BatchMatMulArguments{x, y, *output, std::move(batch), adj_x, adj_y};
}

void add_matmul_ops(OpLibrary& library) {
  const std::string types = "T: {half, bfloat16, float, double, int16, int32, int64, complex64, complex128}";
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
  library.kernel(kernel_on("CPU", "MatMul", [](const PrepareContext& context) {
    return Result<std::unique_ptr<Kernel>>(make_kernel(MatMulCheck(context), MatMulCompute()));
  }));
  const auto batch_op = [&](const char* name, const char* constructor) {
    return OpDefBuilder(name)
        .input("x: T")
        .input("y: T")
        .output("output: T")
        .attr(types)
        .attr("adj_x: bool = false")
        .attr("adj_y: bool = false")
        .constructor(std::string(constructor) + "(x, y, adj_x, adj_y)")
        .gradient(batch_matmul_gradient);
  };
  library.op(batch_op("BatchMatMul", "batch_matmul").shape(batch_matmul_shape<merge>));
  library.kernel(cpu_kernel("BatchMatMul", check_batch_matmul, compute_batch_matmul));
  library.op(batch_op("BatchMatMulV2", "batch_matmul_v2").shape(batch_matmul_shape<broadcast>));
  library.kernel(cpu_kernel("BatchMatMulV2", check_batch_matmul, compute_batch_matmul));
}

}  // namespace troupe
