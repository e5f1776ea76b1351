#include "apps/nn/layers/sequence.h"

#include "graph/build/call.h"
#include "graph/build/functional.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

Output zeros_of_batch(const Scope& scope, Output x, int64_t units) {
  const Output batch = slice(scope, shape(scope, x), {0}, {1});
  const Output size = scope.constant(Tensor::vector<int32_t>({static_cast<int32_t>(units)}));
  return scope.add_one("Fill", {concat(scope, {batch, size}, 0),
                                scope.constant(value_or_throw(to_tensor(0, scope.dtype(x))))});
}

/// Runs a cell over the steps of x.
class Sequence {
 public:
  Sequence(const Layer& layer, Output x, const Cell& cell, const Recurrent& options)
      : layer_(layer), scope_(layer.scope()), x_(x), cell_(cell), options_(options) {}

  Output run() const {
    const int64_t time = scope_.shape(x_)[1];
    if (time == 0)
      layer_.fail("the input has shape " + scope_.shape(x_).text() + "; there must be at least one step");
    return time == unknown_dim || options_.loop || options_.lengths ? run_loop() : run_unrolled(time);
  }

 private:
  /// Returns the products of all steps with the weights of the input, plus a bias: [time batch, columns].
  Output products() const {
    const Scope scope = scope_.with_prefix("input");
    const Output by_time = transpose(scope, x_, {1, 0, 2});
    const Output rows = matmul(scope, reshape(scope, by_time, {-1, layer_.size_of(x_, 2)}), cell_.weights);
    return scope.add_one("BiasAdd", {rows, cell_.bias});
  }

  State zero_state() const { return State(cell_.states, zeros_of_batch(scope_, x_, cell_.units)); }

  Output run_unrolled(int64_t time) const {
    State state = cell_.begins_without_state ? State() : zero_state();
    std::vector<Output> outputs;
    for (const Output& product : split(scope_, products(), time)) {
      const Scope step = scope_.with_prefix("step_" + std::to_string(outputs.size()));
      state = cell_.step(step, product, state);
      outputs.push_back(state[0]);
    }
    return options_.sequences ? stack(scope_, outputs, 1) : outputs.back();
  }

  Output run_loop() const {
    const Output size = shape(scope_, x_), batch = slice(scope_, size, {0}, {1}),
                 time = slice(scope_, size, {1}, {1});
    const auto columns = static_cast<int32_t>(scope_.shape(cell_.bias)[0]);
    const Output by_time =
        reshape(scope_, products(),
                concat(scope_, {time, batch, scope_.constant(Tensor::vector<int32_t>({columns}))}, 0));
    std::vector<Output> elements = {by_time};
    if (options_.lengths) elements.push_back(positions(time));
    const State first = zero_state();
    const Recurrence loop =
        recur(scope_, elements, first, [&](const Scope& s, Outputs state, Outputs slices) {
          const State before(state.begin(), state.end());
          State next = cell_.step(s, slices[0], before);
          if (!options_.lengths) return Recurrence{next, values_of(next[0])};
          const Output goes_on = expand_dims(s, less(s, slices[1], *options_.lengths), 1);
          const auto choose = [&](Output a, Output b) { return s.add_one("SelectV2", {goes_on, a, b}); };
          const Output output = choose(next[0], zeros_like(s, next[0]));
          for (size_t i = 0; i < next.size(); ++i) next[i] = choose(next[i], before[i]);
          return Recurrence{next, values_of(output)};
        });
    return options_.sequences ? transpose(scope_, loop.values[0], {1, 0, 2}) : loop.state[0];
  }
  /// Returns 0 to time - 1, of the dtype of the lengths.
  Output positions(Output time) const {
    return cast(scope_, range(scope_, 0, reshape(scope_, time, Argument(std::vector<Argument>())), 1),
                scope_.dtype(*options_.lengths));
  }
  std::vector<Output> values_of(Output output) const {
    return options_.sequences ? std::vector{output} : std::vector<Output>();
  }

  const Layer& layer_;
  const Scope& scope_;
  Output x_;
  const Cell& cell_;
  const Recurrent& options_;
};

}  // namespace

void check_sequence(const Layer& layer, Output x, const Recurrent& options) {
  layer.require_rank(x, 3);
  layer.require_positive("units", options.units);
}

Output checked_lengths(const Layer& layer, Output x, Output lengths) {
  layer.require_rank(lengths, 1);
  const Scope scope = layer.scope().with_prefix("lengths");
  const DType dtype = scope.dtype(lengths);
  if (dtype != DType::Int32 && dtype != DType::Int64)
    layer.fail("the lengths are " + std::string(name(dtype)) + "; they must be int32 or int64");
  const int64_t count = scope.shape(lengths)[0], sequences = scope.shape(x)[0];
  // Unlike what uses the lengths, a Reshape does not broadcast one to all sequences.
  if (count == unknown_dim || sequences == unknown_dim)
    return reshape(scope, lengths, slice(scope, shape(scope, x), {0}, {1}));
  if (count != sequences)
    layer.fail("there are " + std::to_string(count) + " lengths for " + std::to_string(sequences) +
               " sequences; there must be one for each");
  return lengths;
}

Output run_cell(const Layer& layer, Output x, const Cell& cell, const Recurrent& options) {
  return Sequence(layer, x, cell, options).run();
}

Output mask_behind(const Scope& scope, Output memory, Output lengths) {
  const Output size =
      reshape(scope, slice(scope, shape(scope, memory), {1}, {1}), Argument(std::vector<Argument>()));
  const Output steps = cast(scope, range(scope, 0, size, 1), scope.dtype(lengths));
  const Output is_behind = greater_equal(scope, expand_dims(scope, steps, 0), expand_dims(scope, lengths, 1));
  const DType dtype = scope.dtype(memory);
  return mul(scope, cast(scope, is_behind, dtype), hiding_score(dtype));
}

double hiding_score(DType dtype) { return dtype == DType::Half ? -6e4 : -1e9; }

Output forget_bias(const Scope& scope, const PartialShape& shape, DType dtype) {
  const PartialShape quarter{shape[0] / 4};
  return concat(scope,
                {zeros(scope, quarter, dtype), ones(scope, quarter, dtype),
                 zeros(scope, PartialShape{shape[0] / 2}, dtype)},
                0);
}

State lstm_step(const Scope& scope, Output sums, const Output* memory) {
  const auto gates = split(scope, sums, 4, 1);
  const Output taken = mul(scope, sigmoid(scope, gates[0]), tanh(scope, gates[2]));
  const Output kept = memory ? add(scope, mul(scope, sigmoid(scope, gates[1]), *memory), taken) : taken;
  return {mul(scope, sigmoid(scope, gates[3]), tanh(scope, kept)), kept};
}

}  // namespace troupe::nn
