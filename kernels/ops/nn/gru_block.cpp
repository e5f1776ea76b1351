// A step of a GRU (K. Cho et al. 2014) as one op, in floats; matrices have a row for each sequence of a batch.
//   GRUBlockCell(x, h_prev, w_ru, w_c, b_ru, b_c)  r, u = sigmoid([x, h_prev] w_ru + b_ru); c = tanh([x, r h_prev] w_c + b_c);
//                                                  h = u h_prev + (1 - u) c. The outputs are r, u, c and h
//   GRUBlockCellGrad(..., r, u, c, d_h)            the gradients of x, of h_prev, and of c and of [r, u] before the nonlinear
//                                                  functions
// As in TensorFlow, the gradient of GRUBlockCell is that through h alone.
#include <algorithm>
#include <array>
#include <cmath>

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/loops/gemm.h"
#include "kernels/loops/scratch.h"
#include "kernels/ops/nn/lstm.h"

namespace troupe {
namespace {

struct GruArguments {
  std::span<const Slot> inputs;
  std::span<Tensor> outputs;
  LstmSizes sizes;

  std::span<const float> in(size_t i) const { return inputs[i].tensor.as<float>(); }
  std::span<float> out(size_t i) const { return outputs[i].write<float>(); }
};

// ---- Checks

Status check_dims(const KernelContext& context, size_t i, std::initializer_list<int64_t> dims) {
  if (std::ranges::equal(context.input(i).shape().dims(), dims)) return {};
  return invalid_argument(context.node().op->inputs[i].name + " has shape " +
                          context.input(i).shape().text() + ", expected " +
                          text_of(std::span(dims.begin(), dims.size())));
}

Result<GruArguments> check_gru(KernelContext& context) {
  const Shape &x = context.input(0).shape(), &w = context.input(3).shape(), &b = context.input(5).shape();
  if (x.rank() != 2 || w.rank() != 2 || b.rank() != 1 || w[0] < b[0] || x[1] != w[0] - b[0])
    return invalid_argument("x of shape " + x.text() + ", w_c of shape " + w.text() + " and b_c of shape " +
                            b.text() +
                            " must have shapes [batch,inputs], [inputs + cells,cells] and [cells]");
  const int64_t batch = x[0], inputs = x[1], cells = b[0];
  TROUPE_RETURN_IF_FAILED(check_dims(context, 1, {batch, cells}));
  TROUPE_RETURN_IF_FAILED(check_dims(context, 2, {w[0], 2 * cells}));
  TROUPE_RETURN_IF_FAILED(check_dims(context, 3, {w[0], cells}));
  TROUPE_RETURN_IF_FAILED(check_dims(context, 4, {2 * cells}));
  TROUPE_RETURN_IF_FAILED(check_dims(context, 5, {cells}));
  for (size_t i = 6; i < context.inputs(); ++i)
    TROUPE_RETURN_IF_FAILED(check_dims(context, i, {batch, cells}));
  return GruArguments{context.input_slots(0, context.inputs()),
                      context.outputs(),
                      {static_cast<size_t>(batch), static_cast<size_t>(inputs), static_cast<size_t>(cells)}};
}

Result<GruArguments> check_gru_cell(KernelContext& context) {
  TROUPE_ASSIGN(const GruArguments arguments, check_gru(context));
  for (size_t i = 0; i < 4; ++i)
    TROUPE_RETURN_IF_FAILED(context.output(i, context.input(1).shape()).status());
  return arguments;
}

Result<GruArguments> check_gru_gradient(KernelContext& context) {
  TROUPE_ASSIGN(const GruArguments arguments, check_gru(context));
  const Shape &x = context.input(0).shape(), &h = context.input(1).shape();
  TROUPE_ASSIGN(const Shape both, Shape::make(std::array{h[0], 2 * h[1]}, DType::Float));
  const Shape* const shapes[] = {&x, &h, &h, &both};
  for (size_t i = 0; i < 4; ++i) TROUPE_RETURN_IF_FAILED(context.output(i, *shapes[i]).status());
  return arguments;
}

// ---- Computing

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

/// Computes a b, or a times b transposed, where a has a row for each sequence.
Status multiply(DeviceContext& device, const GruArguments& arguments, std::span<const float> a,
                std::span<const float> b, bool transposed, std::span<float> to) {
  const LstmSizes& sizes = arguments.sizes;
  const auto rows = static_cast<int64_t>(sizes.batch), row = static_cast<int64_t>(sizes.inputs + sizes.cells),
             columns = static_cast<int64_t>(a.size() / sizes.batch);
  return gemm(device, 1, MatrixView<float>::of(a.data(), rows, columns, false),
              MatrixView<float>::of(b.data(), row, static_cast<int64_t>(b.size()) / row, transposed),
              to.data());
}

Status compute_gru_cell(const GruArguments& arguments, DeviceContext& device) {
  const size_t batch = arguments.sizes.batch, inputs = arguments.sizes.inputs, cells = arguments.sizes.cells;
  const size_t row = inputs + cells, size = batch * cells;
  if (size == 0) return {};
  TROUPE_ASSIGN(Tensor scratch, scratch_vector<float>(device, static_cast<int64_t>(batch * row + 2 * size)));
  const auto xh = scratch.write<float>().first(batch * row), ru = scratch.write<float>().subspan(batch * row);
  const auto h_prev = arguments.in(1);
  const auto r = arguments.out(0), u = arguments.out(1), c = arguments.out(2), h = arguments.out(3);
  join_rows(arguments.sizes, arguments.in(0), h_prev, xh);
  TROUPE_RETURN_IF_FAILED(multiply(device, arguments, xh, arguments.in(2), false, ru));
  for (size_t i = 0; i < size; ++i) {
    const size_t at = i / cells * 2 * cells + i % cells;
    r[i] = sigmoid(ru[at] + arguments.in(4)[i % cells]);
    u[i] = sigmoid(ru[at + cells] + arguments.in(4)[cells + i % cells]);
    xh[i / cells * row + inputs + i % cells] = r[i] * h_prev[i];
  }
  TROUPE_RETURN_IF_FAILED(multiply(device, arguments, xh, arguments.in(3), false, c));
  for (size_t i = 0; i < size; ++i) {
    c[i] = std::tanh(c[i] + arguments.in(5)[i % cells]);
    h[i] = u[i] * (h_prev[i] - c[i]) + c[i];
  }
  return {};
}

Status compute_gru_gradient(const GruArguments& arguments, DeviceContext& device) {
  const size_t batch = arguments.sizes.batch, inputs = arguments.sizes.inputs, cells = arguments.sizes.cells;
  const size_t row = inputs + cells, size = batch * cells;
  if (batch * row == 0) return {};
  TROUPE_ASSIGN(Tensor scratch, scratch_vector<float>(device, static_cast<int64_t>(2 * batch * row)));
  const auto through_c = scratch.write<float>().first(batch * row),
             through_ru = scratch.write<float>().subspan(batch * row);
  const auto h_prev = arguments.in(1), r = arguments.in(6), u = arguments.in(7), c = arguments.in(8),
             d_h = arguments.in(9);
  const auto d_x = arguments.out(0), d_h_prev = arguments.out(1), d_c = arguments.out(2),
             d_ru = arguments.out(3);
  for (size_t i = 0; i < size; ++i) d_c[i] = d_h[i] * (1 - u[i]) * (1 - c[i] * c[i]);
  TROUPE_RETURN_IF_FAILED(multiply(device, arguments, d_c, arguments.in(3), true, through_c));
  for (size_t i = 0; i < size; ++i) {
    const size_t at = i / cells * 2 * cells + i % cells;
    const float d_hr = through_c[i / cells * row + inputs + i % cells];
    d_ru[at] = d_hr * h_prev[i] * r[i] * (1 - r[i]);
    d_ru[at + cells] = d_h[i] * (h_prev[i] - c[i]) * u[i] * (1 - u[i]);
    d_h_prev[i] = d_hr * r[i] + d_h[i] * u[i];
  }
  TROUPE_RETURN_IF_FAILED(multiply(device, arguments, d_ru, arguments.in(2), true, through_ru));
  for (size_t i = 0; i < batch * row; ++i) {
    const size_t sequence = i / row, column = i % row;
    if (column < inputs)
      d_x[sequence * inputs + column] = through_c[i] + through_ru[i];
    else
      d_h_prev[sequence * cells + column - inputs] += through_ru[i];
  }
  return {};
}

// ---- Gradients and definitions

void gru_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  std::vector<Output> inputs = context.node().inputs;
  for (size_t i = 0; i < 3; ++i) inputs.push_back(context.output(i));
  inputs.push_back(context.gradient(3));
  const NodeId gradients = scope.add("GRUBlockCellGrad", std::move(inputs));
  const Output d_c{gradients, 2}, d_ru{gradients, 3}, x = context.input(0), h = context.input(1);
  const auto weights = [&](Output state, Output gradient) {
    const Output joined = scope.add_one("ConcatV2", {x, state, integer_constant(scope, 1)});
    return scope.add_one("MatMul", {joined, gradient}, {{"transpose_a", true}});
  };
  for (uint32_t i = 0; i < 2; ++i) context.set(i, Output{gradients, i});
  context.set(2, weights(h, d_ru));
  context.set(3, weights(mul(scope, h, context.output(0)), d_c));
  context.set(4, scope.add_one("BiasAddGrad", {d_ru}));
  context.set(5, scope.add_one("BiasAddGrad", {d_c}));
}

Status gru_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto x, context.with_rank(0, 2));
  TROUPE_ASSIGN(const auto h, context.with_rank(1, 2));
  for (size_t i = 0; i < 4; ++i) context.set_output(i, PartialShape{x[0], h[1]});
  return {};
}

Status gru_gradient_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(gru_shape(context));
  const PartialShape& h = context.input(1);
  context.set_output(0, context.input(0));
  if (h.known_rank()) context.set_output(3, PartialShape{h[0], h[1] == unknown_dim ? unknown_dim : 2 * h[1]});
  return {};
}

void add_gru_op(OpLibrary& library, OpDefBuilder& op, std::initializer_list<const char*> inputs,
                std::initializer_list<const char*> outputs) {
  for (const char* const name : inputs) op.input(std::string(name) + ": T");
  for (const char* const name : outputs) op.output(std::string(name) + ": T");
  library.op(op.attr("T: {float}"));
}

}  // namespace

void add_gru_block_ops(OpLibrary& library) {
  OpDefBuilder cell("GRUBlockCell"), gradient("GRUBlockCellGrad");
  cell.shape(gru_shape).gradient(gru_gradient);
  gradient.shape(gru_gradient_shape);
  add_gru_op(library, cell, {"x", "h_prev", "w_ru", "w_c", "b_ru", "b_c"}, {"r", "u", "c", "h"});
  add_gru_op(library, gradient, {"x", "h_prev", "w_ru", "w_c", "b_ru", "b_c", "r", "u", "c", "d_h"},
             {"d_x", "d_h_prev", "d_c_bar", "d_r_bar_u_bar"});
  library.kernel(cpu_kernel("GRUBlockCell", check_gru_cell, compute_gru_cell));
  library.kernel(cpu_kernel("GRUBlockCellGrad", check_gru_gradient, compute_gru_gradient));
}

}  // namespace troupe
