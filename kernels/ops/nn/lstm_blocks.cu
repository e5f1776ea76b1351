// LSTMBlockCell, BlockLSTM and BlockLSTMV2 on GPUs: see lstm_blocks.cpp. The products of x with the weights are computed for all
// steps at once.
#include "kernels/gpu/coordinates.h"
#include "kernels/gpu/gemm.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/memory.h"
#include "kernels/gpu/numbers.h"
#include "kernels/ops/nn/lstm_arguments.h"

namespace troupe {
namespace {

using LstmTypes = TypeList<float, Half>;

TROUPE_ANY float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

/// Computes an element of the states of a step from its gates.
template <class T>
struct FinishCell {
  const T *gates, *b, *wci, *wcf, *wco, *cs_prev;
  T *i, *cs, *f, *o, *ci, *co, *h;
  gpu::Divider cells;
  size_t ci_gate, f_gate;
  float forget_bias, clip;
  bool peepholes;

  TROUPE_ANY float gate(size_t number, size_t row, size_t cell) const {
    const size_t n = cells.divisor();
    return gpu::load(gates[(row * 4 + number) * n + cell]) + gpu::load(b[number * n + cell]);
  }
  TROUPE_ANY float peephole(const T* weights, size_t cell, float state) const {
    return peepholes ? state * gpu::load(weights[cell]) : 0;
  }
  TROUPE_ANY void operator()(size_t at) const {
    size_t row = at;
    const size_t cell = gpu::split(cells, row);
    const float before = gpu::load(cs_prev[at]);
    const float in = sigmoid(gate(0, row, cell) + peephole(wci, cell, before));
    const float forget = sigmoid(gate(f_gate, row, cell) + forget_bias + peephole(wcf, cell, before));
    const float candidate = std::tanh(gate(ci_gate, row, cell));
    float state = in * candidate + forget * before;
    if (clip > 0) state = state > clip ? clip : state < -clip ? -clip : state;
    const float squashed = std::tanh(state);
    const float out = sigmoid(gate(3, row, cell) + peephole(wco, cell, state));
    gpu::store(i[at], in);
    gpu::store(cs[at], state);
    gpu::store(f[at], forget);
    gpu::store(o[at], out);
    gpu::store(ci[at], candidate);
    gpu::store(co[at], squashed);
    gpu::store(h[at], out * squashed);
  }
};

template <class T>
class Forward {
 public:
  Forward(const LstmArguments& arguments, DeviceContext& device)
      : arguments_(arguments), device_(device), sizes_(arguments.cell.sizes),
        size_(sizes_.batch * sizes_.cells) {}

  Status run() {
    for (size_t i = 0; i < 7; ++i)
      TROUPE_RETURN_IF_FAILED(gpu::clear(device_, out(i) + arguments_.most * size_,
                                         (arguments_.time - arguments_.most) * size_ * sizeof(T)));
    TROUPE_ASSIGN(const BufferRef memory, gpu::scratch(device_, arguments_.most * 4 * size_ * sizeof(T)));
    T* const gates = reinterpret_cast<T*>(memory->data);
    TROUPE_RETURN_IF_FAILED(
        multiply(arguments_.most * sizes_.batch, sizes_.inputs, in(lstm_inputs::x), 0, gates, false));
    for (size_t t = 0; t < arguments_.most; ++t) TROUPE_RETURN_IF_FAILED(step(t, gates + t * 4 * size_));
    return {};
  }

 private:
  const T* in(size_t i) const { return arguments_.inputs[i].tensor.as<T>().data(); }
  T* out(size_t i) const { return arguments_.outputs[i].template write<T>().data(); }

  /// Multiplies rows by the weights from row `first` on.
  Status multiply(size_t rows, size_t inner, const T* a, size_t first, T* gates, bool adds) {
    const size_t columns = 4 * sizes_.cells;
    gpu::Product product{.dtype = dtype_of<T>,
                         .rows = static_cast<int64_t>(rows),
                         .columns = static_cast<int64_t>(columns),
                         .inner = static_cast<int64_t>(inner)};
    product.a = reinterpret_cast<const std::byte*>(a);
    product.b = reinterpret_cast<const std::byte*>(in(lstm_inputs::w) + first * columns);
    product.c = reinterpret_cast<std::byte*>(gates);
    product.adds = adds;
    return gpu::multiply(device_, product);
  }

  Status step(size_t t, T* gates) {
    const LstmCell& cell = arguments_.cell;
    const auto before = [&](size_t output, size_t input) {
      return t == 0 ? in(input) : out(output) + (t - 1) * size_;
    };
    const auto after = [&](size_t output) { return out(output) + t * size_; };
    TROUPE_RETURN_IF_FAILED(
        multiply(sizes_.batch, sizes_.cells, before(6, lstm_inputs::h_prev), sizes_.inputs, gates, true));
    const auto weights = [&](size_t i) { return cell.peepholes ? in(i) : nullptr; };
    return gpu::each(
        device_, size_,
        FinishCell<T>{gates, in(lstm_inputs::b), weights(lstm_inputs::wci), weights(lstm_inputs::wcf),
                      weights(lstm_inputs::wco), before(1, lstm_inputs::cs_prev), after(0), after(1),
                      after(2), after(3), after(4), after(5), after(6), gpu::Divider(sizes_.cells),
                      cell.ci_gate, cell.f_gate, cell.forget_bias, cell.clip, cell.peepholes});
  }

  const LstmArguments& arguments_;
  DeviceContext& device_;
  const LstmSizes& sizes_;
  const size_t size_;
};

Status compute_forward(const LstmArguments& arguments, DeviceContext& device) {
  const LstmSizes& sizes = arguments.cell.sizes;
  if (sizes.batch == 0 || sizes.cells == 0) return {};
  return gpu::for_type(LstmTypes{}, arguments.outputs[0].dtype(),
                       [&]<class T>(std::type_identity<T>) { return Forward<T>(arguments, device).run(); });
}

}  // namespace

void add_lstm_blocks_on_gpu(OpLibrary& library) {
  for (const char* op : {"LSTMBlockCell", "BlockLSTM", "BlockLSTMV2"})
    library.kernel(gpu_kernel(op, check_lstm_forward, compute_forward).on("T", dtypes(LstmTypes{})));
}

}  // namespace troupe
