// Models of sequences of tokens, one function each. Tokens are int32 [batch, time]; `time` must be known.
#pragma once

#include <troupe/troupe.h>

namespace models {

using troupe::Output;
using troupe::nn::Network;

struct LstmOptions {
  int64_t vocabulary = 0;
  int64_t units = 512;  ///< of the embedding and of each layer
  int64_t layers = 1;
  double dropout = 0;  ///< between layers
};
/// A language model of LSTMs (Jozefowicz et al. 2016; LSTM-512 of OSDI 2016). Returns what it knows at each position, [batch, time,
/// units].
Output lstm_features(const Network& network, Output tokens, const LstmOptions& options);
/// Returns the logits of the next token at each position, [batch, time, vocabulary].
Output lstm_language_model(const Network& network, Output tokens, const LstmOptions& options);

struct TransformerOptions {
  int64_t vocabulary = 0;
  int64_t units = 512, heads = 8;
  int64_t inner_units = 2048;  ///< of the perceptrons
  int64_t layers = 6;
  int64_t max_time = 512;
  double dropout = 0.1;
  bool causal = false;                ///< whether a position sees only itself and earlier ones
  troupe::DType dtype = troupe::f32;  ///< in which the layers compute; the weights are float
  bool recompute = false;  ///< whether gradients compute each layer again, so that only its result is kept
};
/// The encoder of a Transformer (Vaswani et al. 2017), with normalisation before each part and learned positions. Returns
/// [batch, time, units].
Output transformer_encoder(const Network& network, Output tokens, const TransformerOptions& options);
/// A language model on it. Returns the logits of the next token at each position, [batch, time, vocabulary]. `causal` must be set.
Output transformer_language_model(const Network& network, Output tokens, const TransformerOptions& options);

/// Returns the mean cross entropy of logits [batch, time, vocabulary] with the tokens that follow, [batch, time]. Its
/// exponential is the perplexity.
Output language_loss(const Network& network, Output logits, Output next);
/// Returns the same from the features [batch, time, units], with the weights of a softmax over the vocabulary, of which each
/// training step uses only the tokens of the batch and `sampled` others. Number tokens by falling frequency.
Output sampled_language_loss(const Network& network, Output features, Output next, int64_t vocabulary,
                             int64_t sampled);

}  // namespace models
