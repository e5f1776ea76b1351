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
  Output own;       ///< the logit of the label; 0 if the label is in another part
};

/// `row` is the label's number in its part, and `is_here` whether that part is this one.
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
  const Output chosen = s.add_one("OneHot", {label, classes, cast(s, 1, s.dtype(x)), cast(s, 0, s.dtype(x))});
  return {s.add_one("Squeeze", {greatest}, {{"squeeze_dims", std::vector<int64_t>{1}}}),
          here.add("Sum", {powers, axis}), here.add("Sum", {here.add("Mul", {logits, chosen}), axis})};
}

/// Returns log(sum exp(logit)) over all parts, less the logit of the label.
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

/// The logits of the labels and of the drawn classes, each less the logarithm of how often its class is drawn, so that the drawn
/// classes stand for all of them.
struct SampledLogits {
  Output labels;   ///< [n, 1]
  Output sampled;  ///< [n, drawn classes]
};

SampledLogits sampled_logits(const Scope& scope, const Weights& of, Output x, Output labels,
                             const Sampling& sampling) {
  const Output column = reshape(scope, cast(scope, labels, i64), {-1, 1});
  const NodeId drawn = scope.add("LogUniformCandidateSampler", {column},
                                 {{"num_true", int64_t{1}},
                                  {"num_sampled", sampling.classes},
                                  {"unique", true},
                                  {"range_max", of.weights.shape[0]}});
  const auto of_sampler = [&](uint32_t output) { return scope.graph().output(drawn, output); };
  const auto log_count = [&](uint32_t output) {
    return log(scope, cast(scope, of_sampler(output), scope.dtype(x)));
  };
  const Output candidates = of_sampler(0), own = reshape(scope, column, {-1});
  // One lookup for both: a label may be among the drawn classes.
  const Output ids = concat(scope, {own, candidates}, 0);
  const Output sizes = stack(scope, {size(scope, own), size(scope, candidates)});
  const auto look_up = [&](const PartitionedVariable& table) {
    const Output rows = embedding_lookup(scope, table, ids);
    return scope.add("SplitV", {rows, sizes, scope.constant(Tensor::scalar<int32_t>(0))},
                     {{"num_split", int64_t{2}}});
  };
  const NodeId weights = look_up(of.weights), bias = look_up(of.bias);
  const Output of_labels = add(scope, sum(scope, mul(scope, x, Output{weights, 0}), {1}, true),
                               expand_dims(scope, Output{bias, 0}, 1));
  const Output of_drawn = add(scope, matmul(scope, x, Output{weights, 1}, false, true), Output{bias, 1});
  SampledLogits result{sub(scope, of_labels, log_count(1)), sub(scope, of_drawn, log_count(2))};
  if (sampling.without_hits)
    result.sampled = where_v2(scope, equal(scope, column, candidates),
                              static_cast<double>(std::numeric_limits<float>::lowest()), result.sampled);
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
  const Output check = range_check(inner, of.weights, labels);
  const RowPlaces label = places_of(inner, of.weights, identity(inner.with_control({check}), labels));
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
  return sparse_softmax_cross_entropy_with_logits(scope, concat(scope, {sampled.labels, sampled.sampled}, 1),
                                                  zeros_like(scope, labels));
}

Output nce_loss(const Scope& scope, const Weights& of, Output x, Output labels, const Sampling& sampling) {
  check(scope, of, x);
  const SampledLogits sampled = sampled_logits(scope, of, x, labels, sampling);
  return add(scope, reshape(scope, softplus(scope, neg(scope, sampled.labels)), {-1}),
             sum(scope, softplus(scope, sampled.sampled), {1}));
}

}  // namespace troupe::nn::classes
