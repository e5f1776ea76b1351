// LSTMBlockCellGrad, BlockLSTMGrad and BlockLSTMGradV2 on GPUs: see lstm_block_gradients.cpp. The gradients of the gates are found
// step by step; those of the weights and of x are products with them for all steps at once.
#include "kernels/gpu/column_sum.h"
#include "kernels/gpu/coordinates.h"
#include "kernels/gpu/gemm.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/memory.h"
#include "kernels/ops/nn/lstm_arguments.h"

namespace troupe {
namespace {

using LstmTypes = TypeList<float, Half>;

/// Computes an element of the gradients of a step, as lstm_gradients() does.
template <class T>
struct CellGradient {
  const T *i, *cs, *f, *o, *ci, *co, *cs_before;  ///< of the step
  const T *wci, *wcf, *wco;                       ///< null without peepholes
  const T *cs_grad, *h_grad;                      ///< given
  const T *cs_next, *h_next;                      ///< what comes from the next step; null if there is none
  T *gates, *cs_prev;                             ///< may be cs_next
  gpu::Divider cells;
  size_t ci_gate, f_gate;

  TROUPE_ANY static float sum(const T* given, const T* next, size_t at) {
    return gpu::load(given[at]) + (next ? gpu::load(next[at]) : 0);
  }
  TROUPE_ANY void operator()(size_t at) const {
    size_t row = at;
    const size_t cell = gpu::split(cells, row);
    const float in = gpu::load(i[at]), forget = gpu::load(f[at]), out = gpu::load(o[at]),
                candidate = gpu::load(ci[at]), squashed = gpu::load(co[at]);
    const float d_h = sum(h_grad, h_next, at);
    const float d_o = out * (1 - out) * d_h * squashed;
    float d_cs = (1 - squashed * squashed) * d_h * out + sum(cs_grad, cs_next, at);
    if (wco) d_cs += d_o * gpu::load(wco[cell]);
    const float d_ci = (1 - candidate * candidate) * d_cs * in,
                d_f = forget * (1 - forget) * d_cs * gpu::load(cs_before[at]),
                d_i = in * (1 - in) * d_cs * candidate;
    T* const to = gates + row * 4 * cells.divisor() + cell;
    gpu::store(to[0], d_i);
    gpu::store(to[ci_gate * cells.divisor()], d_ci);
    gpu::store(to[f_gate * cells.divisor()], d_f);
    gpu::store(to[3 * cells.divisor()], d_o);
    float before = d_cs * forget;
    if (wco) before += d_i * gpu::load(wci[cell]) + d_f * gpu::load(wcf[cell]);
    gpu::store(cs_prev[at], before);
  }
};

/// The gradient of a gate times a cell state, for all steps: those whose sums are the gradients of a peephole.
template <class T>
struct PeepholeSource {
  const T *gates, *first, *later;  ///< the states of the first step and of the others
  size_t size;                     ///< elements of a step
  gpu::Divider cells;
  size_t gate;

  TROUPE_ANY float operator()(size_t at) const {
    size_t row = at;
    const size_t cell = gpu::split(cells, row);
    return gpu::load(gates[(row * 4 + gate) * cells.divisor() + cell]) *
           gpu::load(at < size ? first[at] : later[at - size]);
  }
};

template <class T>
class Gradient {
 public:
  Gradient(const LstmArguments& arguments, DeviceContext& device)
      : arguments_(arguments), device_(device), sizes_(arguments.cell.sizes),
        size_(sizes_.batch * sizes_.cells) {}

  /// The gradient of one step: outputs are cs_prev, gates and the peepholes.
  Status cell() {
    TROUPE_RETURN_IF_FAILED(step(0, after(6), after(7), nullptr, nullptr, out(1), out(0)));
    return peepholes(out(1), 2);
  }

  /// The gradients of a sequence: outputs are those of the inputs from x on.
  Status block() {
    const size_t most = arguments_.most;
    TROUPE_ASSIGN(const BufferRef memory, gpu::scratch(device_, most * 4 * size_ * sizeof(T)));
    T* const gates = reinterpret_cast<T*>(memory->data);
    T *const cs_prev = out(lstm_inputs::cs_prev), *const h_prev = out(lstm_inputs::h_prev);
    const T* const later = in(lstm_inputs::w) + sizes_.inputs * columns();  // the weights of h
    for (size_t t = most; t-- > 0;) {
      const bool last = t + 1 == most;
      TROUPE_RETURN_IF_FAILED(step(t, after(7) + t * size_, after(8) + t * size_, last ? nullptr : cs_prev,
                                   last ? nullptr : h_prev, gates + t * 4 * size_, cs_prev));
      TROUPE_RETURN_IF_FAILED(multiply({sizes_.batch, sizes_.cells, columns()}, gates + t * 4 * size_, false,
                                       later, true, h_prev));
    }
    if (most == 0) return {};
    TROUPE_RETURN_IF_FAILED(multiply({most * sizes_.batch, sizes_.inputs, columns()}, gates, false,
                                     in(lstm_inputs::w), true, out(lstm_inputs::x)));
    TROUPE_RETURN_IF_FAILED(weights(gates));
    TROUPE_RETURN_IF_FAILED(
        gpu::sum_channels(device_, {most * sizes_.batch, columns(), 1}, gates, out(lstm_inputs::b)));
    return peepholes(gates, lstm_inputs::wci);
  }

 private:
  struct ProductSizes {
    size_t rows, columns, inner;
  };

  const T* in(size_t i) const { return arguments_.inputs[i].tensor.as<T>().data(); }
  const T* after(size_t i) const { return in(lstm_inputs::first_after + i); }
  T* out(size_t i) const { return arguments_.outputs[i].template write<T>().data(); }
  size_t columns() const { return 4 * sizes_.cells; }
  const T* peephole(size_t i) const { return arguments_.cell.peepholes ? in(i) : nullptr; }

  Status step(size_t t, const T* cs_grad, const T* h_grad, const T* cs_next, const T* h_next, T* gates,
              T* cs_prev) {
    const auto of_step = [&](size_t i) { return after(i) + t * size_; };
    const T* const cs_before = t == 0 ? in(lstm_inputs::cs_prev) : after(1) + (t - 1) * size_;
    return gpu::each(
        device_, size_,
        CellGradient<T>{of_step(0), of_step(1), of_step(2), of_step(3), of_step(4), of_step(5), cs_before,
                        peephole(lstm_inputs::wci), peephole(lstm_inputs::wcf), peephole(lstm_inputs::wco),
                        cs_grad, h_grad, cs_next, h_next, gates, cs_prev, gpu::Divider(sizes_.cells),
                        arguments_.cell.ci_gate, arguments_.cell.f_gate});
  }

  Status multiply(const ProductSizes& sizes, const T* a, bool transpose_a, const T* b, bool transpose_b, T* c,
                  bool adds = false) {
    gpu::Product product{.dtype = dtype_of<T>,
                         .rows = static_cast<int64_t>(sizes.rows),
                         .columns = static_cast<int64_t>(sizes.columns),
                         .inner = static_cast<int64_t>(sizes.inner)};
    product.a = reinterpret_cast<const std::byte*>(a);
    product.b = reinterpret_cast<const std::byte*>(b);
    product.c = reinterpret_cast<std::byte*>(c);
    product.transpose_a = transpose_a;
    product.transpose_b = transpose_b;
    product.adds = adds;
    return gpu::multiply(device_, product);
  }

  /// The rows of x, of the first h, and of the others, transposed, times the gradients of the gates.
  Status weights(const T* gates) {
    const size_t rows = arguments_.most * sizes_.batch;
    T* const w = out(lstm_inputs::w);
    T* const of_h = w + sizes_.inputs * columns();
    TROUPE_RETURN_IF_FAILED(
        multiply({sizes_.inputs, columns(), rows}, in(lstm_inputs::x), true, gates, false, w));
    TROUPE_RETURN_IF_FAILED(
        multiply({sizes_.cells, columns(), sizes_.batch}, in(lstm_inputs::h_prev), true, gates, false, of_h));
    if (arguments_.most < 2) return {};
    return multiply({sizes_.cells, columns(), rows - sizes_.batch}, after(6), true, gates + 4 * size_, false,
                    of_h, true);
  }

  /// Sums the gradients of the peepholes to the outputs from `first` on.
  Status peepholes(const T* gates, size_t first) {
    if (!arguments_.cell.peepholes) return {};
    const T *const before = in(lstm_inputs::cs_prev), *const cs = after(1);
    const gpu::Divider cells(sizes_.cells);
    const PeepholeSource<T> sources[] = {{gates, before, cs, size_, cells, 0},
                                         {gates, before, cs, size_, cells, arguments_.cell.f_gate},
                                         {gates, cs, cs + size_, size_, cells, 3}};
    for (size_t i = 0; i < 3; ++i)
      TROUPE_RETURN_IF_FAILED(
          gpu::reduce_channels<float>(device_, {arguments_.most * sizes_.batch, sizes_.cells, 1},
                                      gpu::Plus<float>{}, sources[i], gpu::TensorSink<T>{out(first + i)}));
    return {};
  }

  const LstmArguments& arguments_;
  DeviceContext& device_;
  const LstmSizes& sizes_;
  const size_t size_;
};

template <bool Sequence>
Status compute_gradient(const LstmArguments& arguments, DeviceContext& device) {
  for (Tensor& output : arguments.outputs) TROUPE_RETURN_IF_FAILED(gpu::clear(device, output));
  const LstmSizes& sizes = arguments.cell.sizes;
  if (sizes.batch == 0 || sizes.cells == 0) return {};
  return gpu::for_type(LstmTypes{}, arguments.outputs[0].dtype(), [&]<class T>(std::type_identity<T>) {
    Gradient<T> gradient(arguments, device);
    return Sequence ? gradient.block() : gradient.cell();
  });
}

}  // namespace

void add_lstm_block_gradients_on_gpu(OpLibrary& library) {
  const auto types = dtypes(LstmTypes{});
  library.kernel(
      gpu_kernel("LSTMBlockCellGrad", check_lstm_cell_gradient, compute_gradient<false>).on("T", types));
  for (const char* op : {"BlockLSTMGrad", "BlockLSTMGradV2"})
    library.kernel(gpu_kernel(op, check_lstm_block_gradient, compute_gradient<true>).on("T", types));
}

}  // namespace troupe
