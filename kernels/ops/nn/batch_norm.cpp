// Batch normalisation of x, of rank 4 or 5, by channel: y = (x - mean) / sqrt(variance + epsilon) scale + offset.
//   FusedBatchNorm(x, scale, offset, mean, variance)    T: float
//   FusedBatchNormV2, V3                                x in half or bfloat16, too, computed in float; V3 volumes, and one more
// output, 0
//   FusedBatchNormGrad(y_backprop, x, scale, mean, variance), V2, V3    the gradients by x, scale and offset, and two empty outputs
// is_training: the mean and variance of x, whose variance counts n - 1 in the output batch_variance and n in y and in the reserve
// space. With exponential_avg_factor f below 1 both outputs are f times those of x and (1 - f) times those given. Otherwise: mean
// and variance as given. Of an x without elements they are NaN. The last dimension counts the channels, or the second where
// data_format says so. Gradients flow through y alone, as in TensorFlow; that of the gradient is made of ops. Source:
// tensorflow/core/kernels/fused_batch_norm_op.cc, python/ops/nn_grad.py.
#include "kernels/ops/nn/batch_norm.h"

#include <cmath>
#include <limits>

#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/cast.h"
#include "kernels/loops/channel_loops.h"
#include "kernels/loops/rows.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops/nn/pooling.h"

namespace troupe {
namespace {

Status check_rank(size_t rank) {
  if (rank == 4 || rank == 5) return {};
  return invalid_argument("x has rank " + std::to_string(rank) + ", expected 4 or 5");
}

size_t channel_axis(const Node& node, size_t rank) { return channels_are_last(node) ? rank - 1 : 1; }

// ---- Blocks

/// The work on a tensor cut into blocks that lie together: with channels last some rows of all channels, else a part of one
/// channel of one image.
class ChannelBlocks {
 public:
  explicit ChannelBlocks(const Channels& channels)
      : channels_(channels), last_(channels.last && channels.channels > 1) {
    const size_t width = last_ ? channels.channels : 1;
    rows_ = std::clamp<size_t>(block_cost / 2 / (4 * width), 1, last_ ? 1024 : 16384);
    in_run_ = (channels.area - 1) / rows_ + 1;
  }

  bool side_by_side() const { return last_; }
  size_t count() const { return last_ ? in_run_ : channels_.images * channels_.channels * in_run_; }
  /// How many channels a block has, and the first of them.
  size_t width() const { return last_ ? channels_.channels : 1; }
  size_t channel(size_t i) const { return last_ ? 0 : i / in_run_ % channels_.channels; }
  ChannelBlock block(size_t i) const { return {rows(i), width()}; }
  size_t first(size_t i) const { return (i / in_run_ * channels_.area + i % in_run_ * rows_) * width(); }
  size_t rows(size_t i) const { return std::min(rows_, channels_.area - i % in_run_ * rows_); }

  /// Calls use(i) for each block.
  template <class Use>
  void share(Pool& pool, size_t tensors, const Use& use) const {
    parallel_rows(pool, count(), tensors * 4 * rows_ * width(), [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) use(i);
    });
  }

 private:
  const Channels channels_;
  bool last_;
  size_t rows_, in_run_;
};

/// Two numbers for each channel of each block, in the order of the blocks.
class PartialSums {
 public:
  explicit PartialSums(const ChannelBlocks& blocks)
      : blocks_(blocks), first_(blocks.count() * blocks.width()), second_(first_.size()) {}
  float* first(size_t i) { return &first_[i * blocks_.width()]; }
  float* second(size_t i) { return &second_[i * blocks_.width()]; }

  /// Calls add(channel, rows of the block, first, second) in the order of the blocks.
  template <class AddUp>
  void for_each(const AddUp& add) const {
    for (size_t i = 0; i < blocks_.count(); ++i)
      for (size_t c = 0; c < blocks_.width(); ++c) {
        const size_t at = i * blocks_.width() + c;
        add(blocks_.channel(i) + c, static_cast<double>(blocks_.rows(i)), double{first_[at]},
            double{second_[at]});
      }
  }

 private:
  const ChannelBlocks& blocks_;
  std::vector<float> first_, second_;
};

// ---- Forward

/// Of each channel; the variance divides by the number of elements.
struct Moments {
  std::vector<double> mean, variance;
};

Moments moments_of(Pool& pool, const ChannelBlocks& blocks, const Channels& channels, const float* x) {
  const ChannelLoops& loops = channel_loops(blocks.side_by_side());
  PartialSums partial(blocks);
  blocks.share(pool, 1, [&](size_t i) {
    loops.moments(blocks.block(i), x + blocks.first(i), partial.first(i), partial.second(i));
  });
  Moments result{std::vector<double>(channels.channels), std::vector<double>(channels.channels)};
  const auto count = static_cast<double>(channels.count());
  partial.for_each(
      [&](size_t c, double rows, double mean, double) { result.mean[c] += mean * (rows / count); });
  partial.for_each([&](size_t c, double rows, double mean, double squares) {
    const double distance = mean - result.mean[c];
    result.variance[c] += (squares + distance * distance * rows) / count;
  });
  return result;
}

/// The new averages and what is kept of a batch for the gradient.
void write_moments(const BatchNormArguments& arguments, const Moments& moments) {
  const auto count = static_cast<double>(arguments.channels.count());
  const double unbiased = count / std::max(count - 1, 1.0), average = arguments.average;
  const auto merged = [&](double ours, const Tensor& given, size_t c) {
    if (arguments.average == 1) return static_cast<float>(ours);
    return static_cast<float>(ours * average + double{given.as<float>()[c]} * (1 - average));
  };
  for (size_t c = 0; c < moments.mean.size(); ++c) {
    arguments.saved_mean.write<float>()[c] = static_cast<float>(moments.mean[c]);
    arguments.saved_variance.write<float>()[c] = static_cast<float>(moments.variance[c]);
    arguments.batch_mean.write<float>()[c] = merged(moments.mean[c], arguments.mean, c);
    arguments.batch_variance.write<float>()[c] =
        merged(moments.variance[c] * unbiased, arguments.variance, c);
  }
}

void copy_given(const BatchNormArguments& arguments) {
  const auto mean = arguments.mean.as<float>(), variance = arguments.variance.as<float>();
  for (Tensor* const to : {&arguments.batch_mean, &arguments.saved_mean})
    std::ranges::copy(mean, to->write<float>().begin());
  for (Tensor* const to : {&arguments.batch_variance, &arguments.saved_variance})
    std::ranges::copy(variance, to->write<float>().begin());
}

float root(float variance, float epsilon) { return 1 / std::sqrt(variance + epsilon); }

Status compute_batch_norm(const BatchNormArguments& arguments, DeviceContext& device) {
  if (arguments.unused) fill(device.pool(), *arguments.unused);
  const Channels& channels = arguments.channels;
  if (arguments.x.elements() == 0) {
    for (Tensor* const to :
         {&arguments.batch_mean, &arguments.saved_mean, &arguments.batch_variance, &arguments.saved_variance})
      std::ranges::fill(to->write<float>(), std::numeric_limits<float>::quiet_NaN());
    return {};
  }
  TROUPE_ASSIGN(const Tensor x, converted(device, arguments.x, f32));
  const float* const from = x.as<float>().data();
  const ChannelBlocks blocks(channels);
  if (arguments.training)
    write_moments(arguments, moments_of(device.pool(), blocks, channels, from));
  else
    copy_given(arguments);
  const float* const mean = arguments.saved_mean.as<float>().data();
  const float* const offset = arguments.offset.as<float>().data();
  const std::vector<float> factor =
      normalizing_factors(arguments.scale, arguments.saved_variance, arguments.epsilon);
  return compute_wide(device, arguments.y, [&](Tensor& y) {
    float* const to = y.write<float>().data();
    blocks.share(device.pool(), 2, [&](size_t i) {
      const size_t at = blocks.first(i), c = blocks.channel(i);
      channel_loops(blocks.side_by_side())
          .normalize(blocks.block(i), from + at, mean + c, &factor[c], offset + c, to + at);
    });
  });
}

// ---- Gradient

/// What multiplies the gradient and the distance from the mean, and what is added.
struct GradientCoefficients {
  std::vector<float> by_gradient, by_distance, rest;
};

/// Fills in the gradients of scale and offset.
GradientCoefficients coefficients_of(const BatchNormGradArguments& arguments, const PartialSums& partial) {
  const size_t channels = arguments.channels.channels;
  std::vector<double> sums(channels), products(channels);
  partial.for_each([&](size_t c, double, double sum, double product) {
    sums[c] += sum;
    products[c] += product;
  });
  GradientCoefficients result{std::vector<float>(channels), std::vector<float>(channels),
                              std::vector<float>(channels)};
  const auto count = static_cast<double>(arguments.channels.count());
  for (size_t c = 0; c < channels; ++c) {
    const double inverse = root(arguments.variance.as<float>()[c], arguments.epsilon);
    const double factor = double{arguments.scale.as<float>()[c]} * inverse;
    arguments.scale_gradient.write<float>()[c] = static_cast<float>(products[c] * inverse);
    arguments.offset_gradient.write<float>()[c] = static_cast<float>(sums[c]);
    result.by_gradient[c] = static_cast<float>(factor);
    if (!arguments.training) continue;
    result.by_distance[c] = static_cast<float>(-factor * inverse * inverse * products[c] / count);
    result.rest[c] = static_cast<float>(-factor * sums[c] / count);
  }
  return result;
}

Status compute_batch_norm_grad(const BatchNormGradArguments& arguments, DeviceContext& device) {
  if (arguments.x.elements() == 0) {
    for (Tensor* const to : {&arguments.scale_gradient, &arguments.offset_gradient}) fill(device.pool(), *to);
    return {};
  }
  TROUPE_ASSIGN(const Tensor gradient, converted(device, arguments.gradient, f32));
  TROUPE_ASSIGN(const Tensor input, converted(device, arguments.x, f32));
  const float *const dy = gradient.as<float>().data(), *const x = input.as<float>().data();
  const float* const mean = arguments.mean.as<float>().data();
  const ChannelBlocks blocks(arguments.channels);
  const ChannelLoops& loops = channel_loops(blocks.side_by_side());
  PartialSums partial(blocks);
  blocks.share(device.pool(), 2, [&](size_t i) {
    const size_t at = blocks.first(i);
    loops.gradient_sums(blocks.block(i), dy + at, x + at, mean + blocks.channel(i), partial.first(i),
                        partial.second(i));
  });
  const GradientCoefficients by = coefficients_of(arguments, partial);
  return compute_wide(device, arguments.x_gradient, [&](Tensor& output) {
    float* const dx = output.write<float>().data();
    blocks.share(device.pool(), 3, [&](size_t i) {
      const size_t at = blocks.first(i), c = blocks.channel(i);
      loops.gradient(blocks.block(i), dy + at, x + at, mean + c, &by.by_gradient[c], &by.by_distance[c],
                     &by.rest[c], dx + at);
    });
  });
}

// ---- Shapes

/// What the channels of input x and the vectors from input `first` to `last` say of their number. Sets output 0 to the shape of x.
Result<PartialShape> merged_channels(ShapeContext& context, size_t x, size_t first, size_t last) {
  PartialShape channels = PartialShape::vector(unknown_dim);
  PartialShape shape = context.input(x);
  for (size_t i = first; i <= last; ++i) {
    TROUPE_ASSIGN(const PartialShape vector, context.with_rank(i, 1));
    TROUPE_ASSIGN(channels, merge(channels, vector));
  }
  if (shape.known_rank()) {
    TROUPE_RETURN_IF_FAILED(check_rank(shape.rank()));
    const size_t axis = channel_axis(context.node(), shape.rank());
    TROUPE_ASSIGN(channels, merge(channels, PartialShape::vector(shape[axis])));
    shape = partial(Dims(shape.dims()).without(axis).with(axis, channels[0]));
  }
  context.set_output(0, std::move(shape));
  return channels;
}

Status batch_norm_shape(ShapeContext& context) {
  const Node& node = context.node();
  const bool given = !is_training(node) || node.attrs.get<float>("exponential_avg_factor") != 1;
  for (const size_t i : {3, 4}) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 1).status());
  TROUPE_ASSIGN(const PartialShape channels, merged_channels(context, 0, 1, given ? 4 : 2));
  for (const size_t i : {1, 2, 3, 4}) context.set_output(i, channels);
  if (node.output_types.size() == 6) context.set_output(5, PartialShape::scalar());
  return {};
}

Status batch_norm_grad_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const PartialShape channels, merged_channels(context, 1, 2, 4));
  TROUPE_ASSIGN(PartialShape shape, merge(context.input(0), context.input(1)));
  context.set_output(0, std::move(shape));
  for (const size_t i : {1, 2}) context.set_output(i, channels);
  for (const size_t i : {3, 4}) context.set_output(i, PartialShape::vector(0));
  return {};
}

Result<Channels> channels_of(const Node& node, const Shape& x) {
  TROUPE_RETURN_IF_FAILED(check_rank(x.rank()));
  const auto dims = x.dims();
  const bool last = channels_are_last(node);
  const size_t axis = channel_axis(node, x.rank());
  return Channels{last ? 1 : static_cast<size_t>(dims[0]), static_cast<size_t>(dims[axis]),
                  last ? count_of(dims.first(axis)) : count_of(dims.subspan(2)), last};
}

/// InvalidArgument unless inputs `first` to `last` are vectors with a number for each channel.
Status check_vectors(const KernelContext& context, size_t first, size_t last, size_t channels) {
  for (size_t i = first; i <= last; ++i)
    TROUPE_RETURN_IF_FAILED(check_dims(context.input(i), context.node().op->inputs[i].name,
                                       Dims{static_cast<int64_t>(channels)}));
  return {};
}

// ---- Definitions

/// What the versions of the ops differ in.
struct Version {
  const char *suffix, *types, *statistics, *formats;
};
constexpr Version versions[] = {
    {"", "T: {float}", "T", "data_format: {'NHWC', 'NCHW'} = 'NHWC'"},
    {"V2", "T: {half, bfloat16, float}", "U", "data_format: {'NHWC', 'NCHW'} = 'NHWC'"},
    {"V3", "T: {half, bfloat16, float}", "U", "data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'"}};

OpDefBuilder& add_attributes(OpDefBuilder& op, const Version& version, const char* statistics) {
  op.attr(version.types);
  if (*version.suffix) op.attr(statistics);
  return op.attr("epsilon: float = 0.0001").attr(version.formats).attr("is_training: bool = true");
}

void add_forward(OpLibrary& library, const Version& version) {
  const std::string name = std::string("FusedBatchNorm") + version.suffix,
                    type = std::string(": ") + version.statistics;
  const bool third = name == "FusedBatchNormV3";
  OpDefBuilder op(name);
  op.input("x: T").output("y: T");
  for (const char* input : {"scale", "offset", "mean", "variance"}) op.input(input + type);
  for (const char* output : {"batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2"})
    op.output(output + type);
  if (third) {
    op.output("reserve_space_3" + type);
    op.constructor(
        "fused_batch_norm(x, scale, offset, mean, variance, epsilon, exponential_avg_factor, data_format, "
        "is_training) -> y");
  }
  add_attributes(op, version, third ? "U: {bfloat16, float}" : "U: {float}")
      .attr("exponential_avg_factor: float = 1.0");
  library.op(op.shape(batch_norm_shape).gradient(batch_norm_gradient));
  KernelDef kernel = cpu_kernel(name, check_batch_norm, compute_batch_norm);
  library.kernel(third ? std::move(kernel).on("U", {f32}) : std::move(kernel));
}

void add_backward(OpLibrary& library, const Version& version) {
  const std::string name = std::string("FusedBatchNormGrad") + version.suffix,
                    type = std::string(": ") + version.statistics;
  const bool third = name == "FusedBatchNormGradV3";
  OpDefBuilder op(name);
  op.input("y_backprop: T").input("x: T").input(*version.suffix ? "scale: float" : "scale: T");
  for (const char* input : {"reserve_space_1", "reserve_space_2"}) op.input(input + type);
  if (third) op.input("reserve_space_3" + type);
  op.output("x_backprop: T");
  for (const char* output : {"scale_backprop", "offset_backprop"}) op.output(output + type);
  for (const int i : {3, 4}) op.output("reserve_space_" + std::to_string(third ? i + 1 : i) + type);
  add_attributes(op, version, "U: {float}");
  library.op(op.shape(batch_norm_grad_shape).gradient(batch_norm_grad_gradient));
  library.kernel(cpu_kernel(name, check_batch_norm_grad, compute_batch_norm_grad));
}

}  // namespace

Result<BatchNormArguments> check_batch_norm(KernelContext& context) {
  const Node& node = context.node();
  const Tensor& x = context.input(0);
  TROUPE_ASSIGN(const Channels channels, channels_of(node, x.shape()));
  const float average = node.attrs.get<float>("exponential_avg_factor");
  const bool training = is_training(node), given = !training || average != 1;
  TROUPE_RETURN_IF_FAILED(check_vectors(context, 1, given ? 4 : 2, channels.channels));
  for (const size_t i : {3, 4})  // also where they are not used
    if (const Shape& shape = context.input(i).shape(); shape.rank() != 1)
      return invalid_argument(node.op->inputs[i].name + " of shape " + shape.text() + " has rank " +
                              std::to_string(shape.rank()) + ", expected 1");
  TROUPE_ASSIGN(Tensor* const y, context.forward(0, 0, x.shape()));
  const Shape vector = context.input(1).shape();
  Tensor* moments[4];
  for (size_t i = 0; i < 4; ++i) {
    TROUPE_ASSIGN(moments[i], context.output(i + 1, vector));
  }
  Tensor* unused = nullptr;
  if (node.output_types.size() == 6) {
    TROUPE_ASSIGN(unused, context.output(5, Shape()));
  }
  return BatchNormArguments{x.valid() ? x : *y,
                            context.input(1),
                            context.input(2),
                            context.input(3),
                            context.input(4),
                            *y,
                            *moments[0],
                            *moments[1],
                            *moments[2],
                            *moments[3],
                            unused,
                            channels,
                            node.attrs.get<float>("epsilon"),
                            average,
                            training};
}

Result<BatchNormGradArguments> check_batch_norm_grad(KernelContext& context) {
  const Node& node = context.node();
  const Tensor &gradient = context.input(0), &x = context.input(1);
  TROUPE_ASSIGN(const Channels channels, channels_of(node, x.shape()));
  TROUPE_RETURN_IF_FAILED(check_dims(gradient, "y_backprop", x.shape().dims()));
  TROUPE_RETURN_IF_FAILED(check_vectors(context, 2, 4, channels.channels));
  TROUPE_ASSIGN(Tensor* const dx, context.forward(0, 0, x.shape()));
  TROUPE_ASSIGN(Tensor* const scale, context.output(1, context.input(2).shape()));
  TROUPE_ASSIGN(Tensor* const offset, context.output(2, context.input(2).shape()));
  for (const size_t i : {3, 4}) TROUPE_RETURN_IF_FAILED(context.output(i, Shape{0}).status());
  return BatchNormGradArguments{gradient.valid() ? gradient : *dx,
                                x,
                                context.input(2),
                                context.input(3),
                                context.input(4),
                                *dx,
                                *scale,
                                *offset,
                                channels,
                                node.attrs.get<float>("epsilon"),
                                is_training(node)};
}

std::vector<float> normalizing_factors(const Tensor& scale, const Tensor& variance, float epsilon) {
  std::vector<float> factors(static_cast<size_t>(scale.elements()));
  for (size_t c = 0; c < factors.size(); ++c)
    factors[c] = scale.as<float>()[c] * root(variance.as<float>()[c], epsilon);
  return factors;
}

void add_batch_norm_ops(OpLibrary& library) {
  for (const Version& version : versions) {
    add_forward(library, version);
    add_backward(library, version);
  }
}

}  // namespace troupe
