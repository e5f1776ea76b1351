#include <limits>

#include "apps/nn/layers.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

/// The weights of a loss over many classes.
struct Classes {
  Output weights;  ///< [classes, units]
  Output bias;     ///< [classes]
};

Classes add_classes(const Layer& layer, Output x, const SampledLoss& options) {
  layer.require_positive("classes", options.classes);
  layer.require_positive("sampled", options.sampled);
  layer.require_rank(x, 2);
  if (options.sampled > options.classes)
    layer.fail("sampled is " + std::to_string(options.sampled) + "; it must be at most the " +
               std::to_string(options.classes) + " classes");
  const DType dtype = layer.scope().dtype(x);
  return {layer.weight("weights", {options.classes, layer.size_of(x, -1)}, dtype, options.init),
          layer.weight("bias", {options.classes}, dtype, all_equal(0))};
}

/// The logits of the labels and of classes that are drawn for the whole batch, each less the logarithm of how often its class is
/// drawn, so that the drawn classes stand for all of them.
struct SampledLogits {
  Output labels;   ///< [n, 1]
  Output sampled;  ///< [n, sampled]
  Output hits;     ///< [n, sampled]: whether a drawn class is the label
};

SampledLogits sampled_logits(const Layer& layer, const Classes& classes, Output x, Output labels,
                             const SampledLoss& options) {
  const Scope& scope = layer.scope();
  const Output column = reshape(scope, cast(scope, labels, i64), {-1, 1});
  const NodeId drawn = scope.add("LogUniformCandidateSampler", {column},
                                 {{"num_true", int64_t{1}},
                                  {"num_sampled", options.sampled},
                                  {"unique", true},
                                  {"range_max", options.classes}});
  const auto of_sampler = [&](uint32_t output) { return scope.graph().output(drawn, output); };
  const auto log_count = [&](uint32_t output) {
    return log(scope, cast(scope, of_sampler(output), scope.dtype(x)));
  };
  const Output candidates = of_sampler(0), own = reshape(scope, column, {-1});
  const Output label_rows = gather(scope, classes.weights, own);
  const Output label_products = add(scope, sum(scope, mul(scope, x, label_rows), {1}, true),
                                    expand_dims(scope, gather(scope, classes.bias, own), 1));
  const Output products =
      add(scope, matmul(scope, x, gather(scope, classes.weights, candidates), false, true),
          gather(scope, classes.bias, candidates));
  return {sub(scope, label_products, log_count(1)), sub(scope, products, log_count(2)),
          equal(scope, column, candidates)};
}

/// The logits of all classes.
Output all_logits(const Layer& layer, const Classes& classes, Output x) {
  return add(layer.scope(), matmul(layer.scope(), x, classes.weights, false, true), classes.bias);
}

}  // namespace

Output sampled_softmax_loss(const Network& network, Output x, Output labels, const SampledLoss& options) {
  const Layer layer(network, "sampled_softmax_loss");
  const Scope& scope = layer.scope();
  const Classes classes = add_classes(layer, x, options);
  if (!network.training())
    return sparse_softmax_cross_entropy_with_logits(scope, all_logits(layer, classes, x), labels);
  const SampledLogits logits = sampled_logits(layer, classes, x, labels, options);
  const double never = std::numeric_limits<float>::lowest();
  const Output others = where_v2(scope, logits.hits, never, logits.sampled);
  return sparse_softmax_cross_entropy_with_logits(scope, concat(scope, {logits.labels, others}, 1),
                                                  zeros_like(scope, labels));
}

Output nce_loss(const Network& network, Output x, Output labels, const SampledLoss& options) {
  const Layer layer(network, "nce_loss");
  const Scope& scope = layer.scope();
  const Classes classes = add_classes(layer, x, options);
  const auto classified = [&](Output of_labels, Output of_others) {
    return add(scope, reshape(scope, softplus(scope, neg(scope, of_labels)), {-1}),
               sum(scope, softplus(scope, of_others), {1}));
  };
  if (network.training()) {
    const SampledLogits logits = sampled_logits(layer, classes, x, labels, options);
    return classified(logits.labels, logits.sampled);
  }
  const Output logits = all_logits(layer, classes, x);
  const Output is_label = smoothed_labels(scope, labels, options.classes, 0, scope.dtype(x));
  const Output of_labels = sum(scope, mul(scope, logits, is_label), {1});
  // softplus(-y) = softplus(y) - y: the sum over all classes counts the label as one of the others.
  return sub(scope, sum(scope, softplus(scope, logits), {1}), of_labels);
}

}  // namespace troupe::nn
