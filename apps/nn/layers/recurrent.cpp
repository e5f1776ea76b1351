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

/// Refuses options that the kind of layer does not have.
void check_kind(const Layer& layer, std::string_view type, const Recurrent& options) {
  const bool is_tanh = options.activation == "tanh", is_rnn = type == "rnn";
  if (!is_tanh && !(is_rnn && options.activation == "relu"))
    layer.fail("activation is '" + options.activation + "'; it must be " +
               (is_rnn ? "tanh or relu" : "tanh, and relu is for rnn only"));
  if (!options.reset_after && type != "gru") layer.fail("reset_after is false; this is for gru only");
}

Output recurrent_layer(const Network& network, std::string_view type, Output x, Recurrent options,
                       MakeCell make_cell) {
  const Layer layer(network, type);
  check_sequence(layer, x, options);
  check_kind(layer, type, options);
  if (options.lengths) options.lengths = checked_lengths(layer, x, *options.lengths);
  const Output forward = run_cell(layer, x, make_cell(layer, x, options, ""), options);
  if (!options.bidirectional) return forward;
  const Scope& scope = layer.scope();
  Output backward = run_cell(layer, reversed(scope, x, options.lengths),
                             make_cell(layer, x, options, "backward_"), options);
  if (options.sequences) backward = reversed(scope, backward, options.lengths);
  return concat(scope, {forward, backward}, -1);
}

/// Makes the weights of a cell with so many gates, and returns those of its last output.
Output add_weights(const Layer& layer, Output x, const Recurrent& options, const std::string& prefix,
                   int64_t gates, const Initial& bias, Cell& cell) {
  const DType dtype = layer.scope().dtype(x);
  const int64_t columns = gates * options.units;
  cell.units = options.units;
  cell.weights = layer.weight(prefix + "weights", {layer.size_of(x, 2), columns}, dtype, options.init);
  const Output recurrent = layer.weight(prefix + "recurrent", {options.units, columns}, dtype, options.init);
  cell.bias = layer.weight(prefix + "bias", {columns}, dtype, bias);
  return recurrent;
}

Cell rnn_cell(const Layer& layer, Output x, const Recurrent& options, const std::string& prefix) {
  Cell cell{.begins_without_state = true};
  const Output recurrent = add_weights(layer, x, options, prefix, 1, all_equal(0), cell);
  cell.step = [recurrent, is_relu = options.activation == "relu"](const Scope& s, Output product,
                                                                  const State& state) {
    const Output sums = state.empty() ? product : add(s, product, matmul(s, state[0], recurrent));
    return State{is_relu ? relu(s, sums) : tanh(s, sums)};
  };
  return cell;
}

Cell lstm_cell(const Layer& layer, Output x, const Recurrent& options, const std::string& prefix) {
  Cell cell{.states = 2, .begins_without_state = true};
  const Output recurrent = add_weights(layer, x, options, prefix, 4, forget_bias, cell);
  cell.step = [recurrent](const Scope& s, Output product, const State& state) {
    if (state.empty()) return lstm_step(s, product, nullptr);
    return lstm_step(s, add(s, product, matmul(s, state[0], recurrent)), &state[1]);
  };
  return cell;
}

/// Returns the next state of a GRU from the sums that enter its update gate and its candidate.
State gru_state(const Scope& s, Output update_sums, Output candidate_sums, Output before) {
  const Output update = sigmoid(s, update_sums), candidate = tanh(s, candidate_sums);
  return {add(s, candidate, mul(s, update, sub(s, before, candidate)))};
}

/// A step of a GRU whose reset gate multiplies the product of its state with the weights.
auto step_that_resets_after(Output recurrent, Output recurrent_bias) {
  return [=](const Scope& s, Output product, const State& state) {
    const auto from_input = split(s, product, 3, 1);
    const auto from_output =
        split(s, s.add_one("BiasAdd", {matmul(s, state[0], recurrent), recurrent_bias}), 3, 1);
    const Output reset = sigmoid(s, add(s, from_input[1], from_output[1]));
    return gru_state(s, add(s, from_input[0], from_output[0]),
                     add(s, from_input[2], mul(s, reset, from_output[2])), state[0]);
  };
}

/// A step of a GRU whose reset gate multiplies its state. The weights are those of the gates and those of the candidate.
auto step_that_resets_before(Output of_gates, Output of_candidate) {
  return [=](const Scope& s, Output product, const State& state) {
    const auto from_input = split(s, product, 3, 1);
    const auto from_output = split(s, matmul(s, state[0], of_gates), 2, 1);
    const Output reset = sigmoid(s, add(s, from_input[1], from_output[1]));
    return gru_state(s, add(s, from_input[0], from_output[0]),
                     add(s, from_input[2], matmul(s, mul(s, reset, state[0]), of_candidate)), state[0]);
  };
}

Cell gru_cell(const Layer& layer, Output x, const Recurrent& options, const std::string& prefix) {
  Cell cell;
  const Output recurrent = add_weights(layer, x, options, prefix, 3, all_equal(0), cell);
  if (options.reset_after) {
    const DType dtype = layer.scope().dtype(x);
    cell.step = step_that_resets_after(
        recurrent, layer.weight(prefix + "recurrent_bias", {3 * options.units}, dtype, all_equal(0)));
    return cell;
  }
  const auto columns = [&](int64_t first, int64_t count) {
    return slice(layer.scope(), recurrent, {0, first * options.units}, {-1, count * options.units});
  };
  cell.step = step_that_resets_before(columns(0, 2), columns(2, 1));
  return cell;
}

}  // namespace

Output rnn(const Network& network, Output x, const Recurrent& options) {
  return recurrent_layer(network, "rnn", x, options, rnn_cell);
}

Output lstm(const Network& network, Output x, const Recurrent& options) {
  return recurrent_layer(network, "lstm", x, options, lstm_cell);
}

Output gru(const Network& network, Output x, const Recurrent& options) {
  return recurrent_layer(network, "gru", x, options, gru_cell);
}

}  // namespace troupe::nn
