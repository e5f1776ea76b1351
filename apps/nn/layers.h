// Layers: functions that add the nodes of one layer to a network (apps/nn/network.h) and return its result. Weights are named
// "NAME_weights", "NAME_bias" and so on; the name is that of the layer's type, made unique by a number, or that of
// Network::named(). Images are [batch, height, width, channels]. A layer that has weights must know the last dimension of its
// input. Invalid options and inputs throw Error(InvalidArgument), which names the layer. The names of layers, options and
// defaults are the same in run files, as in "nn.dense(image, units=10)". Public header; one thread at a time per graph.
#pragma once

#include <string>
#include <vector>

#include "apps/nn/network.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

// ---- Products (layers/dense.cpp)

struct Dense {
  int64_t units = 0;
  std::string activation = "linear";  ///< see Layer::activated
  bool bias = true;
  Initial init = glorot_uniform;
};
/// Returns activation(x weights + bias) for x [..., n], weights [n, units] and bias [units].
Output dense(const Network& network, Output x, const Dense& options);

// ---- Activations with options (layers/gates.cpp); those without are in activations.h

struct Glu {
  std::string activation = "sigmoid";  ///< of the gates; see Layer::activated
};
/// Gated linear units (Dauphin et al. 2017): the first half of the features times the activation of the second, [..., n / 2]. With
/// "swish" and "gelu" these are SwiGLU and GEGLU (Shazeer 2020).
Output glu(const Network& network, Output x, const Glu& options = {});

struct Prelu {
  double slope = 0.25;  ///< the initial one
};
/// Returns x where it is above 0, else x times the slope of its feature (He et al. 2015). Weights: "slope" [features].
Output prelu(const Network& network, Output x, const Prelu& options = {});

// ---- Embeddings (layers/embedding.cpp)

struct Embedding {
  int64_t rows = 0;  ///< the number of ids
  int64_t units = 0;
  Initial init = nullptr;  ///< default: uniform over +-0.05
  /// Into how many parts the table is cut (apps/nn/partitioned_variable.h). 0: as many as the network says
  /// (Network::partition_tables); in run files one for each parameter server if they have at least 1 MiB.
  int64_t partitions = 0;
  std::string strategy = "mod";  ///< or "div"
  /// "sum", "mean" or "sqrtn": combines the ids of the last dimension, or of each row of `splits`.
  std::string combiner = "none";
  double max_norm = 0;  ///< not 0: rows whose L2 norm is larger are scaled to that norm
  /// If given, int32 or int64 [rows + 1]: the splits between the rows of a ragged tensor whose values are the ids.
  std::optional<Output> splits = {};
};
/// Returns row ids[...] of the weights [rows, units], shape [..., units]; with a combiner, the last dimension of the ids is
/// gone. An id that occurs several times is looked up once, and the gradient of the weights is rows, each once.
Output embedding(const Network& network, Output ids, const Embedding& options);

// ---- Losses over many classes (layers/sampled_loss.cpp)

struct SoftmaxLoss {
  int64_t classes = 0;
  int64_t partitions = 0;        ///< see Embedding
  std::string strategy = "mod";  ///< or "div"
  Initial init = glorot_uniform;
};
/// Returns the softmax cross entropy of each row of x [n, units] with its class in labels, int32 or int64 [n], or with its classes
/// in labels [n, labels of a row], which have equal shares. Logits and gradients are computed where the parts of the weights are.
/// Weights: "weights" [classes, units], "bias" [classes].
Output softmax_loss(const Network& network, Output x, Output labels, const SoftmaxLoss& options);

struct SampledLoss {
  int64_t classes = 0;
  int64_t sampled = 64;                      ///< how many classes are drawn for each batch
  std::string distribution = "log_uniform";  ///< see classes::Distribution
  std::vector<double> frequencies = {};      ///< with "fixed_unigram": one for each class
  double distortion = 1;                     ///< with "fixed_unigram": the exponent of the frequencies
  int64_t partitions = 0;                    ///< see Embedding
  std::string strategy = "mod";              ///< or "div"
  Initial init = glorot_uniform;
};
/// Returns a loss with the shapes and weights of softmax_loss(). In training it compares the labels with the drawn classes
/// instead of all, so a step reads and updates only their weights; in inference it is softmax_loss(). Source: Jean et al. 2015.
Output sampled_softmax_loss(const Network& network, Output x, Output labels, const SampledLoss& options);
/// Does the same with noise-contrastive estimation (Mnih and Teh 2012): a classifier of its own for each class, and the sum of
/// their sigmoid cross entropies.
Output nce_loss(const Network& network, Output x, Output labels, const SampledLoss& options);

// ---- Convolutions and pooling (layers/convolution.cpp, layers/pooling.cpp)

/// A pair of numbers for height and width; one number stands for both.
struct Pair {
  int64_t height = 1, width = 1;
  Pair(int64_t both) : height(both), width(both) {}  // NOLINT: meant to convert
  Pair(int64_t down, int64_t across) : height(down), width(across) {}
};

struct Conv2d {
  int64_t filters = 0;
  Pair kernel = 1, strides = 1, dilations = 1;
  std::string padding = "SAME";  ///< or "VALID", or "EXPLICIT"
  Pair pad = 0;                  ///< for "EXPLICIT": zeros on both sides of each dimension
  int64_t groups = 1;            ///< divides the channels of the input and the filters
  std::string activation = "linear";
  bool bias = true;
  Initial init = glorot_uniform;
};
/// Weights: [height, width, channels / groups, filters].
Output conv2d(const Network& network, Output x, const Conv2d& options);

struct DepthwiseConv2d {
  Pair kernel = 1, strides = 1, dilations = 1;
  int64_t multiplier = 1;  ///< results for each channel
  std::string padding = "SAME";
  std::string activation = "linear";
  bool bias = true;
  Initial init = glorot_uniform;
};
/// Weights: [height, width, channels, multiplier].
Output depthwise_conv2d(const Network& network, Output x, const DepthwiseConv2d& options);

struct Conv2dTranspose {
  int64_t filters = 0;
  Pair kernel = 1, strides = 1;
  std::string padding = "SAME";  ///< or "VALID"
  std::string activation = "linear";
  bool bias = true;
  Initial init = glorot_uniform;
};
/// The gradient of a convolution as a layer. The result is `strides` times as large as x; with "VALID" by max(kernel - strides,
/// 0) more. Weights: [height, width, filters, channels].
Output conv2d_transpose(const Network& network, Output x, const Conv2dTranspose& options);

struct Pool {
  Pair window = 2;
  Pair strides = 0;  ///< 0: those of the window
  std::string padding = "VALID";
};
Output max_pool2d(const Network& network, Output x, const Pool& options = {});
Output avg_pool2d(const Network& network, Output x, const Pool& options = {});
/// Returns the mean over height and width, [batch, channels].
Output global_avg_pool2d(const Network& network, Output x);
/// Returns the maximum over height and width, [batch, channels].
Output global_max_pool2d(const Network& network, Output x);

struct Upsample {
  Pair size = 2;  ///< the factors by which height and width grow
  /// "nearest", which repeats pixels, or "bilinear", which interpolates between their centres and yields float.
  std::string method = "nearest";
};
/// Makes images larger, without weights (layers/resizing.cpp).
Output upsample2d(const Network& network, Output x, const Upsample& options = {});

// ---- Normalisation and regularisation (layers/normalization.cpp)

struct BatchNorm {
  double decay = 0.99;  ///< of the moving averages
  double epsilon = 1e-3;
  bool scale = true;   ///< whether there are weights "NAME_gamma"
  bool offset = true;  ///< whether there are weights "NAME_beta"
  std::string activation = "linear";
};
/// Normalises each channel, the last dimension: by the mean and variance of the batch in training, else by their moving
/// averages. Add Network::update_averages() to the training step (trainers of run files do so). The weights and averages are double
/// for x of double, else float.
Output batch_norm(const Network& network, Output x, const BatchNorm& options = {});

struct LayerNorm {
  double epsilon = 1e-5;
  bool scale = true, offset = true;
};
/// Normalises each vector of the last dimension by its mean and variance.
Output layer_norm(const Network& network, Output x, const LayerNorm& options = {});

struct RmsNorm {
  double epsilon = 1e-6;
  bool scale = true;  ///< see BatchNorm
};
/// Divides each vector of the last dimension by the root of the mean of its squares (Zhang and Sennrich 2019).
Output rms_norm(const Network& network, Output x, const RmsNorm& options = {});

struct GroupNorm {
  int64_t groups = 0;  ///< divides the channels
  double epsilon = 1e-5;
  bool scale = true, offset = true;  ///< see BatchNorm
};
/// Normalises x [batch, ..., channels] (Wu and He 2018): each group of channels of a sample by its mean and variance over all
/// positions.
Output group_norm(const Network& network, Output x, const GroupNorm& options);

struct Lrn {
  int64_t depth_radius = 5;
  double bias = 1, alpha = 1, beta = 0.5;
};
/// Local response normalisation (Krizhevsky et al. 2012): divides each element of images by (bias + alpha * the sum of the squares
/// of the elements of the same position whose channel differs by at most depth_radius) ^ beta.
Output lrn(const Network& network, Output x, const Lrn& options = {});

struct Dropout {
  /// The probability with which an element becomes zero. The others are multiplied by 1 / (1 - rate).
  double rate = 0.5;
};
Output dropout(const Network& network, Output x, const Dropout& options = {});

/// Returns x as [batch, n].
Output flatten(const Network& network, Output x);

/// Returns labels [n] as rows of probabilities [n, classes]: 1 - smoothing for the label, the rest shared by all classes.
Output smoothed_labels(const Scope& scope, Output labels, int64_t classes, double smoothing,
                       DType dtype = f32);

// ---- Convolutions of sequences (layers/temporal.cpp). Sequences are [batch, time, features].

struct Conv1d {
  int64_t filters = 0;
  int64_t kernel = 1, strides = 1, dilations = 1;
  /// "SAME", "VALID", or "CAUSAL": zeros before the first step only, so that no output sees later steps.
  std::string padding = "SAME";
  int64_t groups = 1;  ///< divides the features of the input and the filters
  std::string activation = "linear";
  bool bias = true;
  Initial init = glorot_uniform;
};
/// Weights: [kernel, features / groups, filters].
Output conv1d(const Network& network, Output x, const Conv1d& options);

struct Pool1d {
  int64_t window = 2;
  int64_t strides = 0;  ///< 0: the window
  std::string padding = "VALID";
};
Output max_pool1d(const Network& network, Output x, const Pool1d& options = {});
Output avg_pool1d(const Network& network, Output x, const Pool1d& options = {});
/// Returns the mean over time, [batch, features].
Output global_avg_pool1d(const Network& network, Output x);
/// Returns the maximum over time, [batch, features].
Output global_max_pool1d(const Network& network, Output x);

// ---- Sequences (layers/recurrent.cpp, layers/attention.cpp)

/// For rnn, lstm and gru. If `time` is known, a step for each is added to the graph, else a loop; both compute the same.
struct Recurrent {
  int64_t units = 0;
  /// Whether the result holds the outputs of all steps, [batch, time, units], or that of the last, [batch, units].
  bool sequences = false;
  /// Whether other weights, "backward_weights" and so on, read each sequence from its end, too. The outputs of both for a step are
  /// joined then: [..., 2 units]. The last output of the second is that for the first step.
  bool bidirectional = false;
  bool loop = false;  ///< a loop even if `time` is known: less of a graph, but more time
  Initial init = glorot_uniform;
  /// If given, int32 or int64 [batch]: how many steps each sequence has. Later steps yield zeros, and the last output is that of
  /// the last step of the sequence. There is a loop then.
  std::optional<Output> lengths = {};
  std::string activation = "tanh";  ///< for rnn: or "relu"
  /// For gru: whether the state is reset after its product with the weights, or before.
  bool reset_after = true;
};
/// The plain recurrent layer (Elman 1990): the state becomes activation(x weights + state recurrent + bias). Weights: "weights"
/// [features, units], "recurrent" [units, units], "bias" [units].
Output rnn(const Network& network, Output x, const Recurrent& options);
/// Long short-term memory (Hochreiter and Schmidhuber 1997; forget gates with a bias of 1). The gates stand in the order input,
/// forget, candidate, output. Weights: "weights" [features, 4 units], "recurrent" [units, 4 units], "bias" [4 units].
Output lstm(const Network& network, Output x, const Recurrent& options);
/// Gated recurrent units (Cho et al. 2014). The candidate is tanh(x weights + bias + reset * (state recurrent + recurrent_bias)),
/// as in cuDNN, or if reset_after is false tanh(x weights + bias + (reset * state) recurrent), as in the paper. The gates stand in
/// the order update, reset, candidate. Weights: "weights" [features, 3 units], "recurrent" [units, 3 units], "bias" [3 units], and
/// with reset_after "recurrent_bias" [3 units].
Output gru(const Network& network, Output x, const Recurrent& options);

struct AttentionLstm {
  int64_t units = 0;
  bool loop = false;  ///< see Recurrent
  Initial init = glorot_uniform;
  /// If given, int32 or int64 [batch]: how many steps of each memory count.
  std::optional<Output> memory_lengths = {};
};
/// The decoder of sequence-to-sequence models: an LSTM over x [batch, time, features] that looks at a memory [batch, steps, depth],
/// such as the outputs of an encoder, in each step (Luong et al. 2015, "general" scores, with input feeding). Returns the outputs
/// of all steps, [batch, time, units]. Weights: "weights" [features, 4 units], "recurrent" [2 units, 4 units], "bias" [4 units],
/// "query" [units, depth], "mix" [depth + units, units].
Output attention_lstm(const Network& network, Output x, Output memory, const AttentionLstm& options);

struct Attention {
  int64_t heads = 1;
  int64_t units = 0;    ///< of the result; 0: those of the query
  bool causal = false;  ///< whether position t attends to positions up to t only
  /// The number of heads of keys and values, which divides `heads`: each serves as many heads of the query (Ainslie et al. 2023).
  /// 0: as many as `heads`.
  int64_t kv_heads = 0;
  /// Whether the heads of queries and keys are turned by angles that grow with the position, so that a score depends on the
  /// distance (Su et al. 2021): feature i of a head with feature i + n / 2, by position * 10000^(-2 i / n). n, the number of
  /// features of a head, must be even.
  bool rotary = false;
  /// If given, int32 or int64 [batch]: how many steps of each memory count.
  std::optional<Output> memory_lengths = {};
};
/// Multi-head scaled dot-product attention (Vaswani et al. 2017) of a query to a memory, which is the query itself for
/// self-attention. Weights: those of dense layers "NAME_query", "NAME_key", "NAME_value" and "NAME_output".
Output attention(const Network& network, Output query, Output memory, const Attention& options);
inline Output attention(const Network& network, Output x, const Attention& options) {
  return attention(network, x, x, options);
}

struct PositionEmbedding {
  int64_t steps = 0;       ///< the largest number of steps of a sequence
  Initial init = nullptr;  ///< default: uniform over +-0.05
};
/// Adds to each step of a sequence a vector that belongs to its position, since attention() does not know the order. Weights:
/// "weights" [steps, features].
Output position_embedding(const Network& network, Output x, const PositionEmbedding& options);

}  // namespace troupe::nn
#pragma GCC visibility pop
