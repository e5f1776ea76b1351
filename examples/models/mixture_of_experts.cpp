#include "mixture_of_experts.h"

#include <string>

namespace models {
namespace {

namespace nn = troupe::nn;
using troupe::Scope;

/// The squared coefficient of variation of the sums of the rows of `gates` [n, experts].
Output squared_variation(const Scope& g, Output gates) {
  const Output totals = sum(g, gates, {0});
  const Output mean_total = mean(g, totals);
  return div(g, mean(g, square(g, sub(g, totals, mean_total))), square(g, mean_total));
}

}  // namespace

Mixture mixture_of_experts(const Network& network, Output x, const MixtureOptions& options,
                           const Expert& expert) {
  const Scope& g = network.scope();
  const Output logits = nn::dense(network.named("gates"), x, {.units = options.experts, .bias = false});
  const auto best = g.outputs(top_k(g, logits, options.chosen));
  const Output gates = softmax(g, best[0]);  // [n, chosen]

  // Assignment a of n * chosen sends row a / chosen to expert best[1][a].
  const Output experts = reshape(g, best[1], {-1});
  const Output assignments = range(g, 0, size(g, experts), 1);
  const auto dealt = dynamic_partition(g, assignments, experts, options.experts);
  std::vector<Output> results;
  for (size_t i = 0; i < dealt.size(); ++i) {
    const Output rows = gather(g, x, floor_div(g, dealt[i], options.chosen));
    results.push_back(expert(network.at("expert" + std::to_string(i + 1)), rows));
  }
  const int64_t units = g.shape(results[0])[1];
  const Output by_row = reshape(g, dynamic_stitch(g, dealt, results), {-1, options.chosen, units});

  const Output all_gates =
      mul(g, expand_dims(g, gates, 2),
          one_hot(g, best[1], options.experts, troupe::Tensor::scalar(1.0F), troupe::Tensor::scalar(0.0F)));
  return {sum(g, mul(g, by_row, expand_dims(g, gates, 2)), {1}),
          squared_variation(g, sum(g, all_gates, {1}))};
}

}  // namespace models
