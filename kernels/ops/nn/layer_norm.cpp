// Layer normalisation of the rows of x, the vectors of its last dimension (Ba, Kiros and Hinton 2016). TensorFlow has no such op.
//   LayerNorm(x, scale, offset)    y = (x - mean) inverse scale + offset, where inverse = 1 / sqrt(variance + epsilon); the mean of
//                                  each row; its inverse
//   LayerNormGrad(y_backprop, x, scale, mean, inverse)    the gradients by x, scale and offset; epsilon counts in their gradient
// T of x and y is half, bfloat16, float or double; U of all else is the type in which they are computed: double, or else float.
// scale and offset have the length of a row. The variance divides by the number of elements. Gradients flow through y alone; that
// of the gradient is made of ops.
#include "kernels/ops/nn/layer_norm.h"

#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/cast.h"
#include "kernels/loops/layer_norm_loops.h"
#include "kernels/loops/rows.h"
#include "kernels/ops/nn/formula_gradient.h"
#include "kernels/ops/nn/pooling.h"

namespace troupe {
namespace {

// ---- Computation

/// Calls compute(T()) for the type T of scale and offset, float or double, in which x is computed.
template <class Compute>
Status in_type_of(const Tensor& scale, const Compute& compute) {
  if (scale.dtype() == f32) return compute(float());
  return compute(double());
}

template <class T>
Status layer_norm(const LayerNormArguments& arguments, DeviceContext& device, T epsilon) {
  const auto [rows, length] = arguments.rows;
  TROUPE_ASSIGN(const Tensor x, converted(device, arguments.x, arguments.scale.dtype()));
  return compute_wide(device, arguments.y, [&, rows = rows, n = length](Tensor& y) {
    const LayerNormLoops<T>& loops = layer_norm_loops<T>();
    const T *const from = x.as<T>().data(), *const scale = arguments.scale.as<T>().data(),
                   *const offset = arguments.offset.as<T>().data();
    T *const to = y.write<T>().data(), *const mean = arguments.mean.write<T>().data(),
             *const inverse = arguments.inverse.write<T>().data();
    parallel_rows(device.pool(), rows, 2 * sizeof(T) * n, [&](size_t begin, size_t end) {
      for (size_t row = begin; row < end; ++row) {
        const RowNorm<T> norm = loops.measure(from + row * n, n, epsilon);
        loops.normalize(from + row * n, n, norm, scale, offset, to + row * n);
        mean[row] = norm.mean;
        inverse[row] = norm.inverse;
      }
    });
  });
}

Status compute_layer_norm(const LayerNormArguments& arguments, DeviceContext& device) {
  return in_type_of(arguments.scale,
                    [&]<class T>(T) { return layer_norm<T>(arguments, device, T{arguments.epsilon}); });
}

/// Computes the gradients by scale and offset: sums over blocks of rows, then the sum of these. The blocks depend on the shape
/// alone, so that equal inputs give equal bits.
template <class T>
void sum_gradients(Pool& pool, const LayerNormGradArguments& arguments, const T* dy, const T* x) {
  constexpr size_t most_blocks = 64, least_rows = 32;
  const auto [rows, n] = arguments.rows;
  const size_t block = std::max((rows + most_blocks - 1) / most_blocks, least_rows),
               blocks = (rows + block - 1) / block;
  const T *const mean = arguments.mean.as<T>().data(), *const inverse = arguments.inverse.as<T>().data();
  std::vector<T> partial(blocks * 2 * n);
  parallel_rows(pool, blocks, 2 * sizeof(T) * block * n, [&, rows = rows, n = n](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      for (size_t row = i * block; row < std::min((i + 1) * block, rows); ++row)
        layer_norm_loops<T>().add_gradients(dy + row * n, x + row * n, n, {mean[row], inverse[row]},
                                            partial.data() + i * 2 * n, partial.data() + (i * 2 + 1) * n);
  });
  T* const sums[] = {arguments.scale_gradient.write<T>().data(), arguments.offset_gradient.write<T>().data()};
  for (size_t k = 0; k < 2; ++k)
    for (size_t column = 0; column < n; ++column) {
      double total = 0;
      for (size_t i = 0; i < blocks; ++i) total += double{partial[(i * 2 + k) * n + column]};
      sums[k][column] = static_cast<T>(total);
    }
}

template <class T>
Status layer_norm_grad(const LayerNormGradArguments& arguments, DeviceContext& device) {
  const auto [rows, length] = arguments.rows;
  const DType dtype = arguments.scale.dtype();
  TROUPE_ASSIGN(const Tensor gradient, converted(device, arguments.gradient, dtype));
  TROUPE_ASSIGN(const Tensor input, converted(device, arguments.x, dtype));
  const T *const dy = gradient.as<T>().data(), *const x = input.as<T>().data();
  sum_gradients(device.pool(), arguments, dy, x);
  return compute_wide(device, arguments.x_gradient, [&, rows = rows, n = length](Tensor& output) {
    const T *const scale = arguments.scale.as<T>().data(), *const mean = arguments.mean.as<T>().data(),
                   *const inverse = arguments.inverse.as<T>().data();
    T* const dx = output.write<T>().data();
    parallel_rows(device.pool(), rows, 3 * sizeof(T) * n, [&](size_t begin, size_t end) {
      for (size_t row = begin; row < end; ++row)
        layer_norm_loops<T>().gradient(dy + row * n, x + row * n, n, {mean[row], inverse[row]}, scale,
                                       dx + row * n);
    });
  });
}

Status compute_layer_norm_grad(const LayerNormGradArguments& arguments, DeviceContext& device) {
  return in_type_of(arguments.scale, [&]<class T>(T) { return layer_norm_grad<T>(arguments, device); });
}

// ---- Shapes and checks

Status check_rank(size_t rank) {
  if (rank > 0) return {};
  return invalid_argument("x is a scalar; it must have at least one dimension");
}

/// Returns a shape without its last dimension.
PartialShape without_last(const PartialShape& shape) {
  if (!shape.known_rank()) return shape;
  return partial(Dims(shape.dims()).without(shape.rank() - 1));
}

/// InvalidArgument unless the attribute U of the node is the type in which its T is computed.
Status check_types(const Node& node) {
  const DType type = node.attrs.get<DType>("T"), wanted = compute_dtype(type),
              given = node.attrs.get<DType>("U");
  if (given == wanted) return {};
  return invalid_argument("scale has dtype " + std::string(name(given)) + "; for x of dtype " +
                          std::string(name(type)) + " it must be " + std::string(name(wanted)));
}

/// Merges the last dimension of input x with the length of the vectors from input `first` to `last`.
Result<PartialShape> merged_length(ShapeContext& context, size_t x, size_t first, size_t last) {
  TROUPE_RETURN_IF_FAILED(check_types(context.node()));
  PartialShape length = PartialShape::vector(unknown_dim);
  if (const PartialShape& shape = context.input(x); shape.known_rank()) {
    TROUPE_RETURN_IF_FAILED(check_rank(shape.rank()));
    length = PartialShape::vector(shape.dims().back());
  }
  for (size_t i = first; i <= last; ++i) {
    TROUPE_ASSIGN(length, merge(length, context.input(i)));
  }
  return length;
}

Status layer_norm_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(merged_length(context, 0, 1, 2).status());
  const PartialShape x = context.input(0);
  context.set_output(0, x);
  for (const size_t i : {1, 2}) context.set_output(i, without_last(x));
  return {};
}

Status layer_norm_grad_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const PartialShape length, merged_length(context, 1, 2, 2));
  TROUPE_ASSIGN(PartialShape x, merge(context.input(0), context.input(1)));
  context.set_output(0, std::move(x));
  for (const size_t i : {1, 2}) context.set_output(i, length);
  return {};
}

Result<NormRows> rows_of(const Shape& x) {
  TROUPE_RETURN_IF_FAILED(check_rank(x.rank()));
  const auto dims = x.dims();
  return NormRows{count_of(dims.first(dims.size() - 1)), static_cast<size_t>(dims.back())};
}

/// The dimensions of what there is one of for each row.
Dims dims_of_rows(const Shape& x) { return Dims(x.dims()).without(x.rank() - 1); }

// ---- Gradients

Attributes epsilon_of(const GradientContext& context) {
  return {{"epsilon", context.attr<float>("epsilon")}};
}

void layer_norm_gradient(GradientContext& context) {
  if (!context.has_gradient(0)) return;
  const NodeId node = context.scope().add(
      "LayerNormGrad",
      {context.gradient(), context.input(0), context.input(1), context.output(1), context.output(2)},
      epsilon_of(context));
  for (uint32_t i = 0; i < 3; ++i) context.set(i, Output{node, i});
}

/// Returns [dx, dscale, doffset] made of ops, of the gradient, x and scale.
std::vector<Output> composed_gradients(const Scope& s, const std::vector<Output>& by, float epsilon) {
  const auto wide = [&, dtype = s.dtype(by[2])](Output x) {
    return s.dtype(x) == dtype ? x : cast(s, x, dtype);
  };
  const Output gradient = wide(by[0]), x = wide(by[1]), scaled = mul(s, gradient, by[2]);
  const Output distance = sub(s, x, mean(s, x, -1, true));
  const Output inverse = rsqrt(s, add(s, mean(s, square(s, distance), -1, true), epsilon));
  const Output normal = mul(s, distance, inverse);
  const Output along = mul(s, normal, mean(s, mul(s, scaled, normal), -1, true));
  const Output dx = mul(s, inverse, sub(s, sub(s, scaled, mean(s, scaled, -1, true)), along));
  const Output rows = concat(s, {integer_constants(s, Dims{-1}), shape_of(s, by[2])}, 0);
  const auto sum_of_rows = [&](Output z) { return sum(s, reshape(s, z, rows), 0); };
  const DType dtype = s.dtype(by[1]);
  return {s.dtype(dx) == dtype ? dx : cast(s, dx, dtype), sum_of_rows(mul(s, gradient, normal)),
          sum_of_rows(gradient)};
}

/// By y_backprop, x and scale.
void layer_norm_grad_gradient(GradientContext& context) {
  differentiate_formula(context, 3, [&](const std::vector<Output>& by) {
    return composed_gradients(context.scope(), by, context.attr<float>("epsilon"));
  });
}

}  // namespace

Result<LayerNormArguments> check_layer_norm(KernelContext& context) {
  const Tensor& x = context.input(0);
  TROUPE_ASSIGN(const NormRows rows, rows_of(x.shape()));
  const Dims length{static_cast<int64_t>(rows.length)};
  TROUPE_RETURN_IF_FAILED(check_dims(context.input(1), "scale", length));
  TROUPE_RETURN_IF_FAILED(check_dims(context.input(2), "offset", length));
  TROUPE_ASSIGN(const Shape each, Shape::make(dims_of_rows(x.shape()), context.input(1).dtype()));
  TROUPE_ASSIGN(Tensor* const y, context.forward(0, 0, x.shape()));
  TROUPE_ASSIGN(Tensor* const mean, context.output(1, each));
  TROUPE_ASSIGN(Tensor* const inverse, context.output(2, each));
  return LayerNormArguments{x.valid() ? x : *y,
                            context.input(1),
                            context.input(2),
                            *y,
                            *mean,
                            *inverse,
                            rows,
                            context.node().attrs.get<float>("epsilon")};
}

Result<LayerNormGradArguments> check_layer_norm_grad(KernelContext& context) {
  const Tensor &gradient = context.input(0), &x = context.input(1);
  TROUPE_ASSIGN(const NormRows rows, rows_of(x.shape()));
  TROUPE_RETURN_IF_FAILED(check_dims(gradient, "y_backprop", x.shape().dims()));
  const Dims length{static_cast<int64_t>(rows.length)}, each = dims_of_rows(x.shape());
  TROUPE_RETURN_IF_FAILED(check_dims(context.input(2), "scale", length));
  TROUPE_RETURN_IF_FAILED(check_dims(context.input(3), "mean", each));
  TROUPE_RETURN_IF_FAILED(check_dims(context.input(4), "inverse", each));
  const Shape vector = context.input(2).shape();
  TROUPE_ASSIGN(Tensor* const dx, context.forward(0, 0, x.shape()));
  TROUPE_ASSIGN(Tensor* const scale, context.output(1, vector));
  TROUPE_ASSIGN(Tensor* const offset, context.output(2, vector));
  return LayerNormGradArguments{gradient.valid() ? gradient : *dx,
                                x,
                                context.input(2),
                                context.input(3),
                                context.input(4),
                                *dx,
                                *scale,
                                *offset,
                                rows};
}

void add_layer_norm_ops(OpLibrary& library) {
  library.op(OpDefBuilder("LayerNorm")
                 .input("x: T")
                 .input("scale: U")
                 .input("offset: U")
                 .output("y: T")
                 .output("mean: U")
                 .output("inverse: U")
                 .attr("T: floattype")
                 .attr("U: {float, double}")
                 .attr("epsilon: float = 1e-05")
                 .shape(layer_norm_shape)
                 .gradient(layer_norm_gradient));
  library.kernel(cpu_kernel("LayerNorm", check_layer_norm, compute_layer_norm));
  library.op(OpDefBuilder("LayerNormGrad")
                 .input("y_backprop: T")
                 .input("x: T")
                 .input("scale: U")
                 .input("mean: U")
                 .input("inverse: U")
                 .output("x_backprop: T")
                 .output("scale_backprop: U")
                 .output("offset_backprop: U")
                 .attr("T: floattype")
                 .attr("U: {float, double}")
                 .attr("epsilon: float = 1e-05")
                 .shape(layer_norm_grad_shape)
                 .gradient(layer_norm_grad_gradient));
  library.kernel(cpu_kernel("LayerNormGrad", check_layer_norm_grad, compute_layer_norm_grad));
}

}  // namespace troupe
