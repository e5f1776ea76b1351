// A step of a GRU (K. Cho et al. 2014) as one op, in floats; matrices have a row for each sequence of a batch.
//   GRUBlockCell(x, h_prev, w_ru, w_c, b_ru, b_c)  r, u = sigmoid([x, h_prev] w_ru + b_ru); c = tanh([x, r h_prev] w_c + b_c);
//                                                  h = u h_prev + (1 - u) c. The outputs are r, u, c and h
//   GRUBlockCellGrad(..., r, u, c, d_h)            the gradients of x, of h_prev, and of c and of [r, u] before the nonlinear
//                                                  functions
// As in TensorFlow, the gradient of GRUBlockCell is that through h alone.
#include "kernels/ops/nn/gru_block.h"

#include <algorithm>
#include <array>

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/loops/gemm.h"
#include "kernels/loops/scratch.h"

namespace troupe {
namespace {

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

// ---- Computing

/// Computes on the host (gru_block.h).
struct Host {
  const GruArguments& arguments;
  DeviceContext& device;

  Status join(const float* x, const float* h, float* xh) const {
    const LstmSizes& sizes = arguments.sizes;
    join_rows(sizes, {x, sizes.batch * sizes.inputs}, {h, sizes.batch * sizes.cells},
              {xh, sizes.batch * arguments.row()});
    return {};
  }
  Status multiply(const float* a, const float* weights, size_t columns, bool transposed, float* to) const {
    const auto rows = static_cast<int64_t>(arguments.sizes.batch),
               row = static_cast<int64_t>(arguments.row()), width = static_cast<int64_t>(columns);
    return gemm(device, 1, MatrixView<float>::of(a, rows, transposed ? width : row, false),
                MatrixView<float>::of(weights, row, width, transposed), to);
  }
  template <class Body>
  Status each(size_t columns, const Body& body) const {
    for (size_t sequence = 0; sequence < arguments.sizes.batch; ++sequence)
      for (size_t column = 0; column < columns; ++column) body(sequence, column);
    return {};
  }
};

Status compute_gru_cell(const GruArguments& arguments, DeviceContext& device) {
  const size_t batch = arguments.sizes.batch, cells = arguments.sizes.cells;
  if (batch * cells == 0) return {};
  TROUPE_ASSIGN(Tensor scratch,
                scratch_vector<float>(device, static_cast<int64_t>(batch * (arguments.row() + 2 * cells))));
  return gru_cell(arguments, Host{arguments, device}, scratch.write<float>().data());
}

Status compute_gru_gradient(const GruArguments& arguments, DeviceContext& device) {
  const size_t size = arguments.sizes.batch * arguments.row();
  if (size == 0) return {};
  TROUPE_ASSIGN(Tensor scratch, scratch_vector<float>(device, static_cast<int64_t>(2 * size)));
  return gru_gradient(arguments, Host{arguments, device}, scratch.write<float>().data());
}

// ---- Gradients and definitions

void add_gru_gradient(GradientContext& context) {
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

void add_gru_block_ops(OpLibrary& library) {
  OpDefBuilder cell("GRUBlockCell"), gradient("GRUBlockCellGrad");
  cell.shape(gru_shape).gradient(add_gru_gradient);
  gradient.shape(gru_gradient_shape);
  add_gru_op(library, cell, {"x", "h_prev", "w_ru", "w_c", "b_ru", "b_c"}, {"r", "u", "c", "h"});
  add_gru_op(library, gradient, {"x", "h_prev", "w_ru", "w_c", "b_ru", "b_c", "r", "u", "c", "d_h"},
             {"d_x", "d_h_prev", "d_c_bar", "d_r_bar_u_bar"});
  library.kernel(cpu_kernel("GRUBlockCell", check_gru_cell, compute_gru_cell));
  library.kernel(cpu_kernel("GRUBlockCellGrad", check_gru_gradient, compute_gru_gradient));
}

}  // namespace troupe
