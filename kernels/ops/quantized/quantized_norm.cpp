// Normalisation of quantised images, [batch, height, width, channels] of quint8. Outputs 1 and 2 are the range of output 0.
//   QuantizedInstanceNorm(x, x_min, x_max)
//     (x - mean) / sqrt(variance + variance_epsilon), with the moments of each channel of each image, as quint8. The range is that
//     of the results, or given_y_min and given_y_max where output_range_given; it is widened to min_separation.
//   QuantizedBatchNormWithGlobalNormalization(t, t_min, t_max, m, ..., v, ..., beta, ..., gamma, ...)
//     (t - m) / sqrt(v + variance_epsilon) [gamma] + beta in numbers of 32 bits, of which 11 stand behind the point; each of the
//     five tensors has a range, and the last four one element for each channel. gamma counts if scale_after_normalization. The
//     result is qint32 in the range [-2^20, 2^20]; larger numbers wrap around.
// Fails with InvalidArgument for other shapes and ranges that are not one float each, and QuantizedInstanceNorm for an empty range.
// Source: tensorflow/core/kernels/quantized_instance_norm.cc, quantized_batch_norm_op.cc.
#include <array>
#include <vector>

#include "graph/build/signature.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/rows.h"
#include "kernels/ops/quantized/quantization.h"

namespace troupe {
namespace {

constexpr size_t image_rank = 4;

Status check_images(const KernelContext& context) {
  const Shape& shape = context.input(0).shape();
  if (shape.rank() == image_rank) return {};
  return invalid_argument(argument_name(context.node(), 0) + " has shape " + shape.text() +
                          "; it must be [batch, height, width, channels]");
}

// ---- QuantizedInstanceNorm

/// What becomes of the steps of a channel of an image: (step - mean) * factor.
struct Normalizer {
  float mean, factor;

  float operator()(uint8_t step) const { return (static_cast<float>(step) - mean) * factor; }
};

/// The steps of a channel of an image.
struct ChannelSteps {
  uint64_t sum = 0, squares = 0;
  uint8_t least = UINT8_MAX, most = 0;

  void add(uint8_t step) {
    sum += step;
    squares += uint64_t{step} * step;
    least = std::min(least, step);
    most = std::max(most, step);
  }
  Normalizer normalizer(size_t count, float scale, float epsilon) const {
    const double n = static_cast<double>(count), mean = static_cast<double>(sum) / n;
    const double variance = static_cast<double>(squares) / n - mean * mean;
    const auto scaled =
        static_cast<float>(variance * static_cast<double>(scale) * static_cast<double>(scale));
    return {static_cast<float>(mean), scale / std::sqrt(scaled + epsilon)};
  }
};

struct InstanceNormArguments {
  const Tensor &x, &min, &max;
  Tensor& y;
  RangeOutput range;
  const Node& node;
};

Result<InstanceNormArguments> check_instance_norm(KernelContext& context) {
  TROUPE_RETURN_IF_FAILED(check_images(context));
  TROUPE_RETURN_IF_FAILED(check_range_shapes(context, 1));
  const Attributes& attrs = context.node().attrs;
  if (attrs.get<bool>("output_range_given") &&
      !(attrs.get<float>("given_y_min") < attrs.get<float>("given_y_max")))
    return invalid_argument("given_y_max is " + std::to_string(attrs.get<float>("given_y_max")) +
                            "; it must be greater than given_y_min, which is " +
                            std::to_string(attrs.get<float>("given_y_min")));
  TROUPE_ASSIGN(Tensor* const y, context.output(0, context.input(0).shape()));
  TROUPE_ASSIGN(const RangeOutput range, range_output(context));
  return InstanceNormArguments{context.input(0), context.input(1), context.input(2), *y, range,
                               context.node()};
}

/// The channels of all images, and what their steps become.
struct NormalizedChannels {
  std::vector<Normalizer> normalizers;  ///< one for each channel of each image
  FloatRange range{std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest()};
};

NormalizedChannels normalize_channels(Pool& pool, const Tensor& x, float scale, float epsilon) {
  const auto images = static_cast<size_t>(x.shape()[0]), channels = static_cast<size_t>(x.shape()[3]);
  const size_t pixels = static_cast<size_t>(x.elements()) / images / channels;
  const auto steps = x.as<QUInt8>();
  std::vector<ChannelSteps> found(images * channels);
  parallel_rows(pool, images, 8 * pixels * channels, [&](size_t begin, size_t end) {
    for (size_t image = begin; image < end; ++image)
      for (size_t pixel = image * pixels; pixel < (image + 1) * pixels; ++pixel)
        for (size_t c = 0; c < channels; ++c)
          found[image * channels + c].add(steps[pixel * channels + c].value);
  });
  NormalizedChannels result;
  for (const ChannelSteps& channel : found) {
    const Normalizer normalizer = channel.normalizer(pixels, scale, epsilon);
    result.normalizers.push_back(normalizer);
    result.range.min = std::min(result.range.min, normalizer(channel.least));
    result.range.max = std::max(result.range.max, normalizer(channel.most));
  }
  return result;
}

Status compute_instance_norm(const InstanceNormArguments& arguments, DeviceContext& device) {
  const Tensor& x = arguments.x;
  const Attributes& attrs = arguments.node.attrs;
  const FloatRange from = range_of(arguments.min, arguments.max);
  TROUPE_RETURN_IF_FAILED(check_order(from, "x"));
  FloatRange range{0, 0};
  NormalizedChannels channels;
  if (x.elements() != 0) {
    channels =
        normalize_channels(device.pool(), x, from.width() / 255.0F, attrs.get<float>("variance_epsilon"));
    range = channels.range;
  }
  if (attrs.get<bool>("output_range_given"))
    range = {attrs.get<float>("given_y_min"), attrs.get<float>("given_y_max")};
  const auto least_width = attrs.get<float>("min_separation");
  if (range.width() < least_width) range.max = range.min + least_width;
  arguments.range.write(range);

  const Quantizer<QUInt8> step_of(range);
  const auto steps = x.as<QUInt8>();
  const auto to = arguments.y.write<QUInt8>();
  const auto depth = static_cast<size_t>(x.shape()[3]);
  const size_t image_elements = count_of(x.shape().dims().subspan(1));
  parallel_items(device.pool(), steps.size(), 8, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const Normalizer& normalizer = channels.normalizers[i / image_elements * depth + i % depth];
      to[i] = step_of(normalizer(steps[i].value));
    }
  });
  return {};
}

Status instance_norm_shape(ShapeContext& context) {
  TROUPE_ASSIGN(auto images, context.with_rank(0, image_rank));
  return quantized_shape(context, std::move(images), 1);
}

// ---- QuantizedBatchNormWithGlobalNormalization

/// The vectors behind the images t, in the order of the inputs.
enum Vector : uint8_t { Mean, Variance, Beta, Gamma };
constexpr size_t vectors = 4;

/// A quantised input with its range.
struct Ranged {
  const Tensor &steps, &min, &max;

  FloatRange range() const { return range_of(min, max); }
};

/// Input `number` of five, each of which is followed by its range.
Ranged ranged_input(const KernelContext& context, size_t number) {
  return {context.input(3 * number), context.input(3 * number + 1), context.input(3 * number + 2)};
}

struct BatchNormArguments {
  Ranged images;
  std::array<Ranged, vectors> of_channels;
  Tensor& result;
  RangeOutput range;
  float epsilon;
  bool scales;
};

Result<BatchNormArguments> check_batch_norm(KernelContext& context) {
  TROUPE_RETURN_IF_FAILED(check_images(context));
  const Shape& shape = context.input(0).shape();
  for (size_t number = 0; number <= vectors; ++number) {
    TROUPE_RETURN_IF_FAILED(check_range_shapes(context, 3 * number + 1));
    const Shape& vector = context.input(3 * number).shape();
    if (number != 0 && (vector.rank() != 1 || vector[0] != shape[3]))
      return invalid_argument(argument_name(context.node(), 3 * number) + " has shape " + vector.text() +
                              "; it must have an element for each of the " + std::to_string(shape[3]) +
                              " channels");
  }
  TROUPE_ASSIGN(Tensor* const result, context.output(0, shape));
  TROUPE_ASSIGN(const RangeOutput range, range_output(context));
  return BatchNormArguments{ranged_input(context, 0),
                            {ranged_input(context, 1), ranged_input(context, 2), ranged_input(context, 3),
                             ranged_input(context, 4)},
                            *result,
                            range,
                            context.node().attrs.get<float>("variance_epsilon"),
                            context.node().attrs.get<bool>("scale_after_normalization")};
}

constexpr FloatRange fixed_point{-(1 << 20), 1 << 20};

int32_t fixed_number(float value) { return nearest_step<QInt32>(value, fixed_point).value; }

/// What becomes of a number of a channel, all in fixed point.
struct FixedPointLine {
  int32_t scale, offset;

  int32_t operator()(int32_t number, int32_t one) const {
    const auto product = static_cast<int32_t>(static_cast<uint32_t>(number) * static_cast<uint32_t>(scale));
    return static_cast<int32_t>(static_cast<uint32_t>(product / one) + static_cast<uint32_t>(offset));
  }
};

std::vector<FixedPointLine> lines_of(const BatchNormArguments& arguments) {
  std::vector<FixedPointLine> lines;
  const auto value = [&](Vector vector, size_t channel) {
    const Ranged& input = arguments.of_channels[vector];
    return value_of(input.steps.as<QUInt8>()[channel], input.range());
  };
  for (size_t c = 0; c < static_cast<size_t>(arguments.images.steps.shape()[3]); ++c) {
    float scale = 1 / std::sqrt(value(Variance, c) + arguments.epsilon);
    if (arguments.scales) scale *= value(Gamma, c);
    lines.push_back({fixed_number(scale), fixed_number(-value(Mean, c) * scale + value(Beta, c))});
  }
  return lines;
}

void compute_batch_norm(const BatchNormArguments& arguments, DeviceContext& device) {
  std::array<int32_t, 256> numbers;  // of each step of the images
  for (size_t step = 0; step < numbers.size(); ++step)
    numbers[step] = fixed_number(value_of(QUInt8{static_cast<uint8_t>(step)}, arguments.images.range()));
  const int32_t one = fixed_number(1);
  const std::vector<FixedPointLine> lines = lines_of(arguments);
  const auto steps = arguments.images.steps.as<QUInt8>();
  const auto to = arguments.result.write<QInt32>();
  parallel_items(device.pool(), steps.size(), 8, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) to[i].value = lines[i % lines.size()](numbers[steps[i].value], one);
  });
  arguments.range.write(fixed_point);
}

Status batch_norm_shape(ShapeContext& context) {
  TROUPE_ASSIGN(auto images, context.with_rank(0, image_rank));
  for (size_t number = 1; number <= vectors; ++number)
    TROUPE_RETURN_IF_FAILED(merge(context.input(3 * number), PartialShape{images[3]}).status());
  context.set_output(0, std::move(images));
  for (const size_t i : {1, 2}) context.set_output(i, PartialShape::scalar());
  return {};
}

OpDefBuilder batch_norm_op() {
  OpDefBuilder op("QuantizedBatchNormWithGlobalNormalization");
  for (const std::string name : {"t", "m", "v", "beta", "gamma"})
    op.input(name + ": Tinput").input(name + "_min: float").input(name + "_max: float");
  return op.output("result: out_type")
      .output("result_min: float")
      .output("result_max: float")
      .attr(std::string("Tinput: ") + quantized_types)
      .attr(std::string("out_type: ") + quantized_types)
      .attr("variance_epsilon: float")
      .attr("scale_after_normalization: bool");
}

}  // namespace

void add_quantized_norm_ops(OpLibrary& library) {
  library.op(OpDefBuilder("QuantizedInstanceNorm")
                 .input("x: T")
                 .input("x_min: float")
                 .input("x_max: float")
                 .output("y: T")
                 .output("y_min: float")
                 .output("y_max: float")
                 .attr(std::string("T: ") + quantized_types)
                 .attr("output_range_given: bool = false")
                 .attr("given_y_min: float = 0")
                 .attr("given_y_max: float = 0")
                 .attr("variance_epsilon: float = 0.00001")
                 .attr("min_separation: float = 0.001")
                 .shape(instance_norm_shape));
  library.kernel(cpu_kernel("QuantizedInstanceNorm", check_instance_norm, compute_instance_norm)
                     .on("T", {DType::QUInt8}));
  library.op(batch_norm_op().shape(batch_norm_shape));
  library.kernel(cpu_kernel("QuantizedBatchNormWithGlobalNormalization", check_batch_norm, compute_batch_norm)
                     .on("Tinput", {DType::QUInt8})
                     .on("out_type", {DType::QInt32}));
}

}  // namespace troupe
