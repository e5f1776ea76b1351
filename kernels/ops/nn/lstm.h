// One step of the LSTM of TensorFlow's block ops (F. Gers, J. Schmidhuber 2000, with W. Zaremba et al. 2014), forwards and
// backwards. All numbers are floats; matrices are row-major, with one row for each sequence of a batch. Functions without
// state; any thread may call them.
#pragma once

#include <span>

#include "devices/device.h"
#include "graph/build/graph.h"
#include "kernels/core/checked_kernel.h"

namespace troupe {

struct LstmSizes {
  size_t batch = 0, inputs = 0, cells = 0;
};

/// The numbers that do not change from step to step. Where there are no peepholes, wci, wcf and wco are not read.
struct LstmCell {
  LstmSizes sizes;
  std::span<const float> w;              ///< [inputs + cells, 4 * cells]
  std::span<const float> wci, wcf, wco;  ///< [cells]: peepholes
  std::span<const float> b;              ///< [4 * cells]
  float forget_bias = 0, clip = 0;       ///< cell states stay within [-clip, clip], if clip is above 0
  bool peepholes = false;
  size_t ci_gate = 1, f_gate = 2;  ///< where these gates are; i is gate 0, o gate 3
};

/// The state before a step: [batch, inputs], [batch, cells].
struct LstmBefore {
  std::span<const float> x, cs, h;
};
/// What a step computes, [batch, cells] each: gates, states and outputs.
template <class T>
struct LstmAfter {
  std::span<T> i, cs, f, o, ci, co, h;
};

/// Computes a step of at least one sequence and one cell. `scratch` has room for batch * (inputs + 5 * cells) floats.
Status lstm_step(DeviceContext& device, const LstmCell& cell, const LstmBefore& before,
                 const LstmAfter<float>& after, std::span<float> scratch);

/// The gradients of a step.
struct LstmGradients {
  std::span<float> cs_prev;        ///< [batch, cells]
  std::span<float> gates;          ///< [batch, 4 * cells], before the nonlinear functions
  std::span<float> wci, wcf, wco;  ///< [cells], to which the step adds, if there are peepholes
};
/// Computes those gradients from that of the cell states and that of the outputs, [batch, cells].
void lstm_gradients(const LstmCell& cell, const LstmBefore& before, const LstmAfter<const float>& after,
                    std::span<const float> cs_grad, std::span<const float> h_grad, const LstmGradients& to);

/// Writes the rows [x, h] to `xh`, [batch, inputs + cells].
void join_rows(const LstmSizes& sizes, std::span<const float> x, std::span<const float> h,
               std::span<float> xh);

}  // namespace troupe
