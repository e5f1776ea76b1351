#include "apps/nn/layers/sequence.h"
#include "graph/build/call.h"
#include "graph/build/functional.h"
#include "kernels/constructors.h"

namespace troupe::nn {
Output attention_lstm(const Network& network, Output x, Output memory, const AttentionLstm& options) {
  const Layer layer(network, "attention_lstm");
  const Recurrent steps{.units = options.units, .sequences = true, .loop = options.loop};
  check_sequence(layer, x, steps);
  layer.require_rank(memory, 3);
  const Scope& scope = layer.scope();
  std::optional<Output> mask;
  if (options.memory_lengths)
    mask = mask_behind(scope, memory, checked_lengths(layer, memory, *options.memory_lengths));
  const DType dtype = scope.dtype(x);
  const int64_t columns = 4 * options.units, depth = layer.size_of(memory, 2);
  Cell cell{.units = options.units, .states = 3};
  cell.weights = layer.weight("weights", {layer.size_of(x, 2), columns}, dtype, options.init);
  const Output recurrent = layer.weight("recurrent", {2 * options.units, columns}, dtype, options.init);
  cell.bias = layer.weight("bias", {columns}, dtype, forget_bias);
  const Output query = layer.weight("query", {options.units, depth}, dtype, options.init);
  const Output mix = layer.weight(
      "mix", {depth == unknown_dim ? depth : depth + options.units, options.units}, dtype, options.init);
  cell.step = [=](const Scope& s, Output product, const State& state) {
    const Output before = matmul(s, concat(s, {state[0], state[1]}, 1), recurrent);
    const State lstm = lstm_step(s, add(s, product, before), &state[2]);
    const Output asked = expand_dims(s, matmul(s, lstm[0], query), 1);
    Output scores = batch_matmul_v2(s, asked, memory, false, true);  // [batch, 1, steps]
    if (mask) scores = add(s, scores, expand_dims(s, *mask, 1));
    const Output context = squeeze(s, batch_matmul_v2(s, softmax(s, scores), memory), {1});
    return State{tanh(s, matmul(s, concat(s, {context, lstm[0]}, 1), mix)), lstm[0], lstm[1]};
  };
  return run_cell(layer, x, cell, steps);
}

}  // namespace troupe::nn
