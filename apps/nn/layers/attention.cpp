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

/// Turns the heads x [batch, heads, time, size] by the angles of their positions.
Output rotated(const Scope& scope, Output x, int64_t size) {
  constexpr double base = 10000;
  const DType dtype = scope.dtype(x), compute = dtype == DType::Double ? dtype : f32;
  const int64_t half = size / 2;
  std::vector<double> frequencies(static_cast<size_t>(half));
  for (size_t i = 0; i < frequencies.size(); ++i)
    frequencies[i] = std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(size));
  const Output time = reshape(scope, slice(scope, shape(scope, x), {2}, {1}), std::vector<int64_t>{});
  const Output positions = expand_dims(scope, cast(scope, range(scope, 0, time), compute), 1);
  const Output angles =
      mul(scope, positions, cast(scope, scope.constant(Tensor::vector<double>(frequencies)), compute));
  const Output cosines = cast(scope, cos(scope, angles), dtype),
               sines = cast(scope, sin(scope, angles), dtype);
  const auto halves = split(scope, x, 2, 3);
  return concat(scope,
                {sub(scope, mul(scope, halves[0], cosines), mul(scope, halves[1], sines)),
                 add(scope, mul(scope, halves[1], cosines), mul(scope, halves[0], sines))},
                3);
}

/// Throws unless the numbers of heads fit each other and the units.
void check_heads(const Layer& layer, int64_t units, int64_t kv_heads, const Attention& options) {
  if (units <= 0 || units % options.heads != 0)
    layer.fail("units is " + std::to_string(units) + "; it must be a positive multiple of the " +
               std::to_string(options.heads) + " heads");
  if (options.kv_heads < 0 || options.heads % kv_heads != 0)
    layer.fail("kv_heads is " + std::to_string(options.kv_heads) + "; it must divide the " +
               std::to_string(options.heads) + " heads");
  const int64_t size = units / options.heads;
  if (options.rotary && size % 2 != 0)
    layer.fail("rotary needs an even number of features of a head, but " + std::to_string(units) +
               " units are " + std::to_string(size) + " for each of the " + std::to_string(options.heads) +
               " heads");
}

}  // namespace

Output attention(const Network& network, Output query, Output memory, const Attention& options) {
  const Layer layer(network, "attention");
  layer.require_rank(query, 3);
  layer.require_rank(memory, 3);
  layer.require_positive("heads", options.heads);
  std::optional<Output> lengths;
  if (options.memory_lengths) lengths = checked_lengths(layer, memory, *options.memory_lengths);
  const int64_t units = options.units == 0 ? layer.size_of(query, -1) : options.units;
  if (units == unknown_dim) return identity(layer.scope(), query);  // in Mode::Check: only the rank is known
  const int64_t kv_heads = options.kv_heads == 0 ? options.heads : options.kv_heads;
  check_heads(layer, units, kv_heads, options);
  const int64_t size = units / options.heads;
  const Scope& scope = layer.scope();
  const auto projected = [&](const char* what, Output x, int64_t heads) {
    const Output y = dense(network.named(layer.name() + '_' + what), x, {.units = heads * size});
    return split_heads(layer, y, heads, size);
  };
  Output queries = projected("query", query, options.heads), keys = projected("key", memory, kv_heads);
  const Output values = projected("value", memory, kv_heads);
  if (options.rotary) {
    queries = rotated(scope, queries, size);
    keys = rotated(scope, keys, size);
  }
  // The queries of the heads that share keys and values are rows of one product.
  const bool shares = kv_heads != options.heads;
  const auto grouped = [&](Output x) { return shares ? layer.reshaped(x, x, 1, {kv_heads, -1, size}) : x; };
  const Output scaled = mul(scope, grouped(queries), 1 / std::sqrt(static_cast<double>(size)));
  const Output products = batch_matmul_v2(scope, scaled, keys, false, true);
  Output scores = shares ? layer.reshaped(products, queries, 3, {-1}) : products;
  if (options.causal) scores = masked(scope, scores);
  if (lengths) {
    const Output mask = mask_behind(scope, memory, *lengths);
    scores = add(scope, scores, expand_dims(scope, expand_dims(scope, mask, 1), 1));
  }
  Output weights = softmax(scope, scores);
  if (shares) weights = layer.reshaped(weights, products, 3, {-1});
  Output mixed = batch_matmul_v2(scope, weights, values);
  if (shares) mixed = layer.reshaped(mixed, queries, 3, {size});
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
