// Steps of a wide range as steps of a narrower one.
//   RequantizationRange(input, input_min, input_max)          the range of the input's elements, which holds 0
//   Requantize(input, input_min, input_max, requested_output_min, requested_output_max)
//                                                             the steps of the requested range
//   QuantizeDownAndShrinkRange(input, input_min, input_max)   both in one
// From qint32 to quint8, in fixed-point numbers of 16 bits after the point. Steps outside the requested range become its ends.
// Fails with InvalidArgument unless requested_output_min <= 0 and requested_output_min <= requested_output_max, and for ranges that
// are not one float each. Source: tensorflow/core/kernels/quantization_utils.h, RequantizeManyInNewRange.
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/ops/quantized/quantization.h"

namespace troupe {
namespace {

struct RequantizeArguments {
  const Tensor &input, &min, &max;
  const Tensor *requested_min, *requested_max;  ///< null: the range of the elements
  Tensor* output;                               ///< null for RequantizationRange
  RangeOutput range;
};

// ---- Computing

/// Returns the range of the elements, widened to hold 0.
FloatRange used_range(const RequantizeArguments& arguments) {
  const FloatRange range = range_of(arguments.min, arguments.max);
  int32_t least = std::numeric_limits<int32_t>::max(), greatest = std::numeric_limits<int32_t>::min();
  for (const QInt32 step : arguments.input.as<QInt32>()) {
    least = std::min(least, step.value);
    greatest = std::max(greatest, step.value);
  }
  return {std::min(0.0F, value_of(QInt32{least}, range)), value_of(QInt32{greatest}, range)};
}

/// step of the output = (step of the input * scale / 2^32 + offset) / 2^16.
class FixedPoint {
 public:
  FixedPoint(FloatRange from, FloatRange to) {
    constexpr double one = 65536;
    if (to.width() == 0) return;
    scale_ = 255 * one * static_cast<double>(from.width()) / static_cast<double>(to.width());
    const float inverse = static_cast<float>(255.0 / static_cast<double>(to.width()));
    const auto center = static_cast<float>((from.min + from.max) / 2.0);
    offset_ = std::trunc(static_cast<double>(center * inverse * static_cast<float>(one))) -
              std::trunc(one * (static_cast<double>(to.min) * 255.0) / static_cast<double>(to.width())) +
              one / 2;
    scale_ = std::trunc(scale_);
  }
  QUInt8 operator()(QInt32 step) const {
    return clamped_step<QUInt8>(
        std::floor((std::floor(static_cast<double>(step.value) * scale_ * 0x1p-32) + offset_) * 0x1p-16));
  }

 private:
  double scale_ = 0, offset_ = 0;
};

Result<FloatRange> requested_range(const RequantizeArguments& arguments) {
  if (!arguments.requested_min) return used_range(arguments);
  const FloatRange range = range_of(*arguments.requested_min, *arguments.requested_max);
  if (range.min <= 0 && range.min <= range.max) return range;
  return invalid_argument("requested_output_min is " + std::to_string(range.min) +
                          " and requested_output_max is " + std::to_string(range.max) +
                          "; the minimum must not be above 0 or the maximum");
}

Status compute_requantize(const RequantizeArguments& arguments, DeviceContext& device) {
  TROUPE_ASSIGN(const FloatRange to, requested_range(arguments));
  arguments.range.write(to);
  if (!arguments.output) return {};
  const FixedPoint convert(range_of(arguments.min, arguments.max), to);
  const auto from = arguments.input.as<QInt32>();
  const auto steps = arguments.output->write<QUInt8>();
  parallel_items(device.pool(), from.size(), 8, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) steps[i] = convert(from[i]);
  });
  return {};
}

// ---- Checks

Result<RequantizeArguments> check_requantize(KernelContext& context) {
  const bool requested = context.inputs() == 5;
  TROUPE_RETURN_IF_FAILED(check_range_shapes(context, 1));
  if (requested) TROUPE_RETURN_IF_FAILED(check_range_shapes(context, 3));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, context.input(0).shape()));
  TROUPE_ASSIGN(const RangeOutput range, range_output(context));
  return RequantizeArguments{context.input(0),
                             context.input(1),
                             context.input(2),
                             requested ? &context.input(3) : nullptr,
                             requested ? &context.input(4) : nullptr,
                             output,
                             range};
}

Result<RequantizeArguments> check_requantization_range(KernelContext& context) {
  TROUPE_RETURN_IF_FAILED(check_range_shapes(context, 1));
  TROUPE_ASSIGN(Tensor* const min, context.output(0, Shape()));
  TROUPE_ASSIGN(Tensor* const max, context.output(1, Shape()));
  return RequantizeArguments{context.input(0), context.input(1), context.input(2), nullptr,
                             nullptr,          nullptr,          {*min, *max}};
}

Status requantize_shape(ShapeContext& context) { return quantized_shape(context, context.input(0), 1); }

Status requantization_range_shape(ShapeContext& context) {
  for (const size_t i : {0, 1}) context.set_output(i, PartialShape::scalar());
  return {};
}

OpDefBuilder requantizing_op(const char* name) {
  return OpDefBuilder(name)
      .input("input: Tinput")
      .input("input_min: float")
      .input("input_max: float")
      .attr(std::string("Tinput: ") + quantized_types);
}

}  // namespace

void add_requantize_ops(OpLibrary& library) {
  OpDefBuilder requantize = requantizing_op("Requantize"),
               shrink = requantizing_op("QuantizeDownAndShrinkRange"),
               range = requantizing_op("RequantizationRange");
  requantize.input("requested_output_min: float").input("requested_output_max: float");
  for (OpDefBuilder* const op : {&requantize, &shrink})
    library.op(op->output("output: out_type")
                   .output("output_min: float")
                   .output("output_max: float")
                   .attr(std::string("out_type: ") + quantized_types)
                   .shape(requantize_shape));
  library.op(range.output("output_min: float").output("output_max: float").shape(requantization_range_shape));
  for (const char* name : {"Requantize", "QuantizeDownAndShrinkRange"})
    library.kernel(cpu_kernel(name, check_requantize, compute_requantize)
                       .on("Tinput", {DType::QInt32})
                       .on("out_type", {DType::QUInt8}));
  library.kernel(cpu_kernel("RequantizationRange", check_requantization_range, compute_requantize)
                     .on("Tinput", {DType::QInt32}));
}

}  // namespace troupe
