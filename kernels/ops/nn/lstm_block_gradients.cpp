// The gradients of the block ops of LSTMs, whose inputs and outputs they take, with those of the gates and states for which
// there are gradients: cs_grad and h_grad. lstm_blocks.cpp has the ops, lstm.h the arithmetic.
//   LSTMBlockCellGrad               of cs_prev, of the gates before the nonlinear functions, and of the peepholes
//   BlockLSTMGrad, BlockLSTMGradV2  of all inputs from x on
#include <algorithm>
#include <array>

#include "kernels/core/checked_kernel.h"
#include "kernels/loops/gemm.h"
#include "kernels/loops/scratch.h"
#include "kernels/ops/nn/lstm_arguments.h"

namespace troupe {
namespace {

LstmAfter<const float> after_step(const LstmSizes& sizes, const FloatBuffers& buffers, size_t t) {
  const size_t size = sizes.batch * sizes.cells;
  const auto of_step = [&](size_t i) {
    return buffers.in(lstm_inputs::first_after + i).subspan(t * size, size);
  };
  return {of_step(0), of_step(1), of_step(2), of_step(3), of_step(4), of_step(5), {}};
}

Status compute_cell_gradient(const LstmArguments& arguments, DeviceContext& device) {
  TROUPE_ASSIGN(FloatBuffers buffers, FloatBuffers::make(device, arguments.inputs, arguments.outputs));
  const LstmSizes& sizes = arguments.cell.sizes;
  for (size_t i = 2; i < 5; ++i) std::ranges::fill(buffers.out(i), 0.0F);
  lstm_gradients(cell_of(arguments, buffers), before_step(sizes, buffers, 0, {}, {}),
                 after_step(sizes, buffers, 0), buffers.in(lstm_inputs::first_after + 6),
                 buffers.in(lstm_inputs::first_after + 7),
                 {buffers.out(0), buffers.out(1), buffers.out(2), buffers.out(3), buffers.out(4)});
  buffers.store(device.pool());
  return {};
}

/// The gradients of sequences, from the last step on. Outputs are those of the inputs from x on.
class BlockGradient {
 public:
  BlockGradient(const LstmArguments& arguments, DeviceContext& device, FloatBuffers& buffers,
                std::span<float> scratch)
      : device_(device), buffers_(buffers), sizes_(arguments.cell.sizes), cell_(cell_of(arguments, buffers)),
        size_(sizes_.batch * sizes_.cells) {
    size_t used = 0;
    const auto take = [&](size_t count) { return scratch.subspan(std::exchange(used, used + count), count); };
    gates_ = take(4 * size_);
    cs_grad_ = take(size_);
    h_grad_ = take(size_);
    xh_ = take(sizes_.batch * row());
    w_grad_ = take(row() * 4 * sizes_.cells);
  }

  static size_t scratch_size(const LstmSizes& sizes) {
    const size_t row = sizes.inputs + sizes.cells;
    return 6 * sizes.batch * sizes.cells + sizes.batch * row + row * 4 * sizes.cells;
  }

  Status step(size_t t) {
    const auto cs = buffers_.in(lstm_inputs::first_after + 1), h = buffers_.in(lstm_inputs::first_after + 6);
    const LstmBefore before = before_step(sizes_, buffers_, t, cs, h);
    sum(buffers_.in(lstm_inputs::first_after + 7), t, buffers_.out(lstm_inputs::cs_prev), cs_grad_);
    sum(buffers_.in(lstm_inputs::first_after + 8), t, buffers_.out(lstm_inputs::h_prev), h_grad_);
    lstm_gradients(cell_, before, after_step(sizes_, buffers_, t), cs_grad_, h_grad_,
                   {buffers_.out(lstm_inputs::cs_prev), gates_, buffers_.out(lstm_inputs::wci),
                    buffers_.out(lstm_inputs::wcf), buffers_.out(lstm_inputs::wco)});
    TROUPE_RETURN_IF_FAILED(add_weight_gradients(before));
    return set_input_gradients(t);
  }

 private:
  size_t row() const { return sizes_.inputs + sizes_.cells; }
  MatrixView<float> view(std::span<const float> matrix, size_t rows, bool transposed) const {
    const size_t columns = matrix.size() / rows;
    return MatrixView<float>::of(matrix.data(), static_cast<int64_t>(rows), static_cast<int64_t>(columns),
                                 transposed);
  }

  /// The gradient of step t and that which comes from the next step.
  void sum(std::span<const float> given, size_t t, std::span<const float> next, std::span<float> to) const {
    for (size_t i = 0; i < size_; ++i) to[i] = given[t * size_ + i] + next[i];
  }

  Status add_weight_gradients(const LstmBefore& before) {
    join_rows(sizes_, before.x, before.h, xh_);
    TROUPE_RETURN_IF_FAILED(gemm(device_, 1,
                                 MatrixView<float>::of(xh_.data(), static_cast<int64_t>(sizes_.batch),
                                                       static_cast<int64_t>(row()), true),
                                 view(gates_, sizes_.batch, false), w_grad_.data()));
    const auto w = buffers_.out(lstm_inputs::w), b = buffers_.out(lstm_inputs::b);
    for (size_t i = 0; i < w.size(); ++i) w[i] += w_grad_[i];
    for (size_t i = 0; i < gates_.size(); ++i) b[i % b.size()] += gates_[i];
    return {};
  }

  Status set_input_gradients(size_t t) {
    TROUPE_RETURN_IF_FAILED(
        gemm(device_, 1, view(gates_, sizes_.batch, false), view(cell_.w, row(), true), xh_.data()));
    float* x = buffers_.out(lstm_inputs::x).data() + t * sizes_.batch * sizes_.inputs;
    float* h = buffers_.out(lstm_inputs::h_prev).data();
    for (size_t i = 0; i < sizes_.batch; ++i) {
      const float* const from = xh_.data() + i * row();
      x = std::copy_n(from, sizes_.inputs, x);
      h = std::copy_n(from + sizes_.inputs, sizes_.cells, h);
    }
    return {};
  }

  DeviceContext& device_;
  FloatBuffers& buffers_;
  const LstmSizes sizes_;
  const LstmCell cell_;
  const size_t size_;
  std::span<float> gates_, cs_grad_, h_grad_, xh_, w_grad_;
};

Status compute_block_gradient(const LstmArguments& arguments, DeviceContext& device) {
  const LstmSizes& sizes = arguments.cell.sizes;
  TROUPE_ASSIGN(FloatBuffers buffers, FloatBuffers::make(device, arguments.inputs, arguments.outputs));
  for (size_t i = 0; i < 8; ++i) std::ranges::fill(buffers.out(i), 0.0F);
  if (sizes.batch != 0 && sizes.cells != 0) {
    TROUPE_ASSIGN(Tensor scratch,
                  scratch_vector<float>(device, static_cast<int64_t>(BlockGradient::scratch_size(sizes))));
    BlockGradient gradient(arguments, device, buffers, scratch.write<float>());
    for (size_t t = arguments.most; t-- > 0;) TROUPE_RETURN_IF_FAILED(gradient.step(t));
  }
  buffers.store(device.pool());
  return {};
}

// ---- Definitions

Status cell_gradient_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto cs, context.with_rank(lstm_inputs::cs_prev, 2));
  context.set_output(0, cs);
  context.set_output(1, PartialShape{cs[0], cs[1] == unknown_dim ? unknown_dim : 4 * cs[1]});
  for (size_t i = 2; i < 5; ++i) context.set_output(i, PartialShape{cs[1]});
  return {};
}

Status block_gradient_shape(ShapeContext& context) {
  for (size_t i = 0; i < 8; ++i) context.set_output(i, context.input(i + 1));
  return {};
}

void add_block_gradient_op(OpLibrary& library, const char* name) {
  OpDefBuilder op = lstm_op(name, true);
  add_inputs(op, {"i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad"});
  add_outputs(
      op, {"x_grad", "cs_prev_grad", "h_prev_grad", "w_grad", "wci_grad", "wcf_grad", "wco_grad", "b_grad"});
  library.op(op.attr("use_peephole: bool").shape(block_gradient_shape));
  library.kernel(cpu_kernel(name, check_lstm_block_gradient, compute_block_gradient));
}

}  // namespace

Result<LstmArguments> check_lstm_cell_gradient(KernelContext& context) {
  TROUPE_ASSIGN(const LstmArguments arguments, check_lstm(context));
  const Shape& cs = context.input(lstm_inputs::cs_prev).shape();
  TROUPE_RETURN_IF_FAILED(context.output(0, cs).status());
  TROUPE_ASSIGN(const Shape gates,
                Shape::make(std::array{cs[0], 4 * cs[1]}, context.node().output_types[1].dtype));
  TROUPE_RETURN_IF_FAILED(context.output(1, gates).status());
  for (size_t i = 2; i < 5; ++i) TROUPE_RETURN_IF_FAILED(context.output(i, Shape::vector(cs[1])).status());
  return arguments;
}

Result<LstmArguments> check_lstm_block_gradient(KernelContext& context) {
  TROUPE_ASSIGN(const LstmArguments arguments, check_lstm(context));
  for (size_t i = 0; i < 8; ++i)
    TROUPE_RETURN_IF_FAILED(context.output(i, context.input(i + 1).shape()).status());
  return arguments;
}

void add_lstm_block_gradient_ops(OpLibrary& library) {
  OpDefBuilder cell = lstm_op("LSTMBlockCellGrad", false);
  add_inputs(cell, {"i", "cs", "f", "o", "ci", "co", "cs_grad", "h_grad"});
  add_outputs(cell, {"cs_prev_grad", "dicfo", "wci_grad", "wcf_grad", "wco_grad"});
  library.op(cell.attr("use_peephole: bool").shape(cell_gradient_shape));
  library.kernel(cpu_kernel("LSTMBlockCellGrad", check_lstm_cell_gradient, compute_cell_gradient));
  for (const char* const op : {"BlockLSTMGrad", "BlockLSTMGradV2"}) add_block_gradient_op(library, op);
}

}  // namespace troupe
