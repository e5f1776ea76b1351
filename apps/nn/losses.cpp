#include "apps/nn/losses.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "apps/nn/compared.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

/// Returns the logits of the classes 0 and 1, [n, 2].
Output two_logits(const Scope& scope, Output logits) {
  return stack(scope, {zeros_like(scope, logits), logits}, 1);
}

/// Returns labels that are numbers of classes in a type that ops on classes take; others as they are.
Output class_numbers(const Scope& scope, Output label) {
  const DType dtype = scope.dtype(label);
  const bool is_wide = dtype == DType::UInt32 || dtype == DType::UInt64;
  const bool is_number = is_integer(dtype) || dtype == DType::Bool;
  if (!is_number || dtype == DType::Int32 || dtype == DType::Int64) return label;
  return cast(scope, label, is_wide ? DType::Int64 : DType::Int32);
}

/// Returns the cross entropy of each sample.
Output cross_entropies(const Scope& scope, const Compared& classes) {
  const DType label = scope.dtype(classes.label);
  if (label == DType::Int32 || label == DType::Int64)
    return sparse_softmax_cross_entropy_with_logits(scope, classes.predicted, classes.label);
  return softmax_cross_entropy_with_logits(scope, classes.predicted, classes.label);
}

void check_weights(std::string_view name, const ClassWeights& weights) {
  for (size_t i = 0; i < weights.size(); ++i)
    if (!std::isfinite(weights[i]) || weights[i] < 0)
      throw Error(invalid_argument(std::string(name) + ": class_weights[" + std::to_string(i) + "] is " +
                                   std::to_string(weights[i]) +
                                   "; it must be a finite number of at least 0"));
  if (std::ranges::all_of(weights, [](double weight) { return weight == 0; }))
    throw Error(invalid_argument(std::string(name) + ": all class_weights are 0, so that no sample counts"));
}

/// Returns the mean of the losses of the samples, their sum, or them.
Output reduced(const Scope& scope, std::string_view name, Output losses, const Reduction& reduction) {
  if (reduction == "mean") return mean(scope, losses);
  if (reduction == "sum") return sum(scope, losses);
  if (reduction == "none") return losses;
  throw Error(invalid_argument(std::string(name) + ": reduction is '" + reduction +
                               "'; it must be 'mean', 'sum' or 'none'"));
}

/// Returns the losses of the samples, each times the weight of its class.
Output weighted(const Scope& scope, std::string_view name, Output losses, const Compared& classes,
                const ClassWeights& weights) {
  if (weights.empty()) return losses;
  check_weights(name, weights);
  const PartialShape& shape = scope.shape(classes.predicted);
  if (const int64_t count = shape.known_rank() ? shape[1] : unknown_dim;
      count != unknown_dim && count != static_cast<int64_t>(weights.size()))
    throw Error(invalid_argument(std::string(name) + ": there are " + std::to_string(weights.size()) +
                                 " class_weights for " + std::to_string(count) + " classes"));
  const DType dtype = scope.dtype(losses);
  const Output all = cast(scope, scope.constant(Tensor::vector(std::span<const double>(weights))), dtype);
  const Output of_samples = is_floating(scope.dtype(classes.label))
                                ? sum(scope, mul(scope, cast(scope, classes.label, dtype), all), {-1})
                                : gather(scope, all, classes.label);
  return mul(scope, losses, of_samples);
}

void check_smoothing(std::string_view name, double share) {
  if (!(share >= 0 && share < 1))
    throw Error(invalid_argument(std::string(name) + ": label_smoothing is " + std::to_string(share) +
                                 "; it must be at least 0 and below 1"));
}

/// Returns the cross entropy of each sample, of whose label this share of the probability is spread evenly over the classes. It is
/// the sum of those of both parts, so that labels that are numbers of classes remain so, and one that no class has makes the step
/// fail.
Output smoothed_cross_entropies(const Scope& scope, std::string_view name, const Compared& classes,
                                double share) {
  check_smoothing(name, share);
  const Output of_labels = cross_entropies(scope, classes);
  if (share == 0) return of_labels;
  const Output of_all = neg(scope, mean(scope, log_softmax(scope, classes.predicted), -1));
  return add(scope, mul(scope, of_labels, 1 - share), mul(scope, of_all, share));
}

/// Returns max(0, 1 - predicted * (2 label - 1)) of each number.
Output hinges(const Scope& scope, Output predicted, Output label) {
  return relu(scope, sub(scope, 1.0, mul(scope, predicted, sub(scope, mul(scope, label, 2.0), 1.0))));
}

}  // namespace

Compared compared_numbers(const Scope& scope, std::string_view name, Output predicted, Output label) {
  const auto rank = [&](Output of) {
    return scope.shape(of).known_rank() ? static_cast<int64_t>(scope.shape(of).rank()) : -1;
  };
  if (rank(predicted) == 2 && rank(label) == 1 && scope.shape(predicted)[1] == 1)
    predicted = squeeze(scope, predicted, {1});
  // So that a step with other shapes fails, or adds up what belongs together, [n, 1] and [n], in place of broadcasting.
  if (rank(predicted) < 0 || rank(label) < 0) label = reshape(scope, label, shape(scope, predicted));
  if (!scope.shape(predicted).compatible_with(scope.shape(label)))
    throw Error(invalid_argument(
        std::string(name) + ": the prediction is " + scope.shape(predicted).text() + " and the label " +
        scope.shape(label).text() + "; both must have the same shape" +
        (rank(label) != 1 || rank(predicted) != 2 ? ""
         : is_integer(scope.dtype(label)) ? "; labels that are classes take the loss softmax_cross_entropy"
                                          : "; labels that are classes must be integers")));
  const DType dtype = scope.dtype(predicted);
  if (!is_floating(dtype))
    throw Error(invalid_argument(std::string(name) + ": the prediction is " +
                                 std::string(troupe::name(dtype)) + "; expected a floating type"));
  return {predicted, scope.dtype(label) == dtype ? label : cast(scope, label, dtype)};
}

Compared compared_classes(const Scope& scope, std::string_view name, Output logits, Output label) {
  const PartialShape& shape = scope.shape(logits);
  const bool is_column = shape.known_rank() && shape.rank() == 2 && shape[1] == 1;
  const bool has_label_column =
      scope.shape(label).known_rank() && scope.shape(label).rank() == 2 && scope.shape(label)[1] == 1;
  if (has_label_column) label = squeeze(scope, label, {1});
  label = class_numbers(scope, label);
  const bool has_probabilities = is_floating(scope.dtype(label));
  if (is_column || (shape.known_rank() && shape.rank() == 1)) {
    const Compared both = has_probabilities
                              ? compared_numbers(scope, name, logits, label)
                              : Compared{is_column ? squeeze(scope, logits, {1}) : logits, label};
    if (!has_probabilities) return {two_logits(scope, both.predicted), label};
    const Output others = sub(scope, ones_like(scope, both.label), both.label);
    return {two_logits(scope, both.predicted), stack(scope, {others, both.label}, 1)};
  }
  if (has_probabilities) return compared_numbers(scope, name, logits, label);
  const PartialShape& labels = scope.shape(label);
  if (shape.known_rank() && labels.known_rank() && (shape.rank() != 2 || labels.rank() != 1))
    throw Error(invalid_argument(std::string(name) + ": the logits are " + shape.text() + " and the label " +
                                 labels.text() + "; expected logits [n, classes] and labels [n]"));
  return {logits, label};
}

Output number_of_classes(const Scope& scope, Output logits) {
  const PartialShape& shape = scope.shape(logits);
  if (shape.known_rank() && shape[shape.rank() - 1] != unknown_dim)
    return scope.constant(Tensor::scalar(static_cast<int32_t>(shape[shape.rank() - 1])));
  return gather(scope, troupe::shape(scope, logits), 1);
}

Output mean_squared_error(const Scope& scope, Output predicted, Output label, const Loss& options) {
  const auto [p, y] = compared_numbers(scope, "mean_squared_error", predicted, label);
  return reduced(scope, "mean_squared_error", square(scope, sub(scope, p, y)), options.reduction);
}

Output mean_absolute_error(const Scope& scope, Output predicted, Output label, const Loss& options) {
  const auto [p, y] = compared_numbers(scope, "mean_absolute_error", predicted, label);
  return reduced(scope, "mean_absolute_error", abs(scope, sub(scope, p, y)), options.reduction);
}

Output mean_absolute_percentage_error(const Scope& scope, Output predicted, Output label,
                                      const Loss& options) {
  constexpr std::string_view name = "mean_absolute_percentage_error";
  const auto [p, y] = compared_numbers(scope, name, predicted, label);
  const Output size = maximum(scope, abs(scope, y), 1e-7);
  const Output shares = div(scope, abs(scope, sub(scope, p, y)), size);
  return mul(scope, reduced(scope, name, shares, options.reduction), 100.0);
}

Output mean_squared_log_error(const Scope& scope, Output predicted, Output label, const Loss& options) {
  const auto [p, y] = compared_numbers(scope, "mean_squared_log_error", predicted, label);
  const auto log_of = [&](Output x) { return log1p(scope, relu(scope, x)); };
  return reduced(scope, "mean_squared_log_error", square(scope, sub(scope, log_of(p), log_of(y))),
                 options.reduction);
}

Output log_cosh(const Scope& scope, Output predicted, Output label, const Loss& options) {
  const auto [p, y] = compared_numbers(scope, "log_cosh", predicted, label);
  const Output error = sub(scope, p, y);  // log cosh x = x + softplus(-2 x) - log 2, which cannot overflow
  const Output losses =
      sub(scope, add(scope, error, softplus(scope, mul(scope, error, -2.0))), std::numbers::ln2);
  return reduced(scope, "log_cosh", losses, options.reduction);
}

Output huber(const Scope& scope, Output predicted, Output label, const Huber& options) {
  if (!(options.delta > 0)) throw Error(invalid_argument("huber: delta must be above 0"));
  const auto [p, y] = compared_numbers(scope, "huber", predicted, label);
  const Output error = abs(scope, sub(scope, p, y)), near = minimum(scope, error, options.delta);
  // near^2 / 2 + delta (error - near)
  const Output losses =
      add(scope, mul(scope, square(scope, near), 0.5), mul(scope, sub(scope, error, near), options.delta));
  return reduced(scope, "huber", losses, options.reduction);
}

Output quantile_loss(const Scope& scope, Output predicted, Output label, const Quantile& options) {
  if (!(options.quantile > 0 && options.quantile < 1))
    throw Error(invalid_argument("quantile_loss: the quantile must be between 0 and 1"));
  const auto [p, y] = compared_numbers(scope, "quantile_loss", predicted, label);
  const Output error = sub(scope, y, p);
  const Output losses =
      maximum(scope, mul(scope, error, options.quantile), mul(scope, error, options.quantile - 1));
  return reduced(scope, "quantile_loss", losses, options.reduction);
}

Output poisson_loss(const Scope& scope, Output predicted, Output label, const Loss& options) {
  const auto [p, y] = compared_numbers(scope, "poisson_loss", predicted, label);
  return reduced(scope, "poisson_loss", sub(scope, exp(scope, p), mul(scope, y, p)), options.reduction);
}

Output cosine_distance(const Scope& scope, Output predicted, Output label, const Loss& options) {
  const auto [p, y] = compared_numbers(scope, "cosine_distance", predicted, label);
  const auto product = [&](Output a, Output b) { return sum(scope, mul(scope, a, b), -1); };
  const Output sizes = sqrt(scope, mul(scope, product(p, p), product(y, y)));
  const Output cosines = div(scope, product(p, y), maximum(scope, sizes, 1e-12));
  return reduced(scope, "cosine_distance", sub(scope, 1.0, cosines), options.reduction);
}

Output softmax_cross_entropy(const Scope& scope, Output logits, Output label,
                             const SoftmaxCrossEntropy& options) {
  constexpr std::string_view name = "softmax_cross_entropy";
  const Compared classes = compared_classes(scope, name, logits, label);
  const Output losses = smoothed_cross_entropies(scope, name, classes, options.label_smoothing);
  return reduced(scope, name, weighted(scope, name, losses, classes, options.class_weights),
                 options.reduction);
}

Output kl_divergence(const Scope& scope, Output logits, Output label, const Loss& options) {
  const Compared classes = compared_classes(scope, "kl_divergence", logits, label);
  Output losses = cross_entropies(scope, classes);
  if (is_floating(scope.dtype(classes.label)))  // a class without doubt has no entropy
    losses = add(scope, losses, sum(scope, xlogy(scope, classes.label, classes.label), -1));
  return reduced(scope, "kl_divergence", losses, options.reduction);
}

Output binary_cross_entropy(const Scope& scope, Output logits, Output label,
                            const BinaryCrossEntropy& options) {
  constexpr std::string_view name = "binary_cross_entropy";
  const PartialShape& shape = scope.shape(logits);
  const bool is_one = shape.known_rank() && (shape.rank() == 1 || (shape.rank() == 2 && shape[1] == 1));
  if (is_one) {
    const Compared classes = compared_classes(scope, name, logits, label);
    const Output losses = smoothed_cross_entropies(scope, name, classes, options.label_smoothing);
    return reduced(scope, name, weighted(scope, name, losses, classes, options.class_weights),
                   options.reduction);
  }
  if (!options.class_weights.empty())
    throw Error(invalid_argument(std::string(name) + ": class_weights need logits [n] or [n, 1]; found " +
                                 shape.text()));
  auto [x, y] = compared_numbers(scope, name, logits, label);
  const double share = options.label_smoothing;
  check_smoothing(name, share);
  if (share != 0) y = add(scope, mul(scope, y, 1 - share), share / 2);
  return reduced(scope, name, sub(scope, softplus(scope, x), mul(scope, x, y)), options.reduction);
}

Output focal_loss(const Scope& scope, Output logits, Output label, const Focal& options) {
  constexpr std::string_view name = "focal_loss";
  const Compared classes = compared_classes(scope, name, logits, label);
  const Output entropies = cross_entropies(scope, classes);
  const Output doubt = sub(scope, 1.0, exp(scope, neg(scope, entropies)));  // 1 - p of the class
  const Output losses = mul(scope, pow(scope, maximum(scope, doubt, 1e-7), options.gamma), entropies);
  return reduced(scope, name, weighted(scope, name, losses, classes, options.class_weights),
                 options.reduction);
}

Output hinge(const Scope& scope, Output predicted, Output label, const Loss& options) {
  const auto [p, y] = compared_numbers(scope, "hinge", predicted, label);
  return reduced(scope, "hinge", hinges(scope, p, y), options.reduction);
}

Output squared_hinge(const Scope& scope, Output predicted, Output label, const Loss& options) {
  const auto [p, y] = compared_numbers(scope, "squared_hinge", predicted, label);
  return reduced(scope, "squared_hinge", square(scope, hinges(scope, p, y)), options.reduction);
}

}  // namespace troupe::nn
