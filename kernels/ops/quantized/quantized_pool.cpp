// Pooling of quantised images [batch, rows, columns, channels] of quint8. The range stays the same.
//   QuantizedMaxPool(input, min_input, max_input)   the greatest step of each window
//   QuantizedAvgPool(input, min_input, max_input)   the mean of its steps, rounded down; padding is left out
// ksize, strides and padding are as of MaxPool. Source: tensorflow/core/kernels/quantized_pooling_ops.cc.
#include "kernels/loops/cast.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops/nn/avg_pool.h"
#include "kernels/ops/quantized/quantization.h"
#include "kernels/ops/quantized/views.h"

namespace troupe {
namespace {

struct QuantizedPoolArguments {
  const Tensor &input, &min, &max;
  Tensor& output;
  RangeOutput range;
  Pooling pooling;
};

Result<QuantizedPoolArguments> check_pool(KernelContext& context) {
  const Tensor& input = context.input(0);
  TROUPE_RETURN_IF_FAILED(check_range_shapes(context, 1));
  const Attributes& attrs = context.node().attrs;
  const Dims ksize(attrs.get<std::vector<int64_t>>("ksize")),
      strides(attrs.get<std::vector<int64_t>>("strides"));
  TROUPE_ASSIGN(Pooling pooling, pooling_of(context.node(), input.shape().dims(), ksize, strides));
  TROUPE_ASSIGN(const Shape shape, Shape::make(pooling.output, input.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  TROUPE_ASSIGN(const RangeOutput range, range_output(context));
  return QuantizedPoolArguments{input, context.input(1),  context.input(2), *output,
                                range, std::move(pooling)};
}

Status compute_max_pool(const QuantizedPoolArguments& arguments, DeviceContext& device) {
  arguments.range.write(range_of(arguments.min, arguments.max));
  if (arguments.output.elements() == 0) return {};
  const Tensor input = storage_view(arguments.input);
  Tensor output = storage_view(arguments.output);
  combine_windows<uint8_t>(device.pool(), arguments.pooling, input, output, 0, window_loops(DType::UInt8).max,
                           [](size_t, uint8_t*) {});
  return {};
}

Status compute_avg_pool(const QuantizedPoolArguments& arguments, DeviceContext& device) {
  arguments.range.write(range_of(arguments.min, arguments.max));
  if (arguments.output.elements() == 0) return {};
  // Sums of windows of up to 2^16 bytes are floats, and no quotient of them is rounded to the next whole number.
  TROUPE_ASSIGN(const Tensor input, converted(device, storage_view(arguments.input), f32));
  TROUPE_ASSIGN(Tensor means, Tensor::allocate(f32, arguments.output.shape(), device.memory()));
  pool_averages(device.pool(), arguments.pooling, input, means);
  Tensor output = storage_view(arguments.output);
  convert(device.pool(), means, output);
  return {};
}

Status pool_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(pooling_shape(context, false));
  for (const size_t i : {1, 2}) context.set_output(i, PartialShape::scalar());
  return {};
}

}  // namespace

void add_quantized_pools(OpLibrary& library) {
  for (const char* name : {"QuantizedAvgPool", "QuantizedMaxPool"})
    library.op(OpDefBuilder(name)
                   .input("input: T")
                   .input("min_input: float")
                   .input("max_input: float")
                   .output("output: T")
                   .output("min_output: float")
                   .output("max_output: float")
                   .attr(std::string("T: ") + quantized_types)
                   .attr("ksize: list(int)")
                   .attr("strides: list(int)")
                   .attr("padding: {'SAME', 'VALID'}")
                   .shape(pool_shape));
  library.kernel(cpu_kernel("QuantizedAvgPool", check_pool, compute_avg_pool).on("T", {DType::QUInt8}));
  library.kernel(cpu_kernel("QuantizedMaxPool", check_pool, compute_max_pool).on("T", {DType::QUInt8}));
}

}  // namespace troupe
