// GRUBlockCell and GRUBlockCellGrad: the checks on the host, and what the kernels of all types of devices compute between the
// products with the weights. Numbers are floats; matrices are row-major, with one row for each sequence of a batch. Any thread may
// call the functions.
#pragma once

#include <cmath>

#include "kernels/core/checked_kernel.h"
#include "kernels/gpu/any.h"
#include "kernels/ops/nn/lstm.h"

namespace troupe {

struct GruArguments {
  std::span<const Slot> inputs;
  std::span<Tensor> outputs;
  LstmSizes sizes;

  size_t row() const { return sizes.inputs + sizes.cells; }  ///< columns of [x, h]
  const float* in(size_t i) const { return inputs[i].tensor.as<float>().data(); }
  float* out(size_t i) const { return outputs[i].write<float>().data(); }
};

/// Fail with InvalidArgument if shapes do not fit.
Result<GruArguments> check_gru_cell(KernelContext& context);
Result<GruArguments> check_gru_gradient(KernelContext& context);

// ---- For each cell of each sequence

/// Computes r and u from [x, h_prev] w_ru, and r h_prev, which takes the place of h_prev in `xh`.
struct GruGates {
  size_t inputs, cells;
  const float *ru, *b_ru, *h_prev;
  float *r, *u, *xh;

  TROUPE_ANY static float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }
  TROUPE_ANY void operator()(size_t sequence, size_t cell) const {
    const size_t i = sequence * cells + cell, at = i + sequence * cells;
    r[i] = sigmoid(ru[at] + b_ru[cell]);
    u[i] = sigmoid(ru[at + cells] + b_ru[cells + cell]);
    xh[sequence * (inputs + cells) + inputs + cell] = r[i] * h_prev[i];
  }
};

/// Computes c, which is [x, r h_prev] w_c before, and h.
struct GruState {
  size_t cells;
  const float *b_c, *h_prev, *u;
  float *c, *h;

  TROUPE_ANY void operator()(size_t sequence, size_t cell) const {
    const size_t i = sequence * cells + cell;
    c[i] = std::tanh(c[i] + b_c[cell]);
    h[i] = u[i] * (h_prev[i] - c[i]) + c[i];
  }
};

/// Computes the gradient of c before tanh.
struct GruStateGradient {
  size_t cells;
  const float *u, *c, *d_h;
  float* d_c;

  TROUPE_ANY void operator()(size_t sequence, size_t cell) const {
    const size_t i = sequence * cells + cell;
    d_c[i] = d_h[i] * (1 - u[i]) * (1 - c[i] * c[i]);
  }
};

/// Computes the gradients of [r, u] before the sigmoid, and that of h_prev but for what comes through r and u. `through_c` is the
/// gradient of [x, r h_prev].
struct GruGateGradients {
  size_t inputs, cells;
  const float *through_c, *h_prev, *r, *u, *c, *d_h;
  float *d_ru, *d_h_prev;

  TROUPE_ANY void operator()(size_t sequence, size_t cell) const {
    const size_t i = sequence * cells + cell, at = i + sequence * cells;
    const float d_hr = through_c[sequence * (inputs + cells) + inputs + cell];
    d_ru[at] = d_hr * h_prev[i] * r[i] * (1 - r[i]);
    d_ru[at + cells] = d_h[i] * (h_prev[i] - c[i]) * u[i] * (1 - u[i]);
    d_h_prev[i] = d_hr * r[i] + d_h[i] * u[i];
  }
};

/// For each column of [x, h_prev]: computes the gradient of x, and adds that through r and u to the gradient of h_prev.
struct GruInputGradients {
  size_t inputs, cells;
  const float *through_c, *through_ru;
  float *d_x, *d_h_prev;

  TROUPE_ANY void operator()(size_t sequence, size_t column) const {
    const size_t i = sequence * (inputs + cells) + column;
    if (column < inputs)
      d_x[sequence * inputs + column] = through_c[i] + through_ru[i];
    else
      d_h_prev[sequence * cells + column - inputs] += through_ru[i];
  }
};

// ---- The steps

// The following compute with a machine, which stands for a type of device. It has the functions
//   Status join(x, h, xh)                                 writes the rows [x, h]
//   Status multiply(a, weights, columns, transposed, to)  to = a b, where b is the weights, [row(), columns], or transposed
//   Status each(columns, body)                            calls body(sequence, column) for all sequences and these columns

/// `scratch` has room for batch * (row() + 2 * cells) floats. There is at least one cell and one sequence.
template <class Machine>
Status gru_cell(const GruArguments& arguments, const Machine& machine, float* scratch) {
  const auto [batch, inputs, cells] = arguments.sizes;
  float *const xh = scratch, *const ru = scratch + batch * arguments.row();
  const float* const h_prev = arguments.in(1);
  float *const r = arguments.out(0), *const u = arguments.out(1), *const c = arguments.out(2);
  TROUPE_RETURN_IF_FAILED(machine.join(arguments.in(0), h_prev, xh));
  TROUPE_RETURN_IF_FAILED(machine.multiply(xh, arguments.in(2), 2 * cells, false, ru));
  TROUPE_RETURN_IF_FAILED(
      machine.each(cells, GruGates{inputs, cells, ru, arguments.in(4), h_prev, r, u, xh}));
  TROUPE_RETURN_IF_FAILED(machine.multiply(xh, arguments.in(3), cells, false, c));
  return machine.each(cells, GruState{cells, arguments.in(5), h_prev, u, c, arguments.out(3)});
}

/// `scratch` has room for 2 * batch * row() floats. There is at least one sequence, and an input or a cell.
template <class Machine>
Status gru_gradient(const GruArguments& arguments, const Machine& machine, float* scratch) {
  const auto [batch, inputs, cells] = arguments.sizes;
  float *const through_c = scratch, *const through_ru = scratch + batch * arguments.row();
  const float *const h_prev = arguments.in(1), *const r = arguments.in(6), *const u = arguments.in(7),
                     *const c = arguments.in(8), *const d_h = arguments.in(9);
  float *const d_x = arguments.out(0), *const d_h_prev = arguments.out(1), *const d_c = arguments.out(2),
               *const d_ru = arguments.out(3);
  TROUPE_RETURN_IF_FAILED(machine.each(cells, GruStateGradient{cells, u, c, d_h, d_c}));
  TROUPE_RETURN_IF_FAILED(machine.multiply(d_c, arguments.in(3), cells, true, through_c));
  TROUPE_RETURN_IF_FAILED(
      machine.each(cells, GruGateGradients{inputs, cells, through_c, h_prev, r, u, c, d_h, d_ru, d_h_prev}));
  TROUPE_RETURN_IF_FAILED(machine.multiply(d_ru, arguments.in(2), 2 * cells, true, through_ru));
  return machine.each(arguments.row(),
                      GruInputGradients{inputs, cells, through_c, through_ru, d_x, d_h_prev});
}

}  // namespace troupe
