#include "kernels/ops/nn/lstm.h"

#include <algorithm>
#include <cmath>

#include "kernels/core/parallel.h"
#include "kernels/loops/gemm.h"

namespace troupe {
namespace {

constexpr size_t cost_of_cell = 128;  ///< of five exponential functions, in bytes moved

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

/// Computes the row of one sequence from its gates.
void finish_row(const LstmCell& cell, const float* gates, const float* cs_prev, const LstmAfter<float>& to,
                size_t row) {
  const size_t cells = cell.sizes.cells;
  for (size_t c = 0; c < cells; ++c) {
    const size_t at = row * cells + c;
    const auto gate = [&](size_t number) { return gates[number * cells + c] + cell.b[number * cells + c]; };
    const float i = sigmoid(gate(0) + (cell.peepholes ? cs_prev[c] * cell.wci[c] : 0));
    const float f =
        sigmoid(gate(cell.f_gate) + cell.forget_bias + (cell.peepholes ? cs_prev[c] * cell.wcf[c] : 0));
    const float ci = std::tanh(gate(cell.ci_gate));
    float cs = i * ci + f * cs_prev[c];
    if (cell.clip > 0) cs = std::clamp(cs, -cell.clip, cell.clip);
    const float co = std::tanh(cs), o = sigmoid(gate(3) + (cell.peepholes ? cs * cell.wco[c] : 0));
    to.i[at] = i;
    to.cs[at] = cs;
    to.f[at] = f;
    to.o[at] = o;
    to.ci[at] = ci;
    to.co[at] = co;
    to.h[at] = o * co;
  }
}

}  // namespace

void join_rows(const LstmSizes& sizes, std::span<const float> x, std::span<const float> h,
               std::span<float> xh) {
  float* to = xh.data();
  for (size_t row = 0; row < sizes.batch; ++row) {
    to = std::copy_n(x.data() + row * sizes.inputs, sizes.inputs, to);
    to = std::copy_n(h.data() + row * sizes.cells, sizes.cells, to);
  }
}

Status lstm_step(DeviceContext& device, const LstmCell& cell, const LstmBefore& before,
                 const LstmAfter<float>& after, std::span<float> scratch) {
  const size_t batch = cell.sizes.batch, inputs = cell.sizes.inputs, cells = cell.sizes.cells;
  const auto xh = scratch.first(batch * (inputs + cells)),
             gates = scratch.subspan(xh.size(), batch * 4 * cells);
  join_rows(cell.sizes, before.x, before.h, xh);
  const auto rows = static_cast<int64_t>(batch), inner = static_cast<int64_t>(inputs + cells),
             columns = static_cast<int64_t>(4 * cells);
  TROUPE_RETURN_IF_FAILED(gemm(device, 1, MatrixView<float>::of(xh.data(), rows, inner, false),
                               MatrixView<float>::of(cell.w.data(), inner, columns, false), gates.data()));
  parallel_rows(device.pool(), batch, cells * cost_of_cell, [&](size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row)
      finish_row(cell, gates.data() + row * 4 * cells, before.cs.data() + row * cells, after, row);
  });
  return {};
}

void lstm_gradients(const LstmCell& cell, const LstmBefore& before, const LstmAfter<const float>& after,
                    std::span<const float> cs_grad, std::span<const float> h_grad, const LstmGradients& to) {
  const size_t cells = cell.sizes.cells;
  for (size_t row = 0; row < cell.sizes.batch; ++row)
    for (size_t c = 0; c < cells; ++c) {
      const size_t at = row * cells + c;
      const float i = after.i[at], f = after.f[at], o = after.o[at], ci = after.ci[at], co = after.co[at];
      const float d_o = o * (1 - o) * h_grad[at] * co;
      float d_cs = (1 - co * co) * h_grad[at] * o + cs_grad[at];
      if (cell.peepholes) d_cs += d_o * cell.wco[c];
      const float d_ci = (1 - ci * ci) * d_cs * i, d_f = f * (1 - f) * d_cs * before.cs[at],
                  d_i = i * (1 - i) * d_cs * ci;
      float* const gates = to.gates.data() + row * 4 * cells;
      gates[c] = d_i;
      gates[cell.ci_gate * cells + c] = d_ci;
      gates[cell.f_gate * cells + c] = d_f;
      gates[3 * cells + c] = d_o;
      to.cs_prev[at] = d_cs * f;
      if (!cell.peepholes) continue;
      to.cs_prev[at] += d_i * cell.wci[c] + d_f * cell.wcf[c];
      to.wci[c] += d_i * before.cs[at];
      to.wcf[c] += d_f * before.cs[at];
      to.wco[c] += d_o * after.cs[at];
    }
}

}  // namespace troupe
