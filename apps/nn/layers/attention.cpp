#include <cmath>

#include "apps/nn/layers/sequence.h"
#include "graph/build/call.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

/// Cuts the last dimension into heads: [batch, time, units] to [batch, heads, time, units / heads].
Output split_heads(const Layer& layer, Output x, int64_t heads, int64_t size) {
  return transpose(layer.scope(), layer.reshaped(x, x, 2, {heads, size}), {0, 2, 1, 3});
}

/// Scores [batch, heads, query_time, memory_time] in which those of later positions are a large negative number.
Output masked(const Scope& scope, Output scores) {
  const Output all =
      scope.add_one("Fill", {slice(scope, shape(scope, scores), {2}, {2}),
                             scope.constant(value_or_throw(to_tensor(1, scope.dtype(scores))))});
  const Output allowed = matrix_band_part(scope, all, int64_t{-1}, int64_t{0});
  return add(scope, scores, mul(scope, sub(scope, all, allowed), hiding_score(scope.dtype(scores))));
}

}  // namespace

Output attention(const Network& network, Output query, Output memory, const Attention& options) {
  const Layer layer(network, "attention");
  layer.require_rank(query, 3);
  layer.require_rank(memory, 3);
  layer.require_positive("heads", options.heads);
  check_lengths(layer, options.memory_lengths);
  const int64_t units = options.units == 0 ? layer.size_of(query, -1) : options.units;
  if (units == unknown_dim) return identity(layer.scope(), query);  // in Mode::Check: only the rank is known
  if (units <= 0 || units % options.heads != 0)
    layer.fail("units is " + std::to_string(units) + "; it must be a positive multiple of the " +
               std::to_string(options.heads) + " heads");
  const int64_t size = units / options.heads;
  const Scope& scope = layer.scope();
  const auto projected = [&](const char* what, Output x) {
    const Output y = dense(network.named(layer.name() + '_' + what), x, {.units = units});
    return split_heads(layer, y, options.heads, size);
  };
  const Output queries = projected("query", query), keys = projected("key", memory),
               values = projected("value", memory);
  const Output scaled = mul(scope, queries, 1 / std::sqrt(static_cast<double>(size)));
  Output scores = batch_matmul_v2(scope, scaled, keys, false, true);
  if (options.causal) scores = masked(scope, scores);
  if (options.memory_lengths) {
    const Output mask = mask_behind(scope, memory, *options.memory_lengths);
    scores = add(scope, scores, expand_dims(scope, expand_dims(scope, mask, 1), 1));
  }
  const Output mixed = batch_matmul_v2(scope, softmax(scope, scores), values);
  const Output joined = layer.reshaped(transpose(scope, mixed, {0, 2, 1, 3}), query, 2, {units});
  return dense(network.named(layer.name() + "_output"), joined, {.units = units});
}

Output position_embedding(const Network& network, Output x, const PositionEmbedding& options) {
  const Layer layer(network, "position_embedding");
  layer.require_rank(x, 3);
  layer.require_positive("steps", options.steps);
  const Scope& scope = layer.scope();
  const int64_t features = layer.size_of(x, -1), time = scope.shape(x)[1];
  if (time > options.steps)
    layer.fail("the input has shape " + scope.shape(x).text() + "; it must have at most " +
               std::to_string(options.steps) + " steps, as the option says");
  const Output all = layer.weight("weights", {options.steps, features}, scope.dtype(x),
                                  options.init ? options.init : small_uniform);
  if (time != unknown_dim) return add(scope, x, slice(scope, all, {0, 0}, {time, int64_t{-1}}));
  const Output size = concat(
      scope, {slice(scope, shape(scope, x), {1}, {1}), scope.constant(Tensor::vector<int32_t>({-1}))}, 0);
  return add(scope, x, slice(scope, all, {0, 0}, size));
}

}  // namespace troupe::nn
