#include "apps/nn/class_losses.h"
#include "apps/nn/layers.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

template <class Options>
classes::Weights add_classes(const Layer& layer, Output x, const Options& options) {
  layer.require_positive("classes", options.classes);
  layer.require_rank(x, 2);
  const DType dtype = layer.scope().dtype(x);
  const Weight weights =
      layer.description("weights", {options.classes, layer.size_of(x, -1)}, dtype, options.init);
  const Weight bias = layer.description("bias", {options.classes}, dtype, all_equal(0));
  const int64_t parts = layer.network().parts_of_table(weights.shape, dtype, options.partitions);
  const auto strategy = partition_strategy(options.strategy);
  return {partitioned_weight(layer, weights, parts, strategy),
          partitioned_weight(layer, bias, parts, strategy)};
}

classes::Sampling sampling(const SampledLoss& options) {
  return {.classes = options.sampled,
          .distribution = classes::distribution(options.distribution),
          .frequencies = options.frequencies,
          .distortion = options.distortion};
}

classes::Weights add_sampled_classes(const Layer& layer, Output x, const SampledLoss& options) {
  layer.require_positive("sampled", options.sampled);
  if (options.sampled > options.classes && options.distribution != "all")
    layer.fail("sampled is " + std::to_string(options.sampled) + "; it must be at most the " +
               std::to_string(options.classes) + " classes");
  return add_classes(layer, x, options);
}

}  // namespace

Output softmax_loss(const Network& network, Output x, Output labels, const SoftmaxLoss& options) {
  const Layer layer(network, "softmax_loss");
  return classes::softmax_loss(layer.scope(), add_classes(layer, x, options), x, labels);
}

Output sampled_softmax_loss(const Network& network, Output x, Output labels, const SampledLoss& options) {
  const Layer layer(network, "sampled_softmax_loss");
  const classes::Weights weights = add_sampled_classes(layer, x, options);
  if (!network.training()) return classes::softmax_loss(layer.scope(), weights, x, labels);
  return classes::sampled_softmax_loss(layer.scope(), weights, x, labels, sampling(options));
}

Output nce_loss(const Network& network, Output x, Output labels, const SampledLoss& options) {
  const Layer layer(network, "nce_loss");
  const Scope& scope = layer.scope();
  const classes::Weights weights = add_sampled_classes(layer, x, options);
  if (network.training()) {
    classes::Sampling with_hits = sampling(options);
    with_hits.without_hits = false;
    return classes::nce_loss(scope, weights, x, labels, with_hits);
  }
  const Output logits = classes::logits(scope, weights, x);
  Output is_label = smoothed_labels(scope, labels, options.classes, 0, scope.dtype(x));
  if (scope.shape(labels).has_rank(2)) is_label = mean(scope, is_label, {1});
  const Output of_labels = sum(scope, mul(scope, logits, is_label), {1});
  // softplus(-y) = softplus(y) - y: the sum over all classes counts the labels among the others.
  return sub(scope, sum(scope, softplus(scope, logits), {1}), of_labels);
}

}  // namespace troupe::nn
