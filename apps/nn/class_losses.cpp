#include "apps/nn/class_losses.h"

#include <limits>

#include "apps/nn/distinct_lookup.h"
#include "apps/nn/embedding_lookup.h"
#include "graph/build/gradient_attrs.h"
#include "kernels/constructors.h"

namespace troupe::nn::classes {
namespace {

/// Adds nodes on the device of a part, where their gradients are computed, too.
class PartScope {
 public:
  PartScope(const Scope& scope, Output part) : scope_(beside(scope, part)) {}

  Output add(std::string_view op, std::vector<Output> inputs, Attributes attrs = {}) const {
    attrs.set(own_gradient_device_attr, true);
    return scope_.add_one(op, std::move(inputs), std::move(attrs));
  }
  const Scope& scope() const { return scope_; }

 private:
  Scope scope_;
};

Output part_logits(const PartScope& here, Output weights, Output bias, Output x) {
  return here.add("BiasAdd", {here.add("MatMul", {x, weights}, {{"transpose_b", true}}), bias});
}

/// What a part of the classes contributes to a softmax, for each row.
struct PartOfSoftmax {
  Output greatest;  ///< the greatest logit; a constant for gradients, since the loss does not depend on it
  Output sum;       ///< of exp(logit - greatest)
  Output own;       ///< the mean of the labels' logits, where that of a label in another part is 0
};

/// `row` [n, labels of a row] has the labels' numbers in their parts, and `is_here` whether that part is this one.
PartOfSoftmax part_of_softmax(const Scope& scope, Output weights, Output bias, Output x, Output row,
                              Output is_here) {
  const PartScope here(scope, weights);
  const Scope& s = here.scope();
  const Output logits = part_logits(here, weights, bias, x);
  const Output axis = s.constant(Tensor::vector<int32_t>({1}));
  const Output greatest = s.add_one("Max", {stop_gradient(s, logits), axis}, {{"keep_dims", true}});
  const Output powers = here.add("Exp", {here.add("Sub", {logits, greatest})});
  const Output classes = s.constant(Tensor::scalar(static_cast<int32_t>(s.shape(weights)[0])));
  const Output label = where_v2(s, is_here, cast(s, row, i32), -1);
  const auto shares = [&](Output of_labels) {
    return s.add_one("OneHot", {of_labels, classes, cast(s, 1, s.dtype(x)), cast(s, 0, s.dtype(x))});
  };
  const Output chosen =
      s.shape(row)[1] == 1 ? shares(reshape(s, label, {-1})) : s.add_one("Mean", {shares(label), axis});
  return {s.add_one("Squeeze", {greatest}, {{"squeeze_dims", std::vector<int64_t>{1}}}),
          here.add("Sum", {powers, axis}), here.add("Sum", {here.add("Mul", {logits, chosen}), axis})};
}

/// Returns log(sum exp(logit)) over all parts, less the mean of the labels' logits.
Output combined(const Scope& scope, const std::vector<PartOfSoftmax>& parts) {
  Output greatest = parts[0].greatest;
  for (size_t i = 1; i < parts.size(); ++i) greatest = maximum(scope, greatest, parts[i].greatest);
  std::vector<Output> sums, own;
  for (const PartOfSoftmax& part : parts) {
    sums.push_back(mul(scope, part.sum, exp(scope, sub(scope, part.greatest, greatest))));
    own.push_back(part.own);
  }
  const Output all = add(scope, greatest, log(scope, add_n(scope, sums)));
  return sub(scope, all, add_n(scope, own));
}

/// Returns labels [n, labels of a row] of labels that may have one per row, [n].
Output label_columns(const Scope& scope, Output labels) {
  const PartialShape& shape = scope.shape(labels);
  if (shape.has_rank(1) || !shape.known_rank()) return reshape(scope, labels, {-1, 1});
  if (shape.has_rank(2) && shape[1] > 0) return labels;
  throw Error(invalid_argument("the labels of a loss over classes have the shape " + shape.text() +
                               "; it must be [n], or [n, labels of a row] with a known number of labels"));
}

/// The logits of the labels and of the drawn classes, each less the logarithm of how often its class is drawn, so that the drawn
/// classes stand for all of them.
struct SampledLogits {
  Output labels;   ///< [n, labels of a row]
  Output sampled;  ///< [n, drawn classes]
};

/// Returns what a logit becomes that must not count in a softmax: no type has a smaller number of its own.
double least(DType dtype) {
  return dtype == DType::Half ? -65504.0 : static_cast<double>(std::numeric_limits<float>::lowest());
}

/// Returns `logits` [n, drawn classes], where those of classes that are labels of their rows are the least number.
Output without_hits(const Scope& scope, Output logits, Output labels, Output classes) {
  const Output hits = any(scope, equal(scope, expand_dims(scope, labels, 2), classes), {1});
  return where_v2(scope, hits, least(scope.dtype(logits)), logits);
}

SampledLogits sampled_logits(const Scope& scope, const Weights& of, Output x, Output labels,
                             const Sampling& sampling) {
  const Output columns = label_columns(scope, cast(scope, labels, i64));
  const int64_t per_row = scope.shape(columns)[1];
  const Candidates drawn =
      sampling.candidates ? *sampling.candidates : draw(scope, columns, of.weights.shape[0], sampling);
  const auto log_of = [&](Output counts) { return log(scope, cast(scope, counts, scope.dtype(x))); };
  const Output own = reshape(scope, columns, {-1});
  // One lookup for both: a label may be among the drawn classes.
  const Output ids = concat(scope, {own, drawn.classes}, 0);
  const Output sizes = stack(scope, {size(scope, own), size(scope, drawn.classes)});
  const auto look_up = [&](const PartitionedVariable& table) {
    const Output rows = embedding_lookup(scope, table, ids);
    return scope.add("SplitV", {rows, sizes, scope.constant(Tensor::scalar<int32_t>(0))},
                     {{"num_split", int64_t{2}}});
  };
  const NodeId weights = look_up(of.weights), bias = look_up(of.bias);
  const Output own_weights = reshape(scope, Output{weights, 0}, {-1, per_row, of.weights.shape[1]});
  const Output of_labels = add(scope, sum(scope, mul(scope, expand_dims(scope, x, 1), own_weights), {2}),
                               reshape(scope, Output{bias, 0}, {-1, per_row}));
  const Output of_drawn = add(scope, matmul(scope, x, Output{weights, 1}, false, true), Output{bias, 1});
  SampledLogits result{sub(scope, of_labels, log_of(drawn.label_counts)),
                       sub(scope, of_drawn, log_of(drawn.counts))};
  if (sampling.without_hits) result.sampled = without_hits(scope, result.sampled, columns, drawn.classes);
  return result;
}

void check(const Scope& scope, const Weights& of, Output x) {
  const auto& [weights, bias] = of;
  const bool same_cut = weights.count() == bias.count() && weights.strategy == bias.strategy;
  if (scope.shape(x).has_rank(2) && weights.shape.has_rank(2) && bias.shape.has_rank(1) && same_cut &&
      weights.shape[0] == bias.shape[0])
    return;
  throw Error(invalid_argument(
      "a loss over classes has inputs of shape " + scope.shape(x).text() + ", weights of shape " +
      weights.shape.text() + " in " + std::to_string(weights.count()) + " parts and a bias of shape " +
      bias.shape.text() + " in " + std::to_string(bias.count()) +
      " parts; they must be [n, units], [classes, units] and [classes], the latter two cut in the same way"));
}

}  // namespace

Output logits(const Scope& scope, const Weights& of, Output x) {
  check(scope, of, x);
  const Scope inner = scope.with_prefix("logits");
  PartitionedVariable parts{{}, of.weights.shape, {}, of.weights.strategy};
  for (size_t i = 0; i < of.weights.parts.size(); ++i) {
    const Output weights = of.weights.parts[i];
    parts.parts.push_back(part_logits(PartScope(inner, weights), weights, of.bias.parts[i], x));
  }
  if (parts.count() == 1) return parts.parts[0];
  if (parts.strategy == PartitionStrategy::Div) return concat(inner, parts.parts, 1);
  for (Output& part : parts.parts) part = transpose(inner, part, {1, 0});
  return transpose(inner, as_tensor(inner, parts), {1, 0});
}

Output softmax_loss(const Scope& scope, const Weights& of, Output x, Output labels) {
  check(scope, of, x);
  const Scope inner = scope.with_prefix("softmax_loss");
  const Output columns = label_columns(inner, labels);
  const Output check = range_check(inner, of.weights, reshape(inner, columns, {-1}));
  const RowPlaces label = places_of(inner, of.weights, identity(inner.with_control({check}), columns));
  std::vector<PartOfSoftmax> parts;
  for (size_t i = 0; i < of.weights.parts.size(); ++i)
    parts.push_back(part_of_softmax(inner, of.weights.parts[i], of.bias.parts[i], x, label.row,
                                    equal(inner, label.part, static_cast<int64_t>(i))));
  return combined(inner, parts);
}

Output sampled_softmax_loss(const Scope& scope, const Weights& of, Output x, Output labels,
                            const Sampling& sampling) {
  check(scope, of, x);
  const SampledLogits sampled = sampled_logits(scope, of, x, labels, sampling);
  const Output logits = concat(scope, {sampled.labels, sampled.sampled}, 1);
  const int64_t labels_per_row = scope.shape(sampled.labels)[1];
  if (labels_per_row == 1)
    return sparse_softmax_cross_entropy_with_logits(scope, logits,
                                                    zeros_like(scope, reshape(scope, labels, {-1})));
  const double share = 1.0 / static_cast<double>(labels_per_row);
  const Output targets = concat(
      scope, {mul(scope, ones_like(scope, sampled.labels), share), zeros_like(scope, sampled.sampled)}, 1);
  return softmax_cross_entropy_with_logits(scope, logits, targets);
}

Output nce_loss(const Scope& scope, const Weights& of, Output x, Output labels, const Sampling& sampling) {
  check(scope, of, x);
  const SampledLogits sampled = sampled_logits(scope, of, x, labels, sampling);
  Output of_labels = softplus(scope, neg(scope, sampled.labels));
  const int64_t labels_per_row = scope.shape(sampled.labels)[1];
  if (labels_per_row > 1) {  // the target is the label's share, not 1
    const double rest = 1 - 1.0 / static_cast<double>(labels_per_row);
    of_labels = add(scope, of_labels, mul(scope, sampled.labels, rest));
  }
  return add(scope, sum(scope, of_labels, {1}), sum(scope, softplus(scope, sampled.sampled), {1}));
}

}  // namespace troupe::nn::classes
