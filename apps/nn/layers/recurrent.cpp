#include "apps/nn/layers.h"
#include "graph/build/call.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

/// The sizes of a recurrent layer.
struct Sizes {
  int64_t time = 0, features = 0, units = 0;
};

Sizes sizes_of(const Layer& layer, Output x, const Recurrent& options) {
  layer.require_rank(x, 3);
  layer.require_positive("units", options.units);
  const Sizes sizes{layer.size_of(x, 1), layer.size_of(x, 2), options.units};
  if (sizes.time == 0)
    layer.fail("the input has shape " + layer.scope().shape(x).text() +
               ", whose number of steps must be known and positive");
  return sizes;
}

/// The products of all steps with the weights of the input, plus a bias, as one product: [batch, columns] for each step.
std::vector<Output> input_products(const Layer& layer, Output x, const Sizes& sizes, Output weights,
                                   Output bias) {
  const Scope scope = layer.scope().with_prefix("input");
  const Output by_time = transpose(scope, x, {1, 0, 2});
  const Output rows = matmul(scope, reshape(scope, by_time, {-1, sizes.features}), weights);
  return split(scope, scope.add_one("BiasAdd", {rows, bias}), sizes.time);
}

/// The outputs of all steps, or that of the last.
Output result_of(const Layer& layer, const std::vector<Output>& outputs, bool sequences) {
  return sequences ? stack(layer.scope(), outputs, 1) : outputs.back();
}

/// The first value of a bias whose second quarter, that of the forget gate, is 1.
Output forget_bias(const Scope& scope, const PartialShape& shape, DType dtype) {
  const PartialShape quarter{shape[0] / 4};
  return concat(scope,
                {zeros(scope, quarter, dtype), ones(scope, quarter, dtype),
                 zeros(scope, PartialShape{shape[0] / 2}, dtype)},
                0);
}

Output initial_state(const Layer& layer, Output x, int64_t units) {
  const Scope& scope = layer.scope();
  const Output batch = slice(scope, shape(scope, x), {0}, {1});
  const Output size = scope.constant(Tensor::vector<int32_t>({static_cast<int32_t>(units)}));
  return scope.add_one("Fill", {concat(scope, {batch, size}, 0),
                                scope.constant(value_or_throw(to_tensor(0, scope.dtype(x))))});
}

}  // namespace

Output lstm(const Network& network, Output x, const Recurrent& options) {
  const Layer layer(network, "lstm");
  const Sizes sizes = sizes_of(layer, x, options);
  const DType dtype = layer.scope().dtype(x);
  const int64_t columns = 4 * sizes.units;
  const Output weights = layer.weight("weights", {sizes.features, columns}, dtype, options.init);
  const Output recurrent = layer.weight("recurrent", {sizes.units, columns}, dtype, options.init);
  const Output bias = layer.weight("bias", {columns}, dtype, forget_bias);
  const auto products = input_products(layer, x, sizes, weights, bias);
  Output state, output;  // zeros before the first step
  std::vector<Output> outputs;
  for (size_t t = 0; t < products.size(); ++t) {
    const Scope step = layer.scope().with_prefix("step_" + std::to_string(t));
    const Output sums = t == 0 ? products[t] : add(step, products[t], matmul(step, output, recurrent));
    const auto gates = split(step, sums, 4, 1);
    const Output taken = mul(step, sigmoid(step, gates[0]), tanh(step, gates[2]));
    state = t == 0 ? taken : add(step, mul(step, sigmoid(step, gates[1]), state), taken);
    output = mul(step, sigmoid(step, gates[3]), tanh(step, state));
    outputs.push_back(output);
  }
  return result_of(layer, outputs, options.sequences);
}

Output gru(const Network& network, Output x, const Recurrent& options) {
  const Layer layer(network, "gru");
  const Sizes sizes = sizes_of(layer, x, options);
  const DType dtype = layer.scope().dtype(x);
  const int64_t columns = 3 * sizes.units;
  const Output weights = layer.weight("weights", {sizes.features, columns}, dtype, options.init);
  const Output recurrent = layer.weight("recurrent", {sizes.units, columns}, dtype, options.init);
  const Output bias = layer.weight("bias", {columns}, dtype, all_equal(0));
  const Output recurrent_bias = layer.weight("recurrent_bias", {columns}, dtype, all_equal(0));
  const auto products = input_products(layer, x, sizes, weights, bias);
  Output output = initial_state(layer, x, sizes.units);
  std::vector<Output> outputs;
  for (size_t t = 0; t < products.size(); ++t) {
    const Scope step = layer.scope().with_prefix("step_" + std::to_string(t));
    const auto from_input = split(step, products[t], 3, 1);
    const auto from_output =
        split(step, step.add_one("BiasAdd", {matmul(step, output, recurrent), recurrent_bias}), 3, 1);
    const Output update = sigmoid(step, add(step, from_input[0], from_output[0]));
    const Output reset = sigmoid(step, add(step, from_input[1], from_output[1]));
    const Output candidate = tanh(step, add(step, from_input[2], mul(step, reset, from_output[2])));
    output = add(step, candidate, mul(step, update, sub(step, output, candidate)));
    outputs.push_back(output);
  }
  return result_of(layer, outputs, options.sequences);
}

}  // namespace troupe::nn
