#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "apps/nn/compared.h"
#include "apps/nn/losses.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

using Means = std::span<const double>;
constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

Output message_part(const Scope& scope, const std::string& text) {
  return scope.constant(Tensor::scalar<std::string>(text));
}

/// Returns a target that fails if the probabilities of the classes of a sample add up to more than 1.
Output check_has_one_class(const Scope& scope, Output label) {
  constexpr float most = 1.01F;
  const Output greatest = max(scope, cast(scope, sum(scope, label, -1), f32));
  return assert_that(
      scope, less_equal(scope, greatest, most),
      {message_part(scope, "the labels of a sample add up to "), greatest,
       message_part(
           scope,
           "; a metric of classes takes samples of one class each, whose labels add up to 1. If a "
           "sample may be of several, compare each with 0 and 1: reshape logits and labels to [-1]")});
}

/// Returns a target that fails if a label is the number of none of so many classes.
Output check_is_class(const Scope& scope, Output label, Output count) {
  const DType dtype = scope.dtype(label);
  const Output inside = logical_and(scope, greater_equal(scope, label, cast(scope, 0, dtype)),
                                    less(scope, label, cast(scope, count, dtype)));
  return assert_that(
      scope, all(scope, inside),
      {message_part(scope, "the labels are from "), min(scope, label), message_part(scope, " to "),
       max(scope, label), message_part(scope, "; they must be at least 0 and below the number of classes, "),
       count});
}

/// Returns both. If labels are numbers of classes, a step with one that no class has fails.
Compared with_checked_classes(const Scope& scope, const Compared& classes) {
  if (is_floating(scope.dtype(classes.label))) return classes;
  const Output check = check_is_class(scope, classes.label, number_of_classes(scope, classes.predicted));
  return {classes.predicted, identity(scope.with_control({check}), classes.label)};
}

/// Returns the class of each sample, int32 [n].
Output label_class(const Scope& scope, const Compared& classes) {
  if (is_floating(scope.dtype(classes.label)))
    return argmax(scope.with_control({check_has_one_class(scope, classes.label)}),
                  identity(scope, classes.label), -1);
  return scope.dtype(classes.label) == DType::Int32 ? classes.label : cast(scope, classes.label, i32);
}

// ---- Counts of classes: the shares of samples of each class that are found, predicted, and true

Output class_counts(const Scope& scope, Output logits, Output label) {
  const Compared classes = with_checked_classes(scope, compared_classes(scope, "the metric", logits, label));
  const Output count = number_of_classes(scope, classes.predicted);
  const auto vectors = [&](Output of) { return one_hot(scope, of, count, 1.0f, 0.0f); };
  const Output predicted = vectors(argmax(scope, classes.predicted, -1)),
               actual = vectors(label_class(scope, classes));
  const auto mean_of = [&](Output of) { return mean(scope, of, 0); };
  return concat(scope, {mean_of(mul(scope, predicted, actual)), mean_of(predicted), mean_of(actual)}, 0);
}

/// Returns the score of class 1 if there are two classes, else the mean of those of the classes that occur.
double mean_over_classes(Means means, double (*score)(double found, double predicted, double actual)) {
  const size_t classes = means.size() / 3;
  const auto score_of = [&](size_t i) { return score(means[i], means[classes + i], means[2 * classes + i]); };
  if (classes == 2) return score_of(1);
  double sum = 0, occurring = 0;
  for (size_t i = 0; i < classes; ++i) {
    if (means[classes + i] + means[2 * classes + i] == 0) continue;
    sum += score_of(i);
    ++occurring;
  }
  return occurring > 0 ? sum / occurring : undefined;
}

double precision(Means means) {
  return mean_over_classes(means,
                           [](double found, double predicted, double) { return ratio(found, predicted); });
}
double recall(Means means) {
  return mean_over_classes(means, [](double found, double, double actual) { return ratio(found, actual); });
}
double f1(Means means) {
  return mean_over_classes(means, [](double found, double predicted, double actual) {
    return ratio(2 * found, predicted + actual);
  });
}

// ---- The area under the curve: the shares of samples of class 0 and 1 in each bin of the score of class 1

constexpr int32_t bins = 16384;

/// The bins divide z / (1 + |z|), where z is the difference of the logits: they are about 1e-4 wide at z = 0, and 1e-2 at z = 8, so
/// probabilities that are all small, as those of a rare class, are told apart.
Output score_bins(const Scope& scope, Output logits, Output label) {
  const Compared classes = with_checked_classes(scope, compared_classes(scope, "auc", logits, label));
  const PartialShape& shape = scope.shape(classes.predicted);
  if (shape.known_rank() && shape[shape.rank() - 1] > 2)
    throw Error(invalid_argument("auc: there are " + std::to_string(shape[shape.rank() - 1]) +
                                 " classes; it is defined for two"));
  const Output of_classes =
      transpose(scope, classes.predicted, scope.constant(Tensor::vector<int32_t>({1, 0})));
  const Output z = sub(scope, gather(scope, of_classes, 1), gather(scope, of_classes, 0));
  const Output score = add(scope, scope.add_one("Softsign", {z}), 1.0);
  const Output bin = minimum(scope, cast(scope, mul(scope, score, bins / 2.0), i32), bins - 1);
  const Output is_one = cast(scope, label_class(scope, classes), f32);
  const Output count = cast(scope, size(scope, is_one), f32);
  const auto in_bins = [&](Output of) {
    return div(scope, unsorted_segment_sum(scope, of, bin, bins), count);
  };
  return concat(scope, {in_bins(sub(scope, 1.0f, is_one)), in_bins(is_one)}, 0);
}

/// Returns the probability that a sample of class 1 has a higher score than one of class 0; equal ones count half.
double area_under_curve(Means means) {
  const size_t half = means.size() / 2;
  double below = 0, ones = 0, area = 0;
  for (size_t i = 0; i < half; ++i) {
    area += means[half + i] * (below + means[i] / 2);
    below += means[i];
    ones += means[half + i];
  }
  return below > 0 && ones > 0 ? std::min(area / (below * ones), 1.0) : undefined;  // rounding may exceed 1
}

// ---- Numbers

Output mean_square_error(const Scope& scope, Output predicted, Output label) {
  const auto [p, y] = compared_numbers(scope, "the metric", predicted, label);
  return expand_dims(scope, mean(scope, square(scope, sub(scope, cast(scope, p, f64), cast(scope, y, f64)))),
                     0);
}

/// The means over the samples, for each of their numbers, of the squared error, the label, and its square.
Output moments(const Scope& scope, Output predicted, Output label) {
  const auto [p, y] = compared_numbers(scope, "the metric", predicted, label);
  const auto rows = [&](Output of) {
    const Output samples = slice(scope, shape(scope, of), {0}, {1});
    const Output rest = scope.constant(Tensor::vector<int32_t>({-1}));
    return reshape(scope, cast(scope, of, f64), concat(scope, {samples, rest}, 0));
  };
  const Output of_p = rows(p), of_y = rows(y);
  return concat(scope,
                {mean(scope, square(scope, sub(scope, of_p, of_y)), 0), mean(scope, of_y, 0),
                 mean(scope, square(scope, of_y), 0)},
                0);
}

/// Returns the mean over the numbers of a sample, without those that do not vary.
double r_squared(Means means) {
  const size_t count = means.size() / 3;
  double sum = 0, varying = 0;
  for (size_t i = 0; i < count; ++i) {
    const double variance = means[2 * count + i] - means[count + i] * means[count + i];
    if (!(variance > 0)) continue;
    sum += 1 - means[i] / variance;
    ++varying;
  }
  return varying > 0 ? sum / varying : undefined;
}

double root_mean_squared_error(Means means) { return std::sqrt(means[0]); }

Output mean_cross_entropy(const Scope& scope, Output logits, Output label) {
  return expand_dims(scope, softmax_cross_entropy(scope, logits, label), 0);
}

double perplexity(Means means) { return std::exp(means[0]); }

}  // namespace

Output accuracy(const Scope& scope, Output logits, Output label) {
  const Compared classes = compared_classes(scope, "accuracy", logits, label);
  const Output found = argmax(scope, classes.predicted, -1);
  return mean(scope, cast(scope, equal(scope, found, label_class(scope, classes)), f32));
}

Output top_k_accuracy(const Scope& scope, Output logits, Output label, const TopK& options) {
  const Compared classes = compared_classes(scope, "top_k_accuracy", logits, label);
  const Output k = scope.constant(Tensor::scalar(static_cast<int32_t>(options.k)));
  const Output found = scope.add_one("InTopKV2", {classes.predicted, label_class(scope, classes), k});
  return mean(scope, cast(scope, found, f32));
}

std::span<const SetMetric> set_metrics() {
  static constexpr std::array<SetMetric, 7> metrics = {{
      {"auc", "the probability that a sample of class 1 has a higher score than one of class 0", score_bins,
       area_under_curve},
      {"f1", "the harmonic mean of precision and recall", class_counts, f1},
      {"perplexity", "exp of the cross entropy", mean_cross_entropy, perplexity},
      {"precision", "the share of the samples predicted to be of a class that are", class_counts, precision},
      {"r2", "the share of the variance of the label that is predicted; the mean of those of several numbers",
       moments, r_squared},
      {"recall", "the share of the samples of a class that are predicted to be", class_counts, recall},
      {"root_mean_squared_error", "the root of the mean squared error", mean_square_error,
       root_mean_squared_error},
  }};
  return metrics;
}

}  // namespace troupe::nn
