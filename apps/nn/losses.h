// Losses and metrics: functions of what a model predicts and of what is true, under the names that run files use. They use only the
// public builder. Losses return the mean over the samples, unless their option `reduction` says otherwise. What is predicted and
// what is true have the same shape; a prediction [n, 1] is also compared with labels [n]. Classes are compared with logits:
// [n, classes] for labels [n], or, with two classes, [n] or [n, 1]. Labels [n] have any integer type or bool. Shapes that do not
// match throw Error(InvalidArgument). Public header; one thread at a time per graph.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/build/scope.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

/// What a loss makes of the losses of the samples: "mean", "sum", or "none", which returns them: [n] for classes, and the shape of
/// the prediction for numbers, whose loss is that of each number. Any other text throws Error(InvalidArgument).
using Reduction = std::string;

/// The options of a loss that has no others.
struct Loss {
  Reduction reduction = "mean";
};

// ---- Losses of numbers

Output mean_squared_error(const Scope& scope, Output predicted, Output label, const Loss& options = {});
Output mean_absolute_error(const Scope& scope, Output predicted, Output label, const Loss& options = {});
/// The error in percent of the label's absolute value, of which at least 1e-7 counts.
Output mean_absolute_percentage_error(const Scope& scope, Output predicted, Output label,
                                      const Loss& options = {});
/// Returns the mean of (log(1 + predicted) - log(1 + label))^2; negative numbers count as 0.
Output mean_squared_log_error(const Scope& scope, Output predicted, Output label, const Loss& options = {});
/// Returns the mean of log(cosh(predicted - label)).
Output log_cosh(const Scope& scope, Output predicted, Output label, const Loss& options = {});

struct Huber {
  double delta = 1;  ///< the error from which on it counts linearly
  Reduction reduction = "mean";
};
/// Huber 1964.
Output huber(const Scope& scope, Output predicted, Output label, const Huber& options = {});

struct Quantile {
  double quantile = 0.5;  ///< which is to be predicted
  Reduction reduction = "mean";
};
/// The pinball loss (Koenker and Bassett 1978).
Output quantile_loss(const Scope& scope, Output predicted, Output label, const Quantile& options = {});
/// Returns the mean of exp(predicted) - label * predicted: `predicted` is the logarithm of the rate.
Output poisson_loss(const Scope& scope, Output predicted, Output label, const Loss& options = {});
/// Returns 1 minus the mean of the cosines between the vectors in the last dimension. With the reduction "none" that
/// dimension is missing.
Output cosine_distance(const Scope& scope, Output predicted, Output label, const Loss& options = {});

// ---- Losses of classes

/// How much a sample of each class counts, at least 0; empty: all count alike. The loss of a sample is multiplied by the weight of
/// its class, and the mean is still that over the number of samples. A label of probabilities has the mean of the weights of its
/// classes.
using ClassWeights = std::vector<double>;

struct SoftmaxCrossEntropy {
  double label_smoothing = 0;  ///< the share of the probability that is spread evenly over all classes
  ClassWeights class_weights = {};
  Reduction reduction = "mean";
};
/// `label` may also be probabilities [n, classes].
Output softmax_cross_entropy(const Scope& scope, Output logits, Output label,
                             const SoftmaxCrossEntropy& options = {});
/// Kullback and Leibler 1951: how far softmax(logits) is from the labels, which are probabilities [n, classes]. It differs from
/// the cross entropy by the entropy of the labels.
Output kl_divergence(const Scope& scope, Output logits, Output label, const Loss& options = {});

struct BinaryCrossEntropy {
  double label_smoothing = 0;       ///< the share of the probability that is spread evenly over both classes
  ClassWeights class_weights = {};  ///< of the classes 0 and 1, for logits [n] or [n, 1]
  Reduction reduction = "mean";
};
/// For labels 0 and 1, or probabilities.
Output binary_cross_entropy(const Scope& scope, Output logits, Output label,
                            const BinaryCrossEntropy& options = {});

struct Focal {
  double gamma = 2;  ///< how much less certain samples count
  ClassWeights class_weights = {};
  Reduction reduction = "mean";
};
/// Lin et al. 2017, for any number of classes.
Output focal_loss(const Scope& scope, Output logits, Output label, const Focal& options = {});
/// For labels 0 and 1: the mean of max(0, 1 - predicted * (2 label - 1)), or of its square.
Output hinge(const Scope& scope, Output predicted, Output label, const Loss& options = {});
Output squared_hinge(const Scope& scope, Output predicted, Output label, const Loss& options = {});

// ---- Metrics. Those of classes take labels [n], or [n, classes] whose rows add up to 1; a step with others fails.

/// The share of samples whose class is predicted.
Output accuracy(const Scope& scope, Output logits, Output label);

struct TopK {
  int64_t k = 5;
};
/// The share of samples whose class is among the k most likely ones.
Output top_k_accuracy(const Scope& scope, Output logits, Output label, const TopK& options = {});

/// A metric of all samples that is not the mean of those of batches, but follows from means of some numbers over all samples.
struct SetMetric {
  std::string_view name;
  std::string_view meaning;
  /// Returns the means of these numbers over the samples of a batch, a vector.
  Output (*means)(const Scope& scope, Output predicted, Output label);
  /// Returns the metric for their means over all samples; NaN if it is not defined.
  double (*value)(std::span<const double> means);
};
/// Returns precision, recall and f1 (of class 1 if there are two, else the mean over the classes that occur), auc (of two classes,
/// exact to about 1e-3 unless the scores of most samples lie within a thousandth of each other), r2, root_mean_squared_error and
/// perplexity.
std::span<const SetMetric> set_metrics();

}  // namespace troupe::nn
#pragma GCC visibility pop
