// What the block ops of LSTMs (lstm_blocks.cpp) and their gradients (lstm_block_gradients.cpp) share: definitions and checks.
// Functions without state; any thread may call them.
#pragma once

#include "graph/build/shape_context.h"
#include "kernels/ops/nn/float_buffers.h"
#include "kernels/ops/nn/lstm.h"

namespace troupe {

/// Inputs, from x on; those of the gradients follow.
namespace lstm_inputs {
inline constexpr size_t x = 0, cs_prev = 1, h_prev = 2, w = 3, wci = 4, wcf = 5, wco = 6, b = 7,
                        first_after = 8;
}

struct LstmArguments {
  std::span<const Slot> inputs;  ///< from x on
  std::span<Tensor> outputs;
  LstmCell cell;      ///< without its spans
  size_t time, most;  ///< the number of steps, and of those that are computed
};

bool is_sequence(const Node& node);      ///< whether x has steps
bool has_later_gates(const Node& node);  ///< whether the gates are in the order of V2

/// Checks all inputs. Fails with InvalidArgument if their shapes do not fit each other, or seq_len_max is no number of steps.
Result<LstmArguments> check_lstm(KernelContext& context);

/// Do so, and allocate the outputs of the forward ops, of LSTMBlockCellGrad, and of the gradients of sequences.
Result<LstmArguments> check_lstm_forward(KernelContext& context);
Result<LstmArguments> check_lstm_cell_gradient(KernelContext& context);
Result<LstmArguments> check_lstm_block_gradient(KernelContext& context);

/// Returns the cell with its weights.
LstmCell cell_of(const LstmArguments& arguments, const FloatBuffers& buffers);
/// Returns what is before step t; `cs` and `h` are those after each step.
LstmBefore before_step(const LstmSizes& sizes, const FloatBuffers& buffers, size_t t,
                       std::span<const float> cs, std::span<const float> h);

/// Begins the definition of an op with the inputs up to b.
OpDefBuilder lstm_op(const char* name, bool sequence);
void add_inputs(OpDefBuilder& op, std::initializer_list<const char*> names);
void add_outputs(OpDefBuilder& op, std::initializer_list<const char*> names);

}  // namespace troupe
