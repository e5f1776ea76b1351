#include "apps/config/layer_notes.h"

#include <algorithm>

namespace troupe::config {
namespace {

// Images are [batch, height, width, channels], sequences [batch, time, features].
constexpr LayerNote notes[] = {
    {"accuracy", "logits, label",
     "The share of samples whose class is predicted. Logits [n, classes], or [n] or [n, 1] for two classes; "
     "labels [n], or [n, classes] with rows that add up to 1."},
    {"attention", "x, memory, memory_lengths",
     "Multi-head scaled dot-product attention (Vaswani et al. 2017) of each position of a sequence x to "
     "those of the memory [batch, steps, depth], without one to those of x itself. `memory_lengths` [batch], "
     "which may be left out, says how many steps of each memory count. Returns [batch, time, units]."},
    {"attention_lstm", "x, memory, memory_lengths",
     "An LSTM over a sequence x that looks at a memory [batch, steps, depth] in each step (Luong et al. "
     "2015, \"general\" scores, with input feeding). `memory_lengths` [batch], which may be left out, says "
     "how many steps of each memory count. Returns [batch, time, units]."},
    {"auc", "logits, label",
     "The area under the ROC curve: the probability that a sample of class 1 has a higher score than one of "
     "class 0, exact to about 1e-3 unless the scores of most samples lie within a thousandth of each other. "
     "For two classes."},
    {"avg_pool1d", "x", "The mean of each window of steps of sequences."},
    {"avg_pool2d", "x", "The mean of each window of images."},
    {"batch_norm", "x",
     "Subtracts from each channel, the last dimension, its mean, and divides by its deviation: those of the "
     "batch in the training, otherwise their moving averages."},
    {"binary_cross_entropy", "logits, label",
     "The mean of the sigmoid cross entropies of logits of any shape with labels 0 and 1, or probabilities, "
     "of the same shape. It is the loss of samples that may be of several classes."},
    {"conv1d", "x",
     "A convolution of sequences: each output sees `kernel` steps. Returns [batch, time, filters]."},
    {"conv2d", "x", "A convolution of images. Returns [batch, height, width, filters]."},
    {"conv2d_transpose", "x",
     "The gradient of a convolution as a layer, which makes images larger, by the factor `strides`. Returns "
     "[batch, height, width, filters]."},
    {"cosine_distance", "predicted, label",
     "1 minus the mean of the cosines between the vectors in the last dimension."},
    {"dense", "x", "x [..., n] times weights [n, units], plus a bias. Returns [..., units]."},
    {"depthwise_conv2d", "x",
     "A convolution of each channel of images with filters of its own. Returns `multiplier` channels for "
     "each."},
    {"dropout", "x",
     "In the training each element becomes 0 with the probability `rate`, and the others are multiplied by 1 "
     "/ (1 - rate). Otherwise x itself."},
    {"embedding", "ids",
     "The rows of a table of weights with these numbers, from 0: [..., units]. With a `combiner` the rows of "
     "the ids in the last dimension are combined. A second argument, the splits of ragged ids, combines "
     "those of each row."},
    {"example_feature", "record",
     "A feature of TensorFlow's Examples, which are the records of format tfrecord: [size], or of a batch "
     "[records, size]. An Example without it is an error."},
    {"f1", "logits, label",
     "The harmonic mean of precision and recall of class 1 if there are two classes, otherwise the mean over "
     "the classes that occur."},
    {"flatten", "x", "x as [batch, n]."},
    {"focal_loss", "logits, label",
     "The cross entropy in which samples count less that are predicted well (Lin et al. 2017), for any "
     "number of classes."},
    {"global_avg_pool1d", "x", "The mean of sequences over time, [batch, features]."},
    {"global_avg_pool2d", "x", "The mean of images over height and width, [batch, channels]."},
    {"global_max_pool1d", "x", "The maximum of sequences over time, [batch, features]."},
    {"global_max_pool2d", "x", "The maximum of images over height and width, [batch, channels]."},
    {"gelu", "x", "x times the normal distribution function of x (Hendrycks and Gimpel 2016)."},
    {"gelu_tanh", "x", "gelu with tanh in place of the error function, as in GPT-2 and BERT."},
    {"glu", "x",
     "The first half of the features times the activation of the second, [..., n / 2] (Dauphin et al. 2017); "
     "with `swish` SwiGLU, with `gelu` GEGLU."},
    {"group_norm", "x",
     "Subtracts from each group of channels of a sample its mean over all positions, and divides by its "
     "deviation (Wu and He 2018). For x [batch, ..., channels]."},
    {"gru", "x, lengths",
     "Gated recurrent units (Cho et al. 2014) over a sequence x. `lengths` [batch], which may be left out, "
     "says how many steps of each sequence count. Returns the output of the last step, [batch, units], or "
     "with `sequences` those of all steps."},
    {"hard_sigmoid", "x", "(x + 3) / 6, at least 0 and at most 1."},
    {"hard_swish", "x", "x times hard_sigmoid(x) (Howard et al. 2019)."},
    {"hinge", "predicted, label", "The mean of max(0, 1 - predicted * (2 label - 1)), for labels 0 and 1."},
    {"huber", "predicted, label",
     "Half the square of errors below `delta`; larger ones count linearly (Huber 1964)."},
    {"layer_norm", "x",
     "Subtracts from each vector in the last dimension its mean, and divides by its deviation."},
    {"kl_divergence", "logits, label",
     "The mean Kullback-Leibler divergence of the softmax of logits [n, classes] from probabilities [n, "
     "classes]: their cross entropy without the entropy of the probabilities."},
    {"log_cosh", "predicted, label", "The mean of log(cosh(predicted - label))."},
    {"lrn", "x",
     "Divides each element of images by (bias + alpha * the sum of the squares of the elements at its "
     "position, in the channels `depth_radius` around its own) ^ beta (Krizhevsky et al. 2012)."},
    {"lstm", "x, lengths",
     "Long short-term memory (forget gates with a bias of 1) over a sequence x. `lengths` [batch], which may "
     "be left out, says how many steps of each sequence count. Returns the output of the last step, [batch, "
     "units], or with `sequences` those of all steps."},
    {"max_pool1d", "x", "The maximum of each window of steps of sequences."},
    {"max_pool2d", "x", "The maximum of each window of images."},
    {"mean_absolute_error", "predicted, label", "The mean of the absolute differences."},
    {"mean_absolute_percentage_error", "predicted, label",
     "The mean of the absolute differences in percent of the label, of which at least 1e-7 counts."},
    {"mean_squared_error", "predicted, label", "The mean of the squared differences."},
    {"mean_squared_log_error", "predicted, label",
     "The mean of (log(1 + predicted) - log(1 + label))^2; negative numbers count as 0."},
    {"mish", "x", "x times tanh(softplus(x)) (Misra 2019)."},
    {"nce_loss", "x, label",
     "Noise-contrastive estimation (Mnih and Teh 2012) over many classes: a classifier for each, of x [n, "
     "units] and labels [n]. The training compares the labels with classes that are drawn."},
    {"perplexity", "logits, label", "exp of the mean softmax cross entropy."},
    {"poisson_loss", "predicted, label",
     "The mean of exp(predicted) - label * predicted: what is predicted is the logarithm of the rate. (Keras "
     "predicts the rate.)"},
    {"position_embedding", "x",
     "Adds to each step of a sequence x a vector of weights that belongs to its position, for attention "
     "does not know the order of the steps."},
    {"precision", "logits, label",
     "The share of the samples predicted to be of class 1 that are, if there are two classes; otherwise the "
     "mean over the classes that occur."},
    {"prelu", "x",
     "x where it is above 0, else x times the slope of its feature, a weight (He et al. 2015)."},
    {"quantile_loss", "predicted, label",
     "The pinball loss (Koenker and Bassett 1978): the prediction becomes this quantile of the label."},
    {"r2", "predicted, label",
     "The share of the variance of the label that is predicted; the mean of those of several numbers."},
    {"recall", "logits, label",
     "The share of the samples of class 1 that are predicted to be, if there are two classes; otherwise the "
     "mean over the classes that occur."},
    {"rms_norm", "x",
     "Divides each vector in the last dimension by the root of the mean of its squares (Zhang and Sennrich "
     "2019)."},
    {"rnn", "x, lengths",
     "The plain recurrent layer (Elman 1990) over a sequence x: its output in a step is an activation of the "
     "sum of x times weights, its output in the step before times other weights, and a bias. `lengths` "
     "[batch], which may be left out, says how many steps of each sequence count. Returns the output of the "
     "last step, [batch, units], or with `sequences` those of all steps."},
    {"root_mean_squared_error", "predicted, label",
     "The root of the mean of the squared differences over all samples."},
    {"row_lengths", "values, splits", "The number of values in each row of a ragged tensor, [rows]."},
    {"row_max", "values, splits",
     "The maximum of the values in each row of a ragged tensor; 0 for an empty row."},
    {"row_mean", "values, splits", "The mean of the values in each row of a ragged tensor."},
    {"row_min", "values, splits",
     "The minimum of the values in each row of a ragged tensor; 0 for an empty row."},
    {"row_softmax", "values, splits", "The softmax over the values in each row of a ragged tensor."},
    {"row_spread", "x, values, splits", "Row i of x for each value in row i of a ragged tensor."},
    {"row_sum", "values, splits", "The sum of the values in each row of a ragged tensor."},
    {"sampled_softmax_loss", "x, label",
     "The loss of `softmax_loss`, which the training compares with classes that are drawn instead of all "
     "(Jean et al. 2015)."},
    {"softmax_cross_entropy", "logits, label",
     "The mean cross entropy of the softmax of logits [n, classes] with labels [n], or probabilities [n, "
     "classes]."},
    {"softmax_loss", "x, label",
     "The softmax cross entropy of each sample over many classes, whose weights belong to the layer: of x "
     "[n, units] and labels [n]. `mean` of it is a loss."},
    {"squared_hinge", "predicted, label",
     "The mean of max(0, 1 - predicted * (2 label - 1))^2, for labels 0 and 1."},
    {"swish", "x", "x times sigmoid(x), which is also called SiLU."},
    {"top_k_accuracy", "logits, label",
     "The share of samples whose class is among the `k` most likely ones."},
    {"upsample2d", "x", "Images whose height and width are `size` times as large, without weights."},
};

}  // namespace

LayerNote layer_note(std::string_view name) {
  const auto* const note = std::ranges::find(notes, name, &LayerNote::name);
  return note == std::end(notes) ? LayerNote() : *note;
}

}  // namespace troupe::config
