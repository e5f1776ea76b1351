// What recurrent layers share: a cell is run over the steps of a sequence, by a loop or unrolled. Private to apps/nn/layers.
// One thread.
#pragma once

#include <functional>
#include <vector>

#include "apps/nn/layers.h"

namespace troupe::nn {

/// The tensors that pass from one step to the next; the first is the output. If there are none, as before the first step, all are
/// zeros.
using State = std::vector<Output>;

/// A cell: what its layer computes in each step.
struct Cell {
  int64_t units = 0;
  size_t states = 1;  ///< the number of tensors of the state, [batch, units] each
  Output weights = {},
         bias = {};  ///< of the product with the input, which is computed for all steps together
  bool begins_without_state = false;  ///< the first step needs no zeros
  /// Returns the next state. `product` is that of the step's input: [batch, columns].
  std::function<State(const Scope&, Output product, const State& state)> step = {};
};

/// Throws InvalidArgument, naming the layer, if x or the options do not fit. The lengths are not checked.
void check_sequence(const Layer& layer, Output x, const Recurrent& options);
/// Returns the lengths of the sequences x [batch, ...], [batch]. Throws InvalidArgument, naming the layer, unless they are int32 or
/// int64 and there is one for each sequence; where that is known only in a step, the step fails.
Output checked_lengths(const Layer& layer, Output x, Output lengths);

/// Runs a cell over the steps of x [batch, time, features]. Returns what Recurrent says.
Output run_cell(const Layer& layer, Output x, const Cell& cell, const Recurrent& options);

/// Returns numbers to add to scores [batch, steps] of a memory: a large negative one for each step behind the end of its sequence,
/// else 0. `lengths` are checked ones.
Output mask_behind(const Scope& scope, Output memory, Output lengths);
/// Returns a number that hides a score to which it is added from a softmax, and that the type can represent.
double hiding_score(DType dtype);

/// The first value of a bias whose second quarter, that of the forget gate, is 1.
Output forget_bias(const Scope& scope, const PartialShape& shape, DType dtype);

/// Returns the next output and memory of an LSTM [batch, units] each, from the sums that enter its gates [batch, 4 units] and its
/// memory. Without a memory, as before the first step, it is zero.
State lstm_step(const Scope& scope, Output gates, const Output* memory);

}  // namespace troupe::nn
