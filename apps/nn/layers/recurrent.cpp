#include "apps/nn/layers/sequence.h"
#include "graph/build/call.h"
#include "kernels/constructors.h"

namespace troupe::nn {

Output lstm(const Network& network, Output x, const Recurrent& options) {
  const Layer layer(network, "lstm");
  check_sequence(layer, x, options);
  const DType dtype = layer.scope().dtype(x);
  const int64_t columns = 4 * options.units;
  Cell cell{.units = options.units, .states = 2, .begins_without_state = true};
  cell.weights = layer.weight("weights", {layer.size_of(x, 2), columns}, dtype, options.init);
  const Output recurrent = layer.weight("recurrent", {options.units, columns}, dtype, options.init);
  cell.bias = layer.weight("bias", {columns}, dtype, forget_bias);
  cell.step = [recurrent](const Scope& s, Output product, const State& state) {
    if (state.empty()) return lstm_step(s, product, nullptr);
    return lstm_step(s, add(s, product, matmul(s, state[0], recurrent)), &state[1]);
  };
  return run_cell(layer, x, cell, options);
}

Output gru(const Network& network, Output x, const Recurrent& options) {
  const Layer layer(network, "gru");
  check_sequence(layer, x, options);
  const DType dtype = layer.scope().dtype(x);
  const int64_t columns = 3 * options.units;
  Cell cell{.units = options.units};
  cell.weights = layer.weight("weights", {layer.size_of(x, 2), columns}, dtype, options.init);
  const Output recurrent = layer.weight("recurrent", {options.units, columns}, dtype, options.init);
  cell.bias = layer.weight("bias", {columns}, dtype, all_equal(0));
  const Output recurrent_bias = layer.weight("recurrent_bias", {columns}, dtype, all_equal(0));
  cell.step = [=](const Scope& s, Output product, const State& state) {
    const auto from_input = split(s, product, 3, 1);
    const auto from_output =
        split(s, s.add_one("BiasAdd", {matmul(s, state[0], recurrent), recurrent_bias}), 3, 1);
    const Output update = sigmoid(s, add(s, from_input[0], from_output[0]));
    const Output reset = sigmoid(s, add(s, from_input[1], from_output[1]));
    const Output candidate = tanh(s, add(s, from_input[2], mul(s, reset, from_output[2])));
    return State{add(s, candidate, mul(s, update, sub(s, state[0], candidate)))};
  };
  return run_cell(layer, x, cell, options);
}

}  // namespace troupe::nn
