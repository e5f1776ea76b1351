// LSTMs whose every step is one op, or whose sequences are; lstm.h has the arithmetic. The outputs are the gates and states
// of each step, i, cs, f, o, ci, co, and the outputs, h.
//   LSTMBlockCell(x, cs_prev, h_prev, w, wci, wcf, wco, b)         a step: x is [batch, inputs]
//   BlockLSTM(seq_len_max, x, ...), BlockLSTMV2                    sequences: x is [time, batch, inputs]; what comes after step
//                                                                  seq_len_max is 0
// The columns of w and b are those of the gates i, ci, f and o; of V2 i, f, ci and o, and it has no forget_bias. half and
// float; half is computed in float. As in TensorFlow, the gradient is that through cs and h alone.
#include <algorithm>

#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/loops/scratch.h"
#include "kernels/ops/nn/lstm_arguments.h"

namespace troupe {
namespace {

Status compute_forward(const LstmArguments& arguments, DeviceContext& device) {
  const LstmSizes& sizes = arguments.cell.sizes;
  const size_t size = sizes.batch * sizes.cells;
  if (size == 0) return {};  // there may be any number of steps
  TROUPE_ASSIGN(FloatBuffers buffers, FloatBuffers::make(device, arguments.inputs, arguments.outputs));
  TROUPE_ASSIGN(
      Tensor scratch,
      scratch_vector<float>(device, static_cast<int64_t>(sizes.batch * (sizes.inputs + 5 * sizes.cells))));
  const LstmCell cell = cell_of(arguments, buffers);
  for (size_t i = 0; i < 7; ++i) std::ranges::fill(buffers.out(i).subspan(arguments.most * size), 0.0F);
  for (size_t t = 0; t < arguments.most; ++t) {
    const auto of_step = [&](size_t i) { return buffers.out(i).subspan(t * size, size); };
    const LstmAfter<float> after{of_step(0), of_step(1), of_step(2), of_step(3),
                                 of_step(4), of_step(5), of_step(6)};
    TROUPE_RETURN_IF_FAILED(lstm_step(device, cell,
                                      before_step(sizes, buffers, t, buffers.out(1), buffers.out(6)), after,
                                      scratch.write<float>()));
  }
  buffers.store(device.pool());
  return {};
}

/// The inputs and outputs of a forward node, in the order of its gradient's inputs, with zeros for gradients that there are
/// not.
std::vector<Output> gradient_inputs(const GradientContext& context, bool with_h) {
  std::vector<Output> inputs = context.node().inputs;
  for (size_t i = 0; i < (with_h ? 7 : 6); ++i) inputs.push_back(context.output(i));
  inputs.push_back(context.gradient(1));
  inputs.push_back(context.gradient(6));
  return inputs;
}

void block_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const char* const op = has_later_gates(context.node()) ? "BlockLSTMGradV2" : "BlockLSTMGrad";
  const NodeId gradients =
      scope.add(op, gradient_inputs(context, true), {{"use_peephole", context.attr<bool>("use_peephole")}});
  for (uint32_t i = 0; i < 8; ++i) context.set(i + 1, Output{gradients, i});
}

/// The gradient of the gates is that of a product of [x, h] with w.
void cell_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const NodeId gradients = scope.add("LSTMBlockCellGrad", gradient_inputs(context, false),
                                     {{"use_peephole", context.attr<bool>("use_peephole")}});
  const Output gates{gradients, 1}, x = context.input(lstm_inputs::x), h = context.input(lstm_inputs::h_prev);
  const Output xh = scope.add_one("ConcatV2", {x, h, integer_constant(scope, 1)});
  const Output xh_grad =
      scope.add_one("MatMul", {gates, context.input(lstm_inputs::w)}, {{"transpose_b", true}});
  const NodeId parts =
      scope.add("ConcatOffset", {integer_constant(scope, 1), shape_of(scope, x), shape_of(scope, h)});
  context.set(lstm_inputs::x, scope.add_one("Slice", {xh_grad, Output{parts, 0}, shape_of(scope, x)}));
  context.set(lstm_inputs::h_prev, scope.add_one("Slice", {xh_grad, Output{parts, 1}, shape_of(scope, h)}));
  context.set(lstm_inputs::w, scope.add_one("MatMul", {xh, gates}, {{"transpose_a", true}}));
  context.set(lstm_inputs::b, scope.add_one("BiasAddGrad", {gates}));
  context.set(lstm_inputs::cs_prev, Output{gradients, 0});
  for (uint32_t i = 0; i < 3; ++i) context.set(lstm_inputs::wci + i, Output{gradients, 2 + i});
}

// ---- Definitions

Status forward_shape(ShapeContext& context) {
  const bool sequence = is_sequence(context.node());
  const size_t first = sequence ? 1 : 0;
  TROUPE_ASSIGN(const auto x, context.with_rank(first, first + 2));
  TROUPE_ASSIGN(const auto cs, context.with_rank(first + lstm_inputs::cs_prev, 2));
  for (size_t i = 0; i < 7; ++i)
    context.set_output(i, sequence ? PartialShape{x[0], x[1], cs[1]} : PartialShape{x[0], cs[1]});
  return {};
}

void add_forward_op(OpLibrary& library, const char* name, GradientFunction gradient) {
  const bool later = std::string_view(name).ends_with("V2");
  OpDefBuilder op = lstm_op(name, std::string_view(name).starts_with("Block"));
  add_outputs(op, {"i", "cs", "f", "o", "ci", "co", "h"});
  if (!later) op.attr("forget_bias: float = 1");
  op.attr(later ? "cell_clip: float = 0" : "cell_clip: float = 3").attr("use_peephole: bool = false");
  library.op(op.shape(forward_shape).gradient(gradient));
  library.kernel(cpu_kernel(name, check_lstm_forward, compute_forward));
}

}  // namespace

Result<LstmArguments> check_lstm_forward(KernelContext& context) {
  TROUPE_ASSIGN(const LstmArguments arguments, check_lstm(context));
  const LstmSizes& sizes = arguments.cell.sizes;
  Dims dims{static_cast<int64_t>(sizes.batch), static_cast<int64_t>(sizes.cells)};
  if (is_sequence(context.node())) dims = dims.with(0, static_cast<int64_t>(arguments.time));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, context.node().output_types[0].dtype));
  for (size_t i = 0; i < 7; ++i) TROUPE_RETURN_IF_FAILED(context.output(i, shape).status());
  return arguments;
}

void add_lstm_block_ops(OpLibrary& library) {
  add_forward_op(library, "LSTMBlockCell", cell_gradient);
  add_forward_op(library, "BlockLSTM", block_gradient);
  add_forward_op(library, "BlockLSTMV2", block_gradient);
}

}  // namespace troupe
