#include "language.h"

#include <string>

namespace models {
namespace {

namespace nn = troupe::nn;
using troupe::Scope;

/// A perceptron with one hidden layer, applied to each position.
Output perceptron(const Network& network, Output x, const TransformerOptions& options) {
  const Output hidden = nn::dense(network, x, {.units = options.inner_units, .activation = "gelu"});
  return nn::dense(network, hidden, {.units = options.units});
}

/// Attention and a perceptron, each beside a shortcut.
Output encoder_layer(const Network& network, Output x, const TransformerOptions& options) {
  const auto added = [&](Output y) {
    return add(network.scope(), x, nn::dropout(network, y, {.rate = options.dropout}));
  };
  x = added(
      nn::attention(network, nn::layer_norm(network, x), {.heads = options.heads, .causal = options.causal}));
  return added(perceptron(network, nn::layer_norm(network, x), options));
}

/// Embedded tokens plus embedded positions.
Output embedded(const Network& network, Output tokens, const TransformerOptions& options) {
  const Scope& g = network.scope();
  const int64_t time = g.shape(tokens)[1];
  const Output positions = nn::embedding(network.named("positions"), range(g, 0, time, 1),
                                         {.rows = options.max_time, .units = options.units});
  return add(
      g, nn::embedding(network.named("tokens"), tokens, {.rows = options.vocabulary, .units = options.units}),
      positions);
}

}  // namespace

Output lstm_features(const Network& network, Output tokens, const LstmOptions& options) {
  Output x = nn::embedding(network, tokens, {.rows = options.vocabulary, .units = options.units});
  for (int64_t layer = 0; layer < options.layers; ++layer) {
    x = nn::dropout(network, x, {.rate = options.dropout});
    x = nn::lstm(network, x, {.units = options.units, .sequences = true});
  }
  return x;
}

Output lstm_language_model(const Network& network, Output tokens, const LstmOptions& options) {
  return nn::dense(network, lstm_features(network, tokens, options), {.units = options.vocabulary});
}

Output transformer_encoder(const Network& network, Output tokens, const TransformerOptions& options) {
  Output x = cast(network.scope(), embedded(network, tokens, options), options.dtype);
  x = nn::dropout(network, x, {.rate = options.dropout});
  for (int64_t layer = 0; layer < options.layers; ++layer) {
    const Network inner = network.at("layer" + std::to_string(layer + 1));
    x = encoder_layer(options.recompute ? inner.recomputed("layer") : inner, x, options);
  }
  return nn::layer_norm(network, x);
}

Output transformer_language_model(const Network& network, Output tokens, const TransformerOptions& options) {
  return nn::dense(network, transformer_encoder(network, tokens, options), {.units = options.vocabulary});
}

Output language_loss(const Network& network, Output logits, Output next) {
  const Scope& g = network.scope();
  const int64_t vocabulary = g.shape(logits).dims().back();
  return mean(g, sparse_softmax_cross_entropy_with_logits(g, reshape(g, logits, {-1, vocabulary}),
                                                          reshape(g, next, {-1})));
}

Output sampled_language_loss(const Network& network, Output features, Output next, int64_t vocabulary,
                             int64_t sampled) {
  const Scope& g = network.scope();
  const int64_t units = g.shape(features).dims().back();
  return mean(g, nn::sampled_softmax_loss(network, reshape(g, features, {-1, units}), reshape(g, next, {-1}),
                                          {.classes = vocabulary, .sampled = sampled}));
}

}  // namespace models
