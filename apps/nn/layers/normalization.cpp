#include <algorithm>
#include <numeric>

#include "apps/nn/layers.h"
#include "graph/build/call.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

/// Weights and moving averages of batch_norm, one for each channel.
struct ChannelWeights {
  Output scale, offset, mean, variance;
};

/// What batch_norm computes. The variance of the batch counts n - 1 samples.
struct NormalizedBatch {
  Output y, mean, variance;
};

void check_image_rank(const Layer& layer, Output x) {
  const size_t rank = layer.rank_of(x);
  if (rank < 2 || rank > 4)
    layer.fail("the input has shape " + layer.scope().shape(x).text() + "; its rank must be 2, 3 or 4");
}

/// Normalises x by FusedBatchNormV3, which takes images.
NormalizedBatch fused(const Layer& layer, Output x, const ChannelWeights& weights, double epsilon) {
  const Scope& scope = layer.scope();
  const bool training = layer.network().training();
  const Output none = scope.constant(Tensor::of<float>(Shape{0}, {}));
  const size_t rank = layer.rank_of(x);
  for (size_t i = rank; i < 4; ++i) x = expand_dims(scope, x, 1);
  const auto outputs = scope.outputs(scope.add_one(
      "FusedBatchNormV3",
      {x, weights.scale, weights.offset, training ? none : weights.mean, training ? none : weights.variance},
      {{"epsilon", static_cast<float>(epsilon)}, {"is_training", training}}));
  Output y = outputs[0];
  for (size_t i = rank; i < 4; ++i) y = squeeze(scope, y, {1});
  return {y, outputs[1], outputs[2]};
}

/// Normalises x of double, which FusedBatchNormV3 does not take.
NormalizedBatch composed(const Layer& layer, Output x, const ChannelWeights& weights, double epsilon) {
  const Scope& scope = layer.scope();
  const auto scaled = [&](Output centred, Output variance) {
    const Output factor = mul(scope, rsqrt(scope, add(scope, variance, epsilon)), weights.scale);
    return add(scope, mul(scope, centred, factor), weights.offset);
  };
  if (!layer.network().training())
    return {scaled(sub(scope, x, weights.mean), weights.variance), weights.mean, weights.variance};
  const auto leading = static_cast<int64_t>(layer.rank_of(x) - 1);
  std::vector<int64_t> axes(static_cast<size_t>(leading));
  std::iota(axes.begin(), axes.end(), 0);
  const Output average = mean(scope, x, axes), centred = sub(scope, x, average);
  const Output variance = mean(scope, square(scope, centred), axes);
  const Output sizes = slice(scope, shape(scope, x), {0}, {leading});
  const Output samples = prod(scope, cast(scope, sizes, scope.dtype(x)));
  const Output correction = div(scope, samples, maximum(scope, sub(scope, samples, 1), 1));
  return {scaled(centred, variance), average, mul(scope, variance, correction)};
}

}  // namespace

Output batch_norm(const Network& network, Output x, const BatchNorm& options) {
  const Layer layer(network, "batch_norm");
  if (!(options.decay >= 0 && options.decay <= 1))
    layer.fail("decay is " + std::to_string(options.decay) + "; it must be at least 0 and at most 1");
  const Scope& scope = layer.scope();
  const PartialShape channels{layer.size_of(x, -1)};
  check_image_rank(layer, x);
  const bool is_double = scope.dtype(x) == f64;
  const DType dtype = is_double ? f64 : f32;
  ChannelWeights weights;
  weights.mean = layer.weight("moving_mean", channels, dtype, all_equal(0), false);
  weights.variance = layer.weight("moving_variance", channels, dtype, all_equal(1), false);
  weights.scale =
      options.scale ? layer.weight("gamma", channels, dtype, all_equal(1)) : ones_like(scope, weights.mean);
  weights.offset =
      options.offset ? layer.weight("beta", channels, dtype, all_equal(0)) : zeros_like(scope, weights.mean);
  const NormalizedBatch result = (is_double ? composed : fused)(layer, x, weights, options.epsilon);
  layer.network().follow(weights.mean, result.mean, 1 - options.decay);
  layer.network().follow(weights.variance, result.variance, 1 - options.decay);
  return layer.activated(result.y, options.activation);
}

namespace {

/// Subtracts the mean over some axes, and divides by the deviation.
Output normalized(const Scope& scope, Output x, const std::vector<int64_t>& axes, double epsilon) {
  const Output centred = sub(scope, x, mean(scope, x, axes, true));
  const Output variance = mean(scope, square(scope, centred), axes, true);
  return mul(scope, centred, rsqrt(scope, add(scope, variance, epsilon)));
}

/// Layer normalisation by ops that TensorFlow has, too; without scale or offset where those are null.
Output composed_layer_norm(const Scope& scope, Output x, std::optional<Output> scale,
                           std::optional<Output> offset, double epsilon) {
  Output y = normalized(scope, x, {-1}, epsilon);
  if (scale) y = mul(scope, y, *scale);
  return offset ? add(scope, y, *offset) : y;
}

}  // namespace

Output layer_norm(const Network& network, Output x, const LayerNorm& options) {
  const Layer layer(network, "layer_norm");
  const Scope& scope = layer.scope();
  const int64_t size = layer.size_of(x, -1);
  const DType dtype = scope.dtype(x), compute = dtype == DType::Double ? dtype : f32;
  std::optional<Output> scale, offset;
  if (options.scale) scale = layer.weight("gamma", PartialShape{size}, compute, all_equal(1));
  if (options.offset) offset = layer.weight("beta", PartialShape{size}, compute, all_equal(0));
  if (!network.training()) {
    const Output wide = dtype == compute ? x : cast(scope, x, compute);
    const Output y = composed_layer_norm(scope, wide, scale, offset, options.epsilon);
    return dtype == compute ? y : cast(scope, y, dtype);
  }
  if (!scale) scale = ones(scope, {size}, compute);
  if (!offset) offset = zeros(scope, {size}, compute);
  return scope.add_one("LayerNorm", {x, *scale, *offset}, {{"epsilon", static_cast<float>(options.epsilon)}});
}

Output rms_norm(const Network& network, Output x, const RmsNorm& options) {
  const Layer layer(network, "rms_norm");
  const Scope& scope = layer.scope();
  const int64_t size = layer.size_of(x, -1);
  const DType dtype = scope.dtype(x), compute = dtype == DType::Double ? dtype : f32;
  const Output wide = dtype == compute ? x : cast(scope, x, compute);
  const Output squares = mean(scope, square(scope, wide), {-1}, true);
  Output y = mul(scope, wide, rsqrt(scope, add(scope, squares, options.epsilon)));
  if (options.scale) y = mul(scope, y, layer.weight("gamma", PartialShape{size}, compute, all_equal(1)));
  return dtype == compute ? y : cast(scope, y, dtype);
}

Output group_norm(const Network& network, Output x, const GroupNorm& options) {
  const Layer layer(network, "group_norm");
  const Scope& scope = layer.scope();
  const size_t rank = layer.rank_of(x);
  const int64_t channels = layer.size_of(x, -1), groups = options.groups;
  layer.require_positive("groups", groups);
  if (rank < 2) layer.fail("the input has shape " + scope.shape(x).text() + "; its rank must be at least 2");
  if (channels == unknown_dim) return identity(scope, x);  // in Mode::Check: only the rank is known
  if (channels % groups != 0)
    layer.fail("groups is " + std::to_string(groups) + "; it must divide the " + std::to_string(channels) +
               " channels of the input");
  const DType dtype = scope.dtype(x), compute = dtype == DType::Double ? dtype : f32;
  const Output wide = dtype == compute ? x : cast(scope, x, compute);
  const Output grouped = layer.reshaped(wide, x, 1, {-1, groups, channels / groups});
  const Output normal = normalized(scope, grouped, {1, 3}, options.epsilon);
  Output y = layer.reshaped(normal, x, rank - 1, {channels});
  if (options.scale) y = mul(scope, y, layer.weight("gamma", {channels}, compute, all_equal(1)));
  if (options.offset) y = add(scope, y, layer.weight("beta", {channels}, compute, all_equal(0)));
  return dtype == compute ? y : cast(scope, y, dtype);
}

namespace {

/// Local response normalisation of images of double, which the op LRN does not take. Windows over the channels are summed by a
/// convolution with ones of images that are the channels high and 1 wide.
Output composed_lrn(const Layer& layer, Output x, const Lrn& options) {
  const Scope& scope = layer.scope();
  const int64_t channels = layer.size_of(x, -1);
  if (channels == unknown_dim) return identity(scope, x);  // in Mode::Check: only the rank is known
  const int64_t radius = std::clamp<int64_t>(channels - 1, 0, options.depth_radius);
  const Output columns = reshape(scope, square(scope, x), {-1, channels, 1, 1});
  const Output window = ones(scope, {2 * radius + 1, 1, 1, 1}, scope.dtype(x));
  const Output sums =
      layer.reshaped(troupe::conv2d(scope, columns, window, {1, 1, 1, 1}, "SAME"), x, 3, {channels});
  const Output divisor = add(scope, mul(scope, sums, options.alpha), options.bias);
  return div(scope, x, pow(scope, divisor, options.beta));
}

}  // namespace

Output lrn(const Network& network, Output x, const Lrn& options) {
  const Layer layer(network, "lrn");
  layer.require_rank(x, 4);
  layer.require_positive("depth_radius", options.depth_radius);
  if (layer.scope().dtype(x) == f64) return composed_lrn(layer, x, options);
  return troupe::lrn(layer.scope(), x, options.depth_radius, options.bias, options.alpha, options.beta);
}

Output dropout(const Network& network, Output x, const Dropout& options) {
  const Layer layer(network, "dropout");
  if (!(options.rate >= 0 && options.rate < 1))
    layer.fail("rate is " + std::to_string(options.rate) + "; it must be at least 0 and below 1");
  if (!network.training() || options.rate == 0) return x;
  const Scope& scope = layer.scope();
  const DType dtype = scope.dtype(x);
  const Output kept = greater_equal(scope, random_uniform(scope, shape(scope, x), dtype), options.rate);
  return mul(scope, x, mul(scope, cast(scope, kept, dtype), 1 / (1 - options.rate)));
}

Output smoothed_labels(const Scope& scope, Output labels, int64_t classes, double smoothing, DType dtype) {
  const double rest = smoothing / static_cast<double>(classes);
  return one_hot(scope, labels, classes, value_or_throw(to_tensor(1 - smoothing + rest, dtype)),
                 value_or_throw(to_tensor(rest, dtype)));
}

}  // namespace troupe::nn
