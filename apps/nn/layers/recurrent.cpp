#include "apps/nn/layers/sequence.h"
#include "graph/build/call.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

/// Returns x [batch, time, features] with the steps of each sequence in the opposite order. Those behind its end stay.
Output reversed(const Scope& scope, Output x, const std::optional<Output>& lengths) {
  return lengths ? reverse_sequence(scope, x, *lengths, 1) : reverse(scope, x, {1});
}

/// Makes the cell of a layer for input x. The names of its weights begin with `prefix`.
using MakeCell = Cell (*)(const Layer& layer, Output x, const Recurrent& options, const std::string& prefix);

Output recurrent_layer(const Network& network, std::string_view type, Output x, const Recurrent& options,
                       MakeCell make_cell) {
  const Layer layer(network, type);
  check_sequence(layer, x, options);
  const Output forward = run_cell(layer, x, make_cell(layer, x, options, ""), options);
  if (!options.bidirectional) return forward;
  const Scope& scope = layer.scope();
  Output backward = run_cell(layer, reversed(scope, x, options.lengths),
                             make_cell(layer, x, options, "backward_"), options);
  if (options.sequences) backward = reversed(scope, backward, options.lengths);
  return concat(scope, {forward, backward}, -1);
}

Cell lstm_cell(const Layer& layer, Output x, const Recurrent& options, const std::string& prefix) {
  const DType dtype = layer.scope().dtype(x);
  const int64_t columns = 4 * options.units;
  Cell cell{.units = options.units, .states = 2, .begins_without_state = true};
  cell.weights = layer.weight(prefix + "weights", {layer.size_of(x, 2), columns}, dtype, options.init);
  const Output recurrent = layer.weight(prefix + "recurrent", {options.units, columns}, dtype, options.init);
  cell.bias = layer.weight(prefix + "bias", {columns}, dtype, forget_bias);
  cell.step = [recurrent](const Scope& s, Output product, const State& state) {
    if (state.empty()) return lstm_step(s, product, nullptr);
    return lstm_step(s, add(s, product, matmul(s, state[0], recurrent)), &state[1]);
  };
  return cell;
}

Cell gru_cell(const Layer& layer, Output x, const Recurrent& options, const std::string& prefix) {
  const DType dtype = layer.scope().dtype(x);
  const int64_t columns = 3 * options.units;
  Cell cell{.units = options.units};
  cell.weights = layer.weight(prefix + "weights", {layer.size_of(x, 2), columns}, dtype, options.init);
  const Output recurrent = layer.weight(prefix + "recurrent", {options.units, columns}, dtype, options.init);
  cell.bias = layer.weight(prefix + "bias", {columns}, dtype, all_equal(0));
  const Output recurrent_bias = layer.weight(prefix + "recurrent_bias", {columns}, dtype, all_equal(0));
  cell.step = [=](const Scope& s, Output product, const State& state) {
    const auto from_input = split(s, product, 3, 1);
    const auto from_output =
        split(s, s.add_one("BiasAdd", {matmul(s, state[0], recurrent), recurrent_bias}), 3, 1);
    const Output update = sigmoid(s, add(s, from_input[0], from_output[0]));
    const Output reset = sigmoid(s, add(s, from_input[1], from_output[1]));
    const Output candidate = tanh(s, add(s, from_input[2], mul(s, reset, from_output[2])));
    return State{add(s, candidate, mul(s, update, sub(s, state[0], candidate)))};
  };
  return cell;
}

}  // namespace

Output lstm(const Network& network, Output x, const Recurrent& options) {
  return recurrent_layer(network, "lstm", x, options, lstm_cell);
}

Output gru(const Network& network, Output x, const Recurrent& options) {
  return recurrent_layer(network, "gru", x, options, gru_cell);
}

}  // namespace troupe::nn
