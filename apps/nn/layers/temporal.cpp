#include "apps/nn/layers.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

/// Returns sequences [batch, time, features] as images with one row.
Output as_images(const Layer& layer, Output x) {
  layer.require_rank(x, 3);
  return expand_dims(layer.scope(), x, 1);
}

/// Returns images with one row, what windows of `span` steps yield of the sequences `x`, as sequences. Throws InvalidArgument if no
/// step is left because the window is larger.
Output as_sequences(const Layer& layer, Output x, Output images, const std::string& option, int64_t span) {
  const Scope& scope = layer.scope();
  const Output y = squeeze(scope, images, {1});
  const PartialShape &before = scope.shape(x), &after = scope.shape(y);
  if (after.known_rank() && after[1] == 0 && before[1] != 0)
    layer.fail(option + " covers " + std::to_string(span) + " steps, which is more than the " +
               std::to_string(before[1]) + " of a sequence; take a smaller one, or padding \"SAME\"");
  return y;
}

Output pooled(const Layer& layer, Output x, const Pool1d& options,
              Output (*pool)(const Scope&, Argument, const std::vector<int64_t>&, const std::vector<int64_t>&,
                             const std::string&, const std::string&)) {
  layer.require_positive("window", options.window);
  const int64_t strides = options.strides == 0 ? options.window : options.strides;
  const Output y = pool(layer.scope(), as_images(layer, x), {1, 1, options.window, 1}, {1, 1, strides, 1},
                        options.padding, "NHWC");
  return as_sequences(layer, x, y, "window", options.window);
}

}  // namespace

Output conv1d(const Network& network, Output x, const Conv1d& options) {
  const Layer layer(network, "conv1d");
  const Scope& scope = layer.scope();
  layer.require_rank(x, 3);
  layer.require_positive("filters", options.filters);
  layer.require_positive("kernel", options.kernel);
  layer.require_positive("groups", options.groups);
  layer.require_positive("dilations", options.dilations);
  const int64_t features = layer.size_of(x, -1), before = (options.kernel - 1) * options.dilations;
  if (features != unknown_dim && features % options.groups != 0)
    layer.fail("groups is " + std::to_string(options.groups) + "; it must divide the " +
               std::to_string(features) + " features of the input");
  const Output weights = layer.weight(
      "weights",
      {options.kernel, features == unknown_dim ? features : features / options.groups, options.filters},
      scope.dtype(x), options.init);
  const bool causal = options.padding == "CAUSAL";
  if (!causal && options.padding != "SAME" && options.padding != "VALID")
    layer.fail("padding is \"" + options.padding + "\"; allowed: \"SAME\", \"VALID\", \"CAUSAL\"");
  const Output padded = causal ? pad(scope, x, {{0, 0}, {before, 0}, {0, 0}}) : x;
  const Output images = troupe::conv2d(scope, as_images(layer, padded), expand_dims(scope, weights, 0),
                                       {1, 1, options.strides, 1}, causal ? "VALID" : options.padding, "NHWC",
                                       {1, 1, options.dilations, 1});
  Output y = as_sequences(layer, x, images, "kernel", before + 1);
  if (options.bias) y = layer.with_bias(y, options.filters);
  return layer.activated(y, options.activation);
}

Output max_pool1d(const Network& network, Output x, const Pool1d& options) {
  return pooled(Layer(network, "max_pool1d"), x, options, max_pool);
}

Output avg_pool1d(const Network& network, Output x, const Pool1d& options) {
  return pooled(Layer(network, "avg_pool1d"), x, options, avg_pool);
}

Output global_avg_pool1d(const Network& network, Output x) {
  const Layer layer(network, "global_avg_pool1d");
  layer.require_rank(x, 3);
  return mean(layer.scope(), x, {1});
}

Output global_max_pool1d(const Network& network, Output x) {
  const Layer layer(network, "global_max_pool1d");
  layer.require_rank(x, 3);
  return max(layer.scope(), x, {1});
}

}  // namespace troupe::nn
