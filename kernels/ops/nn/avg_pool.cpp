// Average pooling: the mean of the elements of each window, padding left out.
//   AvgPool(value)                            images, data_format NHWC or NCHW
//   AvgPool3D(input)                          volumes, NDHWC or NCDHW
//   AvgPoolGrad(orig_input_shape, grad), AvgPool3DGrad   each element of grad is shared out evenly over its window
// ksize and strides have one element for each dimension, 1 for batch and channels. half and bfloat16 are computed in float.
// Source: tensorflow/core/kernels/avgpooling_op.cc.
#include "kernels/ops/nn/avg_pool.h"

#include "graph/build/gradients.h"
#include "kernels/core/arguments.h"
#include "kernels/loops/strided_copy.h"

namespace troupe {
namespace {

/// Divides each element of an output row by the number of elements its window covers.
template <class T>
void divide_row(const Pooling& pooling, size_t row, size_t width, T* values) {
  const auto height = static_cast<size_t>(pooling.windows[1].output);
  const size_t count =
      covered(pooling.windows[0], row / height).size() * covered(pooling.windows[1], row % height).size();
  for (size_t i = 0; i < static_cast<size_t>(pooling.windows[2].output); ++i) {
    const T divisor = static_cast<T>(count * covered(pooling.windows[2], i).size());
    for (size_t c = 0; c < width; ++c) values[i * width + c] /= divisor;
  }
}

template <class T>
void avg_pool(Pool& pool, const Pooling& pooling, const Tensor& input, Tensor& output) {
  const size_t pixel = pooling.channels_last ? static_cast<size_t>(pooling.channels) : 1;
  combine_windows(pool, pooling, input, output, T{}, window_loops(output.dtype()).sum,
                  [&](size_t row, T* sums) { divide_row(pooling, row, pixel, sums); });
}

template <class T>
void avg_pool_grad(Pool& pool, const Pooling& pooling, const Tensor& gradient, Tensor& output) {
  const PoolParts parts(pooling, channels_of_a_part(pooling));
  const WindowLoops& loops = window_loops(output.dtype());
  const T* const dy = gradient.as<T>().data();
  T* const dx = output.write<T>().data();
  parallel_rows(pool, parts.count(), 2 * output.bytes() / parts.count(), [&](size_t begin, size_t end) {
    std::vector<T> shares(parts.columns() * parts.widest());
    for (size_t i = begin; i < end; ++i) {
      const PoolParts::Part part = parts[i];
      ZeroedRows<T> zeroed(parts, part, dx);
      for (size_t row = 0; row < parts.rows(); ++row) {
        zeroed.until(parts.input_rows_until(row));
        parts.copy_output_row(part, row, dy, shares.data());
        divide_row(pooling, row, part.width, shares.data());
        parts.visit_row(part, row, [&](const WindowPoints& points, size_t to, size_t column) {
          loops.spread(points, shares.data() + column * part.width, dx + to);
        });
      }
      zeroed.until(parts.input_rows());
    }
  });
}

template <bool IsGradient>
Status compute_avg_pool(const AvgPoolArguments& arguments, DeviceContext& device) {
  const auto& [from, output, pooling] = arguments;
  if (output.elements() == 0) return {};
  if (from.elements() == 0) {
    fill(device.pool(), output);
    return {};
  }
  TROUPE_ASSIGN(const Tensor wide, converted(device, from, compute_dtype(output.dtype())));
  return compute_wide(device, output, [&, &windows = pooling](Tensor& to) {
    if (!IsGradient) return pool_averages(device.pool(), windows, wide, to);
    with_type(FloatTypes{}, to.dtype(),
              [&]<class T>(std::type_identity<T>) { avg_pool_grad<T>(device.pool(), windows, wide, to); });
  });
}

// ---- Shapes

Status avg_pool_shape(ShapeContext& context) { return pooling_shape(context, false); }

Status avg_pool_grad_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const ImageAxes axes, image_axes(context.node()));
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, axes.rank).status());
  TROUPE_ASSIGN(const PartialShape shape, shape_from_input(context, 0));
  context.set_output(0, shape.known_rank() ? shape : PartialShape::of_rank(axes.rank));
  if (!shape.known_rank() || shape.rank() == axes.rank) return {};
  return invalid_argument("orig_input_shape has " + std::to_string(shape.rank()) + " elements, expected " +
                          std::to_string(axes.rank));
}

// ---- Gradients

Attributes windows_of(const GradientContext& context) {
  Attributes attrs;
  for (const char* attr : {"ksize", "strides", "padding", "data_format"})
    attrs.set(attr, *context.node().attrs.find(attr));
  return attrs;
}

void avg_pool_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const std::string name = context.node().type() + "Grad";
  context.set(
      0, scope.add_one(name, {shape_of(scope, context.input(0)), context.gradient()}, windows_of(context)));
}

void avg_pool_grad_gradient(GradientContext& context) {
  const std::string& name = context.node().type();
  context.set(
      1, context.scope().add_one(name.substr(0, name.size() - 4), {context.gradient()}, windows_of(context)));
}

void add_avg_pool(OpLibrary& library, const std::string& name, const std::string& input,
                  const std::string& constructor, const char* rank, const char* formats) {
  const auto with_attrs = [&](OpDefBuilder& op) {
    library.op(op.output("output: T")
                   .attr(std::string("ksize: list(int) >= ") + rank)
                   .attr(std::string("strides: list(int) >= ") + rank)
                   .attr("padding: {'SAME', 'VALID'}")
                   .attr(formats)
                   .attr("T: floattype"));
  };
  OpDefBuilder forward(name), backward(name + "Grad");
  with_attrs(forward.input(input + ": T")
                 .constructor(constructor + "(" + input + ", ksize, strides, padding, data_format)")
                 .shape(avg_pool_shape)
                 .gradient(avg_pool_gradient));
  with_attrs(backward.host_input("orig_input_shape: int32")
                 .input("grad: T")
                 .shape(avg_pool_grad_shape)
                 .gradient(avg_pool_grad_gradient));
  library.kernel(cpu_kernel(name, check_avg_pool, compute_avg_pool<false>));
  library.kernel(cpu_kernel(name + "Grad", check_avg_pool_grad, compute_avg_pool<true>));
}

}  // namespace

void pool_averages(Pool& pool, const Pooling& pooling, const Tensor& input, Tensor& output) {
  with_type(FloatTypes{}, output.dtype(),
            [&]<class T>(std::type_identity<T>) { avg_pool<T>(pool, pooling, input, output); });
}

Result<AvgPoolArguments> check_avg_pool(KernelContext& context) {
  const Tensor& input = context.input(0);
  TROUPE_ASSIGN(const PoolingLists lists, pooling_lists(context, 1));
  TROUPE_ASSIGN(Pooling pooling,
                pooling_of(context.node(), input.shape().dims(), lists.ksize, lists.strides));
  TROUPE_ASSIGN(const Shape shape, Shape::make(pooling.output, input.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return AvgPoolArguments{input, *output, std::move(pooling)};
}

Result<AvgPoolArguments> check_avg_pool_grad(KernelContext& context) {
  const Tensor& gradient = context.input(1);
  TROUPE_ASSIGN(const Dims dims, integer_vector(context.input(0), "orig_input_shape"));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, gradient.dtype()));
  TROUPE_ASSIGN(const PoolingLists lists, pooling_lists(context, 2));
  TROUPE_ASSIGN(Pooling pooling, pooling_of(context.node(), dims, lists.ksize, lists.strides));
  TROUPE_RETURN_IF_FAILED(check_dims(gradient, "grad", pooling.output));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return AvgPoolArguments{gradient, *output, std::move(pooling)};
}

void add_avg_pool_ops(OpLibrary& library) {
  add_avg_pool(library, "AvgPool", "value", "avg_pool", "4", "data_format: {'NHWC', 'NCHW'} = 'NHWC'");
  add_avg_pool(library, "AvgPool3D", "input", "avg_pool_3d", "5",
               "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'");
}

}  // namespace troupe
